"""What a unit's groups of a stable histogram cost: some that others are in, and some that it alone is in.

A group that others are in costs at most its noise, and as much where they are many. One that the unit alone is in is
there with probability `released`, and absent without the unit (docs/theory/stable_histogram.md). Which groups are of
which kind is the neighbours' choice, of every number of either kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import arb, ctx

from ...mechanisms import ApproximateDp, Laplace, Relation, StableHistogram
from ..pairs import EventPair, Order
from ..pairs.tails import normal_tail
from ..rounding import PARAMETER, End, down, float_above, float_below, up
from .change import Change, NeighbourCase

_BITS = 256

_MOST = 64
"""Combinations of numbers of groups that are asked for one by one."""


def groups_of(step: StableHistogram, rounds: int, relation: Relation) -> Iterator[NeighbourCase]:
    """For each number of new groups, how many groups of each kind: the noise stands for one that others are in, a
    histogram of one bucket for a new one. A replaced unit leaves its groups, and enters as many.

    Of too many combinations none is picked: every group is charged for both at once, which is no less.
    """
    total, new = rounds * step.buckets, StableHistogram(step.noise, step.threshold)
    sides = (Change.LEAVES, Change.ENTERS) if relation == Relation.REPLACE_ONE else (Change.STAYS,)
    if (total + 1) ** len(sides) > _MOST:
        fails = ApproximateDp(0.0, _released(new, End.UPPER))
        yield {(part, side): total for part in (step.noise, fails) for side in sides}
        yield {(new, side): total for side in sides}
        return
    for counts in _counts(total, len(sides)):
        kinds: NeighbourCase = {}
        for side, count in zip(sides, counts, strict=True):
            kinds |= {(new, side): count} if count else {}
            kinds |= {(step.noise, side): total - count} if total > count else {}
        yield kinds


def _counts(total: int, sides: int) -> Iterator[tuple[int, ...]]:
    if sides == 1:
        yield from ((count,) for count in range(total + 1))
    else:
        yield from ((first, second) for first in range(total + 1) for second in range(total + 1))


def pairs_of_new_group(group: StableHistogram, end: End) -> dict[Order, EventPair]:
    """With the unit first, or without; for the upper end it is released the more often."""
    chance = _released(group, end)
    absent = down(1 - chance) if end is End.UPPER else min(1.0, up(1 - chance))
    return {Order.REMOVE: EventPair(chance, 0.0), Order.ADD: EventPair(1.0, absent)}


def _released(group: StableHistogram, end: End) -> float:
    """The probability that the sum is at least the threshold where it is 1, rounded for this end."""
    with ctx.workprec(_BITS):
        about = arb(1, 2 * PARAMETER)
        away = (arb(group.threshold) * about - 1).max(arb(0)) / (arb(group.noise.noise_multiplier) * about)
        chance = (-away).exp() / 2 if isinstance(group.noise, Laplace) else normal_tail(away)
        return float_above(chance) if end is End.UPPER else max(0.0, float_below(chance))
