"""Accountant of what has a formula: one round of any pair, and any number of rounds of a two-valued loss.

Evaluated in balls (profiles.py) and rounded outwards, so brackets are a few units in the last place wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from .bracket import Bracket
from .pairs import ApproximateDpPair, Composition, Pair
from .parameters import dominated_parameters, dominating_parameters
from .profiles import has_profile, infinite_mass, profile
from .rounding import PARAMETER, TARGET, down, float_above, float_below, up, widened_down, widened_up

METHOD = "closed-form"

_HIGHEST = 1e6
"""Epsilons above this are reported as infinite from above."""

_LOWEST_LOG = -1e6
"""log of a ball that may be 0, for the search only."""


def supports(composition: Composition) -> bool:
    """A single pair with a formula for its number of rounds."""
    return len(composition) == 1 and has_profile(*composition[0])


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0."""
    (pair, rounds), *_ = composition
    low = profile(dominated_parameters(pair), rounds, widened_up(epsilon, TARGET) if epsilon else 0.0)
    high = profile(dominating_parameters(pair), rounds, max(0.0, widened_down(epsilon, TARGET)))
    return Bracket(max(0.0, float_below(low)), min(1.0, float_above(high)), True, METHOD)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    (pair, rounds), *_ = composition
    low_target, high_target = widened_up(delta, TARGET), widened_down(delta, TARGET)
    lower = _crossing(dominated_parameters(pair), rounds, low_target, lambda ball: float_below(ball) >= low_target, -1)
    upper = _crossing(
        dominating_parameters(pair), rounds, high_target, lambda ball: float_above(ball) <= high_target, 1
    )
    return Bracket(lower, min(upper, _largest_loss(pair, rounds, delta)), True, METHOD)


def _largest_loss(pair: Pair, rounds: int, delta: float) -> float:
    """The stated epsilons' sum, where the stated deltas alone do not exceed delta (all three as the doubles given).

    A mechanism known to be (epsilon, 1e-5)-DP has that epsilon at 1e-5, exactly where its profile jumps.
    """
    if isinstance(pair, ApproximateDpPair) and infinite_mass(pair, rounds) <= arb(delta):
        return widened_up(rounds * pair.epsilon, 2 * PARAMETER)
    return math.inf


def _crossing(pair: Pair, rounds: int, target: float, accept: Callable[[arb], bool], direction: int) -> float:
    """The epsilon nearest to where the profile meets the target that `accept` accepts, moving in `direction`."""

    def excess(at: float) -> float:
        value = float(profile(pair, rounds, at).mid())
        return math.log(value / target) if value > 0 else _LOWEST_LOG

    if excess(0.0) <= 0:
        root = 0.0
    else:
        right = _above(excess)
        if right == math.inf:
            unbounded = direction > 0 or infinite_mass(pair, rounds) > arb(target)
            return math.inf if unbounded else _below(pair, rounds, accept)
        from scipy.optimize import bisect, brentq  # here: it would double the time that importing the accountants takes

        root, report = brentq(excess, 0.0, right, xtol=1e-300, rtol=8.9e-16, full_output=True, disp=False)
        if not report.converged:  # next to the largest loss the profile falls by a hundred powers of ten at once
            root = bisect(excess, 0.0, right, xtol=1e-300, rtol=8.9e-16, maxiter=4000)
    # Outwards from the root, at first by units in the last place, or by what a wide ball leaves open, in steps that
    # double where the profile is flat.
    ball = profile(pair, rounds, root)
    step = max(1e-16 * max(root, 1e-300), float((ball.rad() / 64 / (ball.abs_lower() + ball.rad())).mid()))
    while not accept(profile(pair, rounds, root)):
        if direction < 0 and root == 0:
            return 0.0
        if root > _HIGHEST:
            return math.inf
        root = up(root + step) if direction > 0 else max(0.0, down(root - step))
        step *= 2
    return root


def _below(pair: Pair, rounds: int, accept: Callable[[arb], bool]) -> float:
    """The largest power of two up to _HIGHEST that `accept` accepts; 0 where there is none."""
    at = 2.0 ** math.floor(math.log2(_HIGHEST))
    while at >= 1.0 and not accept(profile(pair, rounds, at)):
        at /= 2
    return at if at >= 1.0 else 0.0


def _above(excess: Callable[[float], float]) -> float:
    """An epsilon where the profile is below the target; infinity where none is found up to _HIGHEST."""
    at = 1.0
    while excess(at) > 0:
        at *= 2
        if at > _HIGHEST:
            return math.inf
    return at
