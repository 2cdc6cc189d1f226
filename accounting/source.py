"""A way to brackets, and what several ways know together.

It is asked about a run, as a Question (sources.py), or about a product pair (accountants.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from .bracket import Bracket, OutOfReach, names
from .losses.crossing import Excess, crossing, over
from .quantity import Quantity
from .rounding import TARGET, widened_down, widened_up

About = TypeVar("About", contravariant=True)


class Source(Generic[About]):
    """Brackets of epsilon at a delta and of delta at an epsilon, of a relative width of `rtol` where they can be had.

    A subclass says `delta`, and what it knows better of the rest. Each may raise OutOfReach: there is no bracket here.
    name: in `accountant=`, and in the `method` of brackets; none of a source whose brackets keep others' names.
    """

    name: str
    knows_below: ClassVar[bool] = True
    """Whether its brackets have lower ends above 0."""
    builds_on_found: ClassVar[bool] = False
    """Whether its brackets hold all that is known, under one name, and not what it knows by itself."""

    def serves(self, about: About, /) -> bool:
        """Whether it can bracket this at all."""
        return True

    def adds(self, about: About, found: Bracket, rtol: float, /) -> bool:
        """Whether it may narrow what is found; an estimate cannot be narrowed."""
        return found.certified and not found.narrower_than(rtol)

    def delta(self, about: About, epsilon: float, rtol: float, /) -> Bracket:
        """The smallest delta at epsilon >= 0."""
        raise NotImplementedError

    def epsilon(self, about: About, delta: float, rtol: float, /) -> Bracket:
        """The smallest epsilon >= 0 at 0 < delta < 1: where `delta`'s ends meet it, the upper one rounded up and the
        lower one down. A bound where all of `delta`'s brackets are."""
        bounds = []

        def met(end: Callable[[Bracket], float], target: float, start: float) -> tuple[float, float]:
            def excess(at: float) -> Excess:
                found = self.delta(about, at, rtol)
                bounds.append(found.certified)
                return Excess(over(end(found), target))

            return crossing(excess, start)

        _, upper = met(lambda found: found.upper, widened_down(delta, TARGET), 1.0)
        lower, _ = met(lambda found: found.lower, widened_up(delta, TARGET), upper if upper < math.inf else 1.0)
        return Bracket(lower, upper, all(bounds), self.name)

    def bracket(self, about: About, quantity: Quantity, at: float, rtol: float, found: Bracket | None) -> Bracket:
        """What it is asked for. found: what is known before; None for nothing."""
        return self.epsilon(about, at, rtol) if quantity == Quantity.EPSILON else self.delta(about, at, rtol)


def known_together(
    sources: Iterable[Source[About]],
    about: About,
    quantity: Quantity,
    at: float,
    rtol: float,
    found: Bracket | None = None,
) -> Bracket | None:
    """What is found already, narrowed by one source after the other while they add to it; None where none serves."""
    given = [] if found is None else [found]
    for source in sources:
        if (found is None or source.adds(about, found, rtol)) and source.serves(about):
            try:
                own = source.bracket(about, quantity, at, rtol, found)
            except OutOfReach:
                continue
            if found is None or source.builds_on_found:
                found, given = own, [own]
            else:
                given.append(own)
                found = _by_givers(found.intersect(own), given)
    return found


def _by_givers(found: Bracket, given: Sequence[Bracket]) -> Bracket:
    """With the names of those that gave its ends, in the order in which they were asked."""
    above = next(bracket for bracket in given if bracket.upper == found.upper)
    below = above if above.lower == found.lower else next(each for each in given if each.lower == found.lower)
    return replace(found, method=names(*(bracket for bracket in given if bracket is above or bracket is below)))
