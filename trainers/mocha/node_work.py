"""What every node does in a round, from words: how theta_t^h is set (work.py, theta.py), and who drops out."""

from __future__ import annotations

from dataclasses import dataclass

from ...mechanisms import InputError
from .theta import DroppingTheta, FixedTheta, RandomTheta, Targets
from .work import Dropping, Heterogeneous, Passes, Work

FORMS = "passes=P, shares=LOW:HIGH, theta=T or theta=LOW:HIGH"
FULL = "passes=1"


@dataclass(frozen=True)
class NodeWork:
    """kind: passes over a node's own samples; shares of the smallest n_t, or thetas, uniform on [low, high].

    dropped: for each task the probability of theta = 1 in a round; () for none.
    """

    text: str
    kind: str
    low: float
    high: float
    dropped: tuple[float, ...] = ()

    @classmethod
    def of(cls, work: str, drop: str | None, tasks: int) -> NodeWork:
        """work: one of FORMS. drop: a probability for all nodes, NODE=P for one of them (from 0), or several of both.

        Raises InputError for anything else.
        """
        kind, equals, value = work.partition("=")
        low, colon, high = value.partition(":")
        single = kind in ("passes", "theta") and not colon
        if not equals or not (single or (kind in ("shares", "theta") and colon)):
            raise InputError("work", work, FORMS)
        first = _number("work", work, low)
        made = cls(work, kind, first, _number("work", work, high) if colon else first, _dropped(drop, tasks))
        made._check()
        return made

    @property
    def plain(self) -> bool:
        """Whether every node does one pass in every round."""
        return self.kind == "passes" and self.low == 1 and not any(self.dropped)

    @property
    def silent(self) -> bool:
        """Whether a node never answers, which keeps the gap open (Assumption 2)."""
        return any(probability == 1 for probability in self.dropped)

    def steps(self) -> Work:
        """The policy of work.py. Raises InputError for thetas, which have none."""
        if self.kind == "theta":
            raise InputError("work", self.text, "passes or shares, with this method")
        work: Work = Passes(self.low) if self.kind == "passes" else Heterogeneous(self.low, self.high)
        return Dropping(work, self.dropped) if self.dropped else work

    def targets(self) -> Targets | None:
        """The policy of theta.py; None where the work is a number of steps."""
        if self.kind != "theta":
            return None
        targets: Targets = FixedTheta(self.low) if self.low == self.high else RandomTheta(self.low, self.high)
        return DroppingTheta(targets, self.dropped) if self.dropped else targets

    def _check(self) -> None:
        most = {"passes": float("inf"), "shares": 1.0, "theta": 1.0}[self.kind]
        if not 0 < self.low <= self.high <= most or self.high == float("inf"):
            bound = "" if self.kind == "passes" else " of at most 1, the first not above the second"
            raise InputError("work", self.text, f"numbers above 0{bound}")


def _dropped(text: str | None, tasks: int) -> tuple[float, ...]:
    if text is None:
        return ()
    chances: dict[int | None, float] = {}
    for part in text.split(","):
        node, equals, value = part.rpartition("=")
        if equals and not (node.isdigit() and int(node) < tasks):
            raise InputError("drop", text, f"a node from 0 to {tasks - 1} before each =")
        probability = _number("drop", text, value)
        if not 0 <= probability <= 1:
            raise InputError("drop", text, "probabilities from 0 to 1")
        chances[int(node) if equals else None] = probability
    return tuple(chances.get(node, chances.get(None, 0.0)) for node in range(tasks))


def _number(field: str, text: str, part: str) -> float:
    try:
        return float(part)
    except ValueError as error:
        raise InputError(field, text, "numbers in it") from error
