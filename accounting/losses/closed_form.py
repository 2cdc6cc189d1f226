"""Accountant of what has a formula: one round of any pair, and any number of rounds of a two-valued loss.

Evaluated in balls (exact_profiles.py) and rounded outwards, so brackets are a few units in the last place wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from ..bracket import Bracket
from ..pairs import Composition, Pair
from ..pairs.pair import largest_loss
from ..pairs.parameters import dominated_parameters, dominating_parameters
from ..rounding import TARGET, float_above, float_below, up, widened_down, widened_up
from .crossing import Excess, crossing, over
from .exact_profiles import has_profile, infinite_mass, profile

METHOD = "closed-form"

_HIGHEST = 1e6
"""Epsilons above this are reported as infinite from above."""


def supports(composition: Composition) -> bool:
    """A single pair with a formula for its number of rounds."""
    return len(composition) == 1 and has_profile(*composition[0])


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0."""
    (pair, rounds), *_ = composition
    low = profile(dominated_parameters(pair), rounds, widened_up(epsilon, TARGET) if epsilon else 0.0)
    high = profile(dominating_parameters(pair), rounds, max(0.0, widened_down(epsilon, TARGET)))
    return Bracket(_at_least_zero(low), _at_most_one(high), True, METHOD)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    (pair, rounds), *_ = composition
    low_target, high_target = widened_up(delta, TARGET), widened_down(delta, TARGET)
    least, most = dominated_parameters(pair), dominating_parameters(pair)
    lower, _ = _where_met(least, rounds, low_target, _at_least_zero)
    if lower >= _HIGHEST and infinite_mass(least, rounds) > arb(low_target):
        lower = math.inf
    _, upper = _where_met(most, rounds, high_target, _at_most_one)
    return Bracket(lower, min(upper, _largest_loss(most, rounds, delta)), True, METHOD)


def _largest_loss(pair: Pair, rounds: int, delta: float) -> float:
    """The largest finite losses' sum, where the rounds' failures alone do not exceed delta (as the double given).

    A mechanism known to be (epsilon, 1e-5)-DP has that epsilon at 1e-5, exactly where its profile jumps.
    """
    finite = pair.failure()[1]
    if finite is None or not infinite_mass(pair, rounds) <= arb(delta):
        return math.inf
    return up(rounds * largest_loss(finite), 2)


def _at_least_zero(ball: arb) -> float:
    return max(0.0, float_below(ball))


def _at_most_one(ball: arb) -> float:
    return min(1.0, float_above(ball))


def _where_met(pair: Pair, rounds: int, target: float, bound: Callable[[arb], float]) -> tuple[float, float]:
    """Two neighbouring epsilons: the profile's bound is above the target at the first (or it is 0), and at most that
    at the second (or it is infinite)."""

    def excess(epsilon: float) -> Excess:
        return Excess(over(bound(profile(pair, rounds, epsilon)), target))

    return crossing(excess, 1.0, farthest=_HIGHEST)
