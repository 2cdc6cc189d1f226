"""Small worlds before an observer: kinds around each other, and runs with finitely many outcomes in every scheme.

What a coalition knows of coins is its own; whoever looks at the release alone knows none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import federation as fed
import leaf_worlds
import range_worlds as ranges
import report_worlds as reports
from finite_worlds import Finite, worst_of_two
from leaf_worlds import F, pairs
from nested_worlds import Nested
from nesting import OTHERS
from outcomes import Pair, coarser, distinct, joint
from scipy import stats

from dpcert.accounting import Bracket
from dpcert.accounting.billboard import Observer, observer_epsilon
from dpcert.mechanisms import (
    Cyclic,
    FixedSize,
    Mechanism,
    Poisson,
    RandomAllocation,
    Repeat,
    Shuffled,
    VisibleParticipation,
)

OBSERVERS = {
    "all others": Observer("coalition"),
    "one other": Observer("coalition", 1),
    "final models": Observer("final-models"),
    "outside": Observer("outside"),
}


@dataclass(frozen=True)
class Observed(Nested):
    """sees: one of the observers. stateful: what clients are said to be; their data here do not depend on it."""

    stateful: bool = False

    def ask(self) -> Bracket:
        """The product's answer; InputError where it refuses."""
        clients = "stateful" if self.stateful else "stateless"
        found = observer_epsilon(self.run, OBSERVERS[self.sees], self.delta, self.relation, clients=clients)
        return found.epsilon

    def setting(self) -> fed.Setting:
        """The oracle's: as before all others, or an outside reader, but with one colluder in every part."""
        view = "pooled" if self.sees == "all others" else "hidden"
        known = Nested(self.around, self.noise, self.relation, view).setting()
        shared = "VisibleParticipation" in self.around and known.colluders  # all others' noise is subtracted
        if self.sees != "one other" or self.clients == self.units or shared:
            return known
        one = tuple(at + self.units for at in known.unit)
        return replace(known, sees="coalition with unit" if known.sees == "unit" else "coalition", colluders=one)


AROUND: dict[str, Callable[[Mechanism], Mechanism]] = {
    "alone": lambda run: run,
    "everybody": lambda run: FixedSize(run, 4, 4),
    "rate 1": lambda run: Poisson(run, 1.0),
    "cyclic": lambda run: Cyclic(run, 2),
    "shown": lambda run: VisibleParticipation(Poisson(run, 1.0)),
    "shuffled": lambda run: Shuffled(run, 2),
    "allocated": lambda run: RandomAllocation(run, 2, 1),
}
"""Schemes in which the unit is in one release."""

HIDDEN = ("shuffled", "allocated")
"""In which of two, nobody knows but whoever is told by the others' places."""

MOST_OUTCOMES = 40
"""Of one of two releases; more are put together."""


@dataclass(frozen=True)
class Choice(Finite):
    """A run of finitely many outcomes in a scheme, before an observer."""

    def ask(self, view: str, rounds: int, delta: float) -> Bracket:
        """view: the observer. InputError where the product refuses."""
        run = Repeat(self.run, rounds)
        return observer_epsilon(run, OBSERVERS[view], delta, self.relation, clients="stateless").epsilon


def choice(leaf: str, scheme: str, relation: str, observer: str) -> Choice:
    """Of a leaf of the table."""

    told = scheme == "shuffled" and observer == "all others"
    hidden = scheme in HIDDEN and not told

    def build() -> list[Pair]:
        found = _left(leaf, relation, observer)
        return _one_of_two(found) if hidden else found

    return Choice(AROUND[scheme](OTHERS[leaf]), relation, build, worst=None if hidden else _worst(leaf, relation))


def _worst(leaf: str, relation: str) -> Callable[[float], list[Pair]] | None:
    """By epsilon, neighbours that are worst there, where that depends on it."""
    if leaf.startswith("noisy-max"):
        return worst_of_two(relation, "signed", F(1), leaf.split()[1])
    if leaf == "bounded-laplace":
        return lambda at: ranges.bounded_laplace(F(1), F(4), ranges.worst_values(stats.laplace.cdf, F(1), at))
    if leaf == "truncated-gaussian":
        return lambda at: ranges.truncated_gaussian(F(1), F(4), ranges.worst_values(stats.norm.cdf, F(1), at))
    return None


def _left(leaf: str, relation: str, observer: str) -> list[Pair]:
    """What colluders' own reports leave of shuffled ones."""
    if not leaf.startswith("shuffled") or observer in ("final models", "outside"):
        return pairs(leaf, relation)
    kernel = reports.response(F(1, 4), 2) if leaf == "shuffled two categories" else leaf_worlds.binary(leaf_worlds.ONE)
    return reports.alone(kernel) if observer == "all others" else reports.shuffled(kernel, 19)


def _one_of_two(single: list[Pair]) -> list[Pair]:
    """The release with the unit, in either place, beside one that shows what it does without the unit's data."""
    found = []
    for one in (coarser(each, MOST_OUTCOMES) for each in single[:12]):
        still = Pair(one.q, one.q)
        places = [joint((one, still)), joint((still, one))]
        found.append(Pair(*(_mean(*(getattr(place, side) for place in places)) for side in ("p", "q"))))
    return distinct(found)


def _mean(one: tuple, other: tuple) -> tuple:  # type: ignore[type-arg]
    up = 1 + 2.0**-50
    return (one[0] + other[0]) / 2 / up, (one[1] + other[1]) / 2 * up
