"""A dp_accounting.PrivacyAccountant that reports certified upper bounds (dp-accounting 0.5.1 and later).

    accountant = CertifiedAccountant(NeighboringRelation.REPLACE_ONE)
    accountant.compose(event).get_epsilon(1e-6)

A noise multiplier is read as dp_event.py defines it, noise over the bound on one contribution, whatever the
relation: a replacement moves a sum by up to 2 bounds, so under REPLACE_ONE a plain Gaussian costs what
PLDAccountant says, not what RdpAccountant says (google/differential-privacy issue 378).
"""

from __future__ import annotations

from math import inf, isnan
from pathlib import Path

from dp_accounting import (  # type: ignore[import-untyped]
    DpEventBuilder,
    NeighboringRelation,
    PrivacyAccountant,
    UnsupportedEventError,
    dp_event,
)

from ..accounting import Bracket, delta, renyi
from ..accounting.ledger import Ledger
from ..accounting.ledger.store import Store
from ..mechanisms import InputError, Relation, Repeat
from ..mechanisms.validate import count as whole
from .dp_accounting_events import Released, Unsupported, released

RELATIONS: dict[NeighboringRelation, Relation] = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: Relation.ADD_REMOVE,
    NeighboringRelation.REPLACE_ONE: Relation.REPLACE_ONE,
    NeighboringRelation.REPLACE_SPECIAL: Relation.ZERO_OUT,
}


def _repeats(event: dp_event.DpEvent) -> int:
    """How often events that are nested in nothing but repetitions run."""
    repeats = 1
    while isinstance(event, dp_event.SelfComposedDpEvent):
        repeats, event = repeats * event.count, event.event
    return repeats


class CertifiedAccountant(PrivacyAccountant):
    """Accepts every tree of events that has a certified cost; `get_epsilon` and `get_delta` never under-report.

    store: a path, or a store of dpcert.accounting.ledger, in which what was composed survives the process; what
    it holds already counts. Raises UnsupportedEventError, and records nothing, for an event without a bound.
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        *,
        store: Store | str | Path | None = None,
    ) -> None:
        super().__init__(neighboring_relation)
        self._neighbouring = RELATIONS[neighboring_relation]
        self._record = Ledger(store)
        self._durable = store is not None
        self._private = True
        earlier = self._record.run()
        if earlier is not None:
            self._ledger.compose(earlier.event())

    def compose(self, event: dp_event.DpEvent, count: int = 1) -> CertifiedAccountant:
        """Add an event, `count` times; one that is repeated 0 times adds nothing. UnsupportedEventError as above; what
        dp_accounting's own record refuses (TypeError, ValueError) is refused before anything is recorded.
        """
        if _repeats(event) == 0 and self.supports(event):
            return self
        DpEventBuilder().compose(event, count)
        super().compose(event, count)
        return self

    def _maybe_compose(
        self, event: dp_event.DpEvent, count: int, do_compose: bool
    ) -> PrivacyAccountant.CompositionErrorDetails | None:
        try:
            found = released(event, self._neighbouring)  # `supports` asks with a count of 0.
            if self._durable and not found.private:
                raise Unsupported(event, "what is not private at all cannot be recorded in a store")
        except Unsupported as problem:
            return self.CompositionErrorDetails(problem.event, problem.reason)
        if do_compose and whole("count", count, least=0):
            self._private = self._private and found.private
            if found.run is not None:
                self._record.record(Repeat(found.run, count))
        return None

    def bracket(self, target_delta: float) -> Bracket:
        """The certified interval around the true epsilon of everything composed; target_delta in [0, 1].

        At 0 it is pure DP: exact where the loss is bounded, infinite where it is not.
        """
        share = float(target_delta)
        if not 0 <= share <= 1:
            raise InputError("target_delta", target_delta, "a number from 0 to 1")
        if not self._private:
            return Bracket(inf, inf, True, "not private")
        if share == 1 or not len(self._record):
            return Bracket(0.0, 0.0, True, "nothing to account for")
        return self._record.running_epsilon(share, self._neighbouring)

    def get_epsilon(self, target_delta: float) -> float:
        """The upper end of `bracket`."""
        return self.bracket(target_delta).upper

    def get_delta(self, target_epsilon: float) -> float:
        """A certified upper bound on delta at this epsilon (at least 0, inf included)."""
        if isnan(target_epsilon) or target_epsilon < 0:
            raise InputError("target_epsilon", target_epsilon, "a number of at least 0")
        run = self._record.run()
        if not self._private:
            return 1.0
        if run is None or target_epsilon == inf:
            return 0.0
        return delta(run, float(target_epsilon), self._neighbouring).upper

    def get_renyi(self, order: float) -> float:
        """A certified upper bound on the Renyi divergence of everything composed; order 1: Kullback and Leibler's.

        Raises InputError for orders below 1, and where no bound on the divergences of an event is known.
        """
        run = self._record.run()
        if not self._private:
            return inf
        return 0.0 if run is None else renyi(run, float(order), self._neighbouring).upper


__all__ = ["CertifiedAccountant", "NeighboringRelation", "Released", "Unsupported", "UnsupportedEventError", "released"]
