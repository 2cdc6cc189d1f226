"""One block of random allocation by itself, a replaced unit: epsilon and delta from the profile's own two bounds.

An accountant of accounting/epsilon.py. No law is needed where nothing is composed: one value of the profile from above
(replaced.py) and one from below (replaced_below.py) for each epsilon that is asked, on a fine grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

from ..bracket import Bracket, OutOfReach
from ..pairs import Composition, Pair, ReplacedAllocationPair
from ..parameters import dominated_parameters, dominating_parameters
from .replaced import Grid, known_shift, profile_above
from .replaced_below import profile_below

METHOD = "replaced-block"

_COARSE, _FINE = Grid(10, 1 << 15), Grid(64, 1 << 19)
_MANY = Grid(48, 1 << 17)
"""For deltas, which trade-off curves ask for by the dozen."""

_LOST = 1e-7
"""Share of delta that large outcomes may take."""

_WIDEST = 1.02
"""Ends that are further apart are left to other accountants: one tilt does not tell so small a delta."""

_TAILS = (1e-12, 1e-16, 1e-20)
"""Tails that are tried where delta is what is sought."""

_LARGEST_DELTA_LOG = 60.0
"""Beyond so small a value its logarithm is of no use to the search."""

_SMOOTH = 3.0
"""Where the logarithm differs by less between two ends, it is about a line between them."""

_NEAR = 1e-5
"""Relative distance from where a bound seems to cross delta to the epsilon for which it is stated."""


def supports(composition: Composition) -> bool:
    """One block, with one participation, that a grid can hold."""
    pair, rounds = composition[0] if composition else (None, 0)
    return len(composition) == 1 and rounds == 1 and pair is not None and known_shift(pair) is not None


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the block at 0 < delta < 1."""
    return _epsilon(composition[0][0], delta)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the block at epsilon >= 0."""
    return _delta(composition[0][0], epsilon)


@lru_cache(maxsize=256)
def _delta(pair: Pair, epsilon: float) -> Bracket:
    high, low, rounds = _block(pair)
    found = Bracket(0.0, 1.0, True, METHOD)
    for tail in _TAILS:
        ends = profile_below(low, rounds, epsilon, tail, _MANY), profile_above(high, rounds, epsilon, tail, _MANY)
        found = found.intersect(Bracket(*ends, True, METHOD))
        if tail <= 1e-6 * found.lower:
            break
    if found.upper > 1.1 * found.lower:
        raise OutOfReach(f"a block of {rounds} rounds at epsilon = {epsilon}")
    return found


@lru_cache(maxsize=64)
def _epsilon(pair: Pair, delta: float) -> Bracket:
    high, low, rounds = _block(pair)
    tail = 2.0 ** math.floor(math.log2(_LOST * delta))
    far = 2 * high * (high + math.sqrt(-2 * math.log(tail)))
    coarse = partial(profile_above, high, rounds, tail=tail, grid=_COARSE)
    near, size = 0.0, _spread(high, rounds)
    while near + size < far and coarse(near + size) > delta:  # far beyond, bounds are of no use to a search
        near, size = near + size, 1.5 * size
    near = _crossing(coarse, delta, near, near + size, 0.01)
    above, below = (
        partial(profile, shift, rounds, tail=tail, grid=_FINE)
        for profile, shift in ((profile_above, high), (profile_below, low))
    )
    lower, upper = _just_before(below, delta, near), _just_after(above, delta, near, far)
    if upper > _WIDEST * lower:
        raise OutOfReach(f"a block of {rounds} rounds at delta = {delta}")
    return Bracket(lower, upper, True, METHOD)


def _block(pair: Pair) -> tuple[float, float, int]:
    """The shift from above and from below, and the rounds."""
    shifts = [known_shift(moved) for moved in (dominating_parameters(pair), dominated_parameters(pair))]
    if not isinstance(pair, ReplacedAllocationPair) or shifts[0] is None or shifts[1] is None:
        raise TypeError(f"not a block: {pair}")
    return shifts[0], shifts[1], pair.apart.rounds


Profile = Callable[[float], float]


def _spread(shift: float, rounds: int) -> float:
    """Of the block's loss, about."""
    return math.sqrt(2 * (math.expm1(shift**2) - math.expm1(-(shift**2))) / rounds)


def _crossing(profile: Profile, delta: float, low: float, high: float, close: float) -> float:
    """About where the profile, which falls, is delta; nothing rests on it."""
    if profile(low) <= delta:
        return low
    values = [_log(profile(end) / delta) for end in (low, high)]
    while high - low > close * high:
        smooth = values[0] - values[1] < _SMOOTH
        share = values[0] / (values[0] - values[1]) if smooth and values[1] < 0 else 0.5
        at = low + min(max(share, 0.02), 0.98) * (high - low)
        value = _log(profile(at) / delta)
        if value > 0:
            low, values[0] = at, value
        else:
            high, values[1] = at, value
    return 0.5 * (low + high)


def _log(ratio: float) -> float:
    return max(math.log(ratio), -_LARGEST_DELTA_LOG) if ratio > 0 else -_LARGEST_DELTA_LOG


def _just_after(above: Profile, delta: float, near: float, far: float) -> float:
    """An epsilon at which the profile is at most delta for certain, near where it seems to cross."""
    centre = _crossing(above, delta, 0.7 * near, 1.1 * near, _NEAR) if near else 0.0
    for margin in (_NEAR, 1e-4, 1e-3, 1e-2, 0.1):
        at = centre * (1 + margin)
        if above(at) <= delta:
            return at
    return far if above(far) <= delta else math.inf


def _just_before(below: Profile, delta: float, near: float) -> float:
    """An epsilon at which the profile is above delta for certain; 0 where none is seen."""
    centre = _crossing(below, delta, 0.7 * near, 1.1 * near, _NEAR) if near else 0.0
    for margin in (_NEAR, 1e-4, 1e-3, 1e-2, 0.1):
        at = centre * (1 - margin)
        if below(at) > delta:
            return at
    return 0.0
