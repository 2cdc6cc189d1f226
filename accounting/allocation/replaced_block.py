"""One block of random allocation by itself, a replaced unit: epsilon and delta from the profile's own two bounds.

An accountant of accounting/epsilon.py. No law is needed where nothing is composed: one value of the profile from above
and one from below (one_jump.py) for each epsilon that is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from ..bracket import Bracket, OutOfReach
from ..losses.crossing import Excess, crossing, over
from ..pairs import Composition, Pair
from . import one_jump
from .replaced import block_of, moved_block

METHOD = "replaced-block"

_COARSE, _FINE = 16, 96
"""Steps (one_jump.py): to find about where delta is crossed, and for what is returned."""

_LOST = 1e-6
"""Share of delta that large outcomes may take."""

_WIDEST = 1.02
"""Ends that are further apart are left to other accountants: one tilt does not tell so small a delta."""

_TAILS = (1e-12, 1e-16, 1e-20)
"""Tails that are tried where delta is what is sought."""

_ROUGHLY, _NEAR = 0.01, 1e-5
"""Relative distances within which an epsilon is found, on the coarse grid and on the fine one."""


def supports(composition: Composition) -> bool:
    """One block, with one participation, that a grid can hold."""
    pair, rounds = composition[0] if composition else (None, 0)
    return len(composition) == 1 and rounds == 1 and pair is not None and block_of(pair) is not None


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the block at 0 < delta < 1."""
    return _epsilon(composition[0][0], delta)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the block at epsilon >= 0."""
    return _delta(composition[0][0], epsilon)


@lru_cache(maxsize=256)
def _delta(pair: Pair, epsilon: float) -> Bracket:
    high, low, rounds = moved_block(pair)
    found = Bracket(0.0, 1.0, True, METHOD)
    for tail in _TAILS:
        upper = one_jump.profile_above(one_jump.block(high, rounds, tail), epsilon, _FINE)
        ends = one_jump.profile_below(one_jump.block(low, rounds, tail), epsilon, _FINE, upper), upper
        found = found.intersect(Bracket(*ends, True, METHOD))
        if tail <= 1e-6 * found.lower:
            break
    if found.upper > 1.1 * found.lower:
        raise OutOfReach(f"a block of {rounds} rounds at epsilon = {epsilon}")
    return found


@lru_cache(maxsize=64)
def _epsilon(pair: Pair, delta: float) -> Bracket:
    high, low, rounds = moved_block(pair)
    tail = 2.0 ** math.floor(math.log2(_LOST * delta))
    above, below = one_jump.block(high, rounds, tail), one_jump.block(low, rounds, tail)
    far = one_jump.farthest(high, tail)  # losses beyond are in the tail

    def excess(steps: int) -> Callable[[float], Excess]:
        return lambda at: Excess(over(one_jump.profile_above(above, min(at, far), steps), delta))

    def excess_below(at: float) -> Excess:
        return Excess(over(one_jump.profile_below(below, at, _FINE, 1.01 * delta), delta))

    _, near = crossing(excess(_COARSE), one_jump.spread(high, rounds), close=_ROUGHLY, farthest=far)
    _, upper = crossing(excess(_FINE), min(near, far), close=_NEAR, farthest=far)
    lower, _ = crossing(excess_below, upper, close=_NEAR) if upper < math.inf else (0.0, 0.0)
    if upper > _WIDEST * lower:
        raise OutOfReach(f"a block of {rounds} rounds at delta = {delta}")
    return Bracket(lower, upper, True, METHOD)
