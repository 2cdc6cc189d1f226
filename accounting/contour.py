"""Accountant of subsampled Gaussian rounds: contour inversion with every error inside the bracket.

Serves any mix of Gaussian rounds and of subsampled ones in the remove, add, replace and hybrid orders. The
profile is an integral over a vertical line Re t = c of E[e^{tL}]^rounds, which is analytic: the trapezoidal rule
with a few dozen frequencies and about a hundred nodes each gives it to nearly all digits of a double, whatever
the number of rounds and however small delta (docs/theory/contour.md).
"""

from __future__ import annotations

import math
from dataclasses import replace

from .bracket import Bracket
from .contour_inversion import Inversion, invert
from .contour_paths import ORDERS
from .contour_rounds import lay
from .contour_saddle import Saddle, plan, saddle_at_delta, saddle_at_epsilon
from .pairs import Composition, GaussianPair, SubsampledPair
from .rounding import TARGET, widened_down, widened_up

METHOD = "contour"

_ACCURACY = 32.0
"""-log of the relative error that periodicity, truncation and discretisation may each add to delta."""

_NARROW = 1e-10
"""Relative width at which another inversion is not worth its time."""

_RETRIES = 12


def supports(composition: Composition) -> bool:
    """Gaussian rounds and subsampled Gaussian rounds whose coin is hidden."""
    return all(
        isinstance(pair, GaussianPair)
        or (isinstance(pair, SubsampledPair) and isinstance(pair.base, GaussianPair) and pair.order in ORDERS)
        for pair, _ in composition
    )


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0.

    Raises OutOfReach where the loss is so nearly an atom that too many frequencies would be needed.
    """
    above, below = max(0.0, widened_down(epsilon, TARGET)), widened_up(epsilon, TARGET) if epsilon else 0.0
    saddle = saddle_at_epsilon(composition, epsilon)
    least, most = -math.inf, 0.0
    for _ in range(_RETRIES):
        inversion = _inversion(composition, saddle)
        found = max(least, inversion.log_delta(below)[0]), min(most, inversion.log_delta(above)[1])
        improved = found != (least, most)
        least, most = found
        if most - least < _NARROW or not improved:
            break
        saddle = replace(saddle, log_delta=most)
    return Bracket(
        max(0.0, widened_down(math.exp(least), 1e-15)), min(1.0, widened_up(math.exp(most), 1e-15)), True, METHOD
    )


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1.

    Raises OutOfReach where the loss is so nearly an atom that too many frequencies would be needed.
    """
    target = math.log(delta)
    below, above = widened_down(target, TARGET) - 2.0 * TARGET, widened_up(target, TARGET) + 2.0 * TARGET
    saddle = saddle_at_delta(composition, target)
    least, most = 0.0, math.inf
    for _ in range(_RETRIES):
        inversion = _inversion(composition, saddle)
        upper = min(most, _epsilon_above(inversion, below, saddle.epsilon))
        lower = max(least, _epsilon_below(inversion, above, upper))
        improved = (lower, upper) != (least, most)
        least, most = lower, upper
        if most - least <= _NARROW * most or not improved:
            break
        resolved = (most - least) * inversion.c < 1.0
        if resolved and abs(most - saddle.epsilon) * inversion.c < 1.0:
            break
        trial = most if resolved else (math.sqrt(least * most) if least > 0.0 else 0.25 * most)
        saddle = replace(saddle_at_epsilon(composition, trial), log_delta=target)
    return Bracket(least, most, True, METHOD)


def _inversion(composition: Composition, saddle: Saddle) -> Inversion:
    chosen = plan(composition, saddle, _ACCURACY)
    top = max(chosen.c, float(chosen.points.max()))
    return invert(lay(composition, top, _ACCURACY + 4.0), chosen, _ACCURACY)


def _epsilon_above(inversion: Inversion, log_delta: float, start: float) -> float:
    """Postcondition: log delta(result) <= log_delta for certain, and result >= 0."""
    result = max(0.0, start)
    for _ in range(_RETRIES):
        _, high, slope = inversion.log_delta(result)
        step = (log_delta - high) / slope
        if abs(step) <= 2.0**-50 * result:
            break
        if result + step <= 0.0 and inversion.log_delta(0.0)[1] <= log_delta:
            return 0.0
        result = max(0.0, result + step)
    step = 2.0**-52 * result + 5e-324
    while inversion.log_delta(result)[1] > log_delta:
        result, step = result + step, 2.0 * step
    return result


def _epsilon_below(inversion: Inversion, log_delta: float, start: float) -> float:
    """Postcondition: log delta(result) > log_delta for certain, or result = 0."""
    result, step = start, 2.0**-52 * start + 5e-324
    while result > 0.0:
        low, _, slope = inversion.log_delta(result)
        if low > log_delta:
            break
        result, step = max(0.0, result - max(step, min((low - log_delta) / slope, 0.5 * result))), 2.0 * step
    return result
