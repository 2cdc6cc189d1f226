"""What one round of a run comes down to: the pairs that dominate it, and those that some neighbours attain.

Two neighbours are named in two orders, and a product of rounds is one of the same two neighbours in the same order:
`upper` and `lower` say for each order what a round is, so that nothing else can be combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ...mechanisms import InputError
from ..pairs import Composition, Order, Pair


class Example(Enum):
    """Which of a round's attained neighbours: those that its steps have in common are combined with each other."""

    PLAIN = "one unit contributes, and all others nothing, or whatever is worst with them"
    BALANCED = "all others contribute nothing, and the two units the opposite of each other"
    OPPOSED = "all others contribute the opposite of what the unit does"
    SCORED = "as a sum of scores shows them"
    EXACT = "those whose pair is known from above alone"


_BOTH = frozenset(Order)

ByOrder = Mapping[Order, Pair]

Choice = Example | int
"""An example, or the place of one in a list of alternatives."""

Alternatives = Mapping[Choice, Composition]
"""The first is the one that stands for those that another round has and this one has not."""


@dataclass(frozen=True, slots=True)
class Round:
    """truth <= upper of either order; truth >= each of lower (empty: no attained pair is known).

    amplified: further bounds like upper, whose pairs only the accountant of lattices takes: truth <= each of them.
    """

    upper: Mapping[Order, Composition]
    lower: Mapping[Order, Alternatives]
    amplified: tuple[Mapping[Order, Composition], ...] = ()

    def __post_init__(self) -> None:
        """InputError for an order that is not known: whoever combines rounds would take another one in its place."""
        if self.upper.keys() != _BOTH or not self.lower.keys() <= _BOTH or not all(self.lower.values()):
            raise InputError("upper, lower", self, "a bound for each order, and examples for known orders")

    @classmethod
    def of(cls, upper: ByOrder, lower: Mapping[Order, Mapping[Choice, Pair]]) -> Round:
        """Of one pair in each place."""
        return cls({order: once(pair) for order, pair in upper.items()}, in_each_place(lower))

    def exchanged(self) -> Round:
        """With the neighbours named the other way round."""
        upper, *amplified = (
            {order.exchanged: product for order, product in bound.items()} for bound in (self.upper, *self.amplified)
        )
        return Round(upper, {order.exchanged: known for order, known in self.lower.items()}, tuple(amplified))


def bounds_together(rounds: Sequence[Round]) -> Iterator[list[Mapping[Order, Composition]]]:
    """`upper` of each, then their amplified bounds in order: of one that has fewer, its last bound."""
    every = [(each.upper, *each.amplified) for each in rounds]
    for at in range(max(map(len, every), default=1)):
        yield [bounds[min(at, len(bounds) - 1)] for bounds in every]


def once(pair: Pair) -> Composition:
    """One step alone."""
    return ((pair, 1),)


def either(pair: Pair) -> ByOrder:
    """A pair that serves both orders."""
    return dict.fromkeys(Order, pair)


def plain(pairs: ByOrder) -> dict[Order, dict[Choice, Pair]]:
    """One example in each order."""
    return {order: {Example.PLAIN: pair} for order, pair in pairs.items()}


def listed(pairs: Iterable[Pair]) -> dict[Order, dict[Choice, Pair]]:
    """Examples for both orders; none, where there are none."""
    places: dict[Choice, Pair] = dict(enumerate(pairs))
    return dict.fromkeys(Order, places) if places else {}


def in_each_place(lower: Mapping[Order, Mapping[Choice, Pair]]) -> dict[Order, Alternatives]:
    """One step in each place."""
    return {order: {name: once(pair) for name, pair in known.items()} for order, known in lower.items()}


def tight(pairs: ByOrder) -> Round:
    """Pairs that dominate and are attained."""
    steps = {order: once(pair) for order, pair in pairs.items()}
    return Round(steps, {order: {Example.PLAIN: step} for order, step in steps.items()})


def repeated(pair: Pair, times: int) -> Round:
    """So many independent steps, each of which dominates and is attained in both orders."""
    steps = ((pair, times),)
    return Round(dict.fromkeys(Order, steps), {order: {Example.PLAIN: steps} for order in Order})


def bounded(pair: Pair) -> Round:
    """A pair that dominates in both orders, where no attained one is known."""
    return Round.of(either(pair), {})
