"""k of t rounds by coins, one for each round: what docs/theory/allocation.md says of three numbers, by enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

N = TypeVar("N")


def ratio(likelihoods: Sequence[N], k: int) -> N:
    """P/Q where k rounds, drawn uniformly, have these likelihood ratios."""
    sets = list(combinations(likelihoods, k))
    return sum(math.prod(each) for each in sets) / len(sets)


def heads(coins: Sequence[N], k: int) -> N:
    """P(k of the independent coins show heads)."""
    places = range(len(coins))
    return sum(
        math.prod(p if i in chosen else 1 - p for i, p in enumerate(coins)) for chosen in combinations(places, k)
    )


def two_valued(t: int, total: float, squares: float, corners: bool = True) -> Iterator[tuple[float, ...]]:
    """All points of [0, 1]^t with this sum and this sum of squares that have at most two values besides 0 and 1.

    corners: whether 0 and 1 are values that are had at all.
    """
    for ones in range(t + 1 if corners else 1):
        for zeros in range(t - ones + 1 if corners else 1):
            left = t - ones - zeros
            for few in range(left):  # few of one value, more than none of the other
                yield from _of_values(few, left - few, total - ones, squares - ones, (1.0,) * ones + (0.0,) * zeros)


def _of_values(
    few: int, others: int, total: float, squares: float, rest: tuple[float, ...]
) -> Iterator[tuple[float, ...]]:
    mean = total / (few + others)
    excess = squares - (few + others) * mean**2
    if excess < -1e-12 or (few == 0 and excess > 1e-12):
        return
    apart = math.sqrt(max(excess, 0.0) * others / (few * (few + others))) if few else 0.0
    for sign in (1, -1) if few else (1,):
        u, v = mean + sign * apart, mean - sign * apart * few / others
        if min(u, v) >= -1e-12 and max(u, v) <= 1 + 1e-12:
            yield rest + (u,) * few + (v,) * others
