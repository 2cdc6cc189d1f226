"""A dp_accounting.PrivacyAccountant that reports certified upper bounds (dp-accounting 0.5.1 and later).

    accountant = CertifiedAccountant(NeighboringRelation.REPLACE_ONE)
    accountant.compose(event).get_epsilon(1e-6)

A noise multiplier is read as dp_event.py defines it, noise over the bound on one contribution, whatever the
relation: a replacement moves a sum by up to 2 bounds, so under REPLACE_ONE a plain Gaussian costs what
PLDAccountant says, not what RdpAccountant says (google/differential-privacy issue 378).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan, sqrt
from pathlib import Path
from typing import Any

from dp_accounting import (  # type: ignore[import-untyped]
    DpEventBuilder,
    NeighboringRelation,
    PrivacyAccountant,
    UnsupportedEventError,
    dp_event,
)

from ..accounting import Bracket, delta, dominating
from ..accounting.ledger import Ledger
from ..accounting.ledger.store import Store
from ..accounting.rounding import down
from ..mechanisms import (
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    Repeat,
    Sequence,
    from_event,
    rounds_by_step,
)
from ..mechanisms.validate import count as whole
from ..mechanisms.validate import rate

RELATIONS: dict[NeighboringRelation, Neighbouring] = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: "add-remove",
    NeighboringRelation.REPLACE_ONE: "replace-one",
    NeighboringRelation.REPLACE_SPECIAL: "zero-out",
}


class Unsupported(Exception):
    """An event that cannot be accounted for: `event` itself, and the reason."""

    def __init__(self, event: dp_event.DpEvent, reason: str) -> None:
        super().__init__(f"{event}: {reason}")
        self.event = event
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Released:
    """What an event released. run: None for nothing at all. private: False where no guarantee is left."""

    run: Mechanism | None
    private: bool = True


NOTHING = Released(None)
NOT_PRIVATE = Released(None, private=False)


def released(event: dp_event.DpEvent, neighbouring: Neighbouring) -> Released:
    """The mechanism that an event tree describes, checked to have a certified cost under the relation.

    Raises Unsupported, naming the innermost event, for what has none. Several events on one sample are released
    together, by one coin. A tree of n steps in which a
    unit takes part once is a Gaussian of sensitivity sqrt(1 + floor(log2 n)) (Kairouz et al. 2021, arXiv
    2103.00039, appendix D).
    """
    found = _released(event, neighbouring)
    for step in rounds_by_step(found.run) if found.run is not None else ():
        try:
            dominating(step, neighbouring)
        except InputError as error:
            raise Unsupported(_origin(event, step), str(error)) from error
    return found


def _released(event: dp_event.DpEvent, neighbouring: Neighbouring) -> Released:
    readers: dict[type, Callable[[Any, Neighbouring], Released]] = {
        dp_event.NoOpDpEvent: lambda event, _: NOTHING,
        dp_event.NonPrivateDpEvent: lambda event, _: NOT_PRIVATE,
        dp_event.ComposedDpEvent: lambda event, relation: _joined([_released(e, relation) for e in event.events]),
        dp_event.SelfComposedDpEvent: _repeated,
        dp_event.PoissonSampledDpEvent: _poisson,
        dp_event.SampledWithoutReplacementDpEvent: _fixed_size,
        dp_event.SingleEpochTreeAggregationDpEvent: _tree,
        dp_event.GaussianDpEvent: _additive,
        dp_event.LaplaceDpEvent: _additive,
    }
    try:
        return readers.get(type(event), _other)(event, neighbouring)
    except (InputError, ArithmeticError, TypeError, ValueError) as error:
        raise Unsupported(event, str(error)) from error


def _other(event: dp_event.DpEvent, neighbouring: Neighbouring) -> Released:
    return Released(from_event(event))


def _additive(event: dp_event.DpEvent, neighbouring: Neighbouring) -> Released:
    """No noise at all is no mechanism of ours, but a number that dp_accounting gives a meaning."""
    return NOT_PRIVATE if event.noise_multiplier == 0 else Released(from_event(event))


def _joined(parts: list[Released]) -> Released:
    runs = tuple(part.run for part in parts if part.run is not None)
    private = all(part.private for part in parts)
    return Released(Sequence(runs) if runs else None, private)


def _repeated(event: dp_event.SelfComposedDpEvent, neighbouring: Neighbouring) -> Released:
    rounds = whole("count", event.count, least=0)
    inner = _released(event.event, neighbouring)
    if rounds == 0:
        return NOTHING
    return inner if inner.run is None else Released(Repeat(inner.run, rounds), inner.private)


def _poisson(event: dp_event.PoissonSampledDpEvent, neighbouring: Neighbouring) -> Released:
    inner = _released(event.event, neighbouring)
    if event.sampling_probability == 0:
        return NOTHING
    share = rate("sampling_probability", event.sampling_probability)
    if inner.run is None:
        return inner
    return Released(Poisson(_on_one_sample(inner.run), share), inner.private)


def _fixed_size(event: dp_event.SampledWithoutReplacementDpEvent, neighbouring: Neighbouring) -> Released:
    inner = _released(event.event, neighbouring)
    if inner.run is None:
        return inner
    return Released(FixedSize(_on_one_sample(inner.run), event.source_dataset_size, event.sample_size), inner.private)


def _on_one_sample(run: Mechanism) -> Mechanism:
    """What is released about one sample: a release by itself as it is."""
    steps = rounds_by_step(run)
    return next(iter(steps)) if list(steps.values()) == [1] else run


def _tree(event: dp_event.SingleEpochTreeAggregationDpEvent, neighbouring: Neighbouring) -> Released:
    if neighbouring == "add-remove":
        raise InputError("neighboring_relation", neighbouring, "REPLACE_SPECIAL or REPLACE_ONE for tree aggregation")
    steps = event.step_counts if isinstance(event.step_counts, list | tuple) else [event.step_counts]
    levels = max(whole("step_counts", number) for number in steps).bit_length()
    if event.noise_multiplier == 0:
        return NOT_PRIVATE
    return Released(Gaussian(down(event.noise_multiplier / sqrt(levels), 2)))


def _origin(event: dp_event.DpEvent, step: Mechanism) -> dp_event.DpEvent:
    """The part of a (self-)composed event that describes this step, or the event where that is not one part."""
    parts = event.events if isinstance(event, dp_event.ComposedDpEvent) else [getattr(event, "event", None)]
    composed = isinstance(event, dp_event.ComposedDpEvent | dp_event.SelfComposedDpEvent)
    for part in parts if composed else ():
        run = _released(part, "replace-one").run
        if run is not None and step in rounds_by_step(run):
            return _origin(part, step)
    return event


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


__all__ = ["CertifiedAccountant", "NeighboringRelation", "Released", "Unsupported", "UnsupportedEventError", "released"]
