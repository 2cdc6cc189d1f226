"""Accountant of subsampled Gaussian rounds: contour inversion with every error inside the bracket.

Serves any mix of Gaussian rounds and of subsampled ones in the remove, add, replace and hybrid orders. The
profile is an integral over a vertical line Re t = c of E[e^{tL}]^rounds, which is analytic: the trapezoidal rule
with a few dozen frequencies and about a hundred nodes each gives it to nearly all digits of a double, whatever
the number of rounds and however small delta (docs/theory/contour.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from ..bracket import Bracket, OutOfReach
from ..pairs import Composition, GaussianPair, SubsampledPair
from ..rounding import PARAMETER, TARGET, UNIT, widened_down, widened_up
from .balls import FEW_PRODUCTS, MOST_PRODUCTS, BallInversion, invert_in_balls
from .bent import invert_bent
from .crossing import epsilon_above, epsilon_below
from .inversion import Inversion, invert
from .paths import ORDERS, Sampled
from .rare import (
    BULK,
    between_by_cutting,
    between_by_several,
    between_on_the_bent_contour,
    certain_to_hide,
    cut_first,
    narrow_range,
    rare,
    several_at,
)
from .rounds import lay, phases
from .saddle import Saddle, plan, plan_above, saddle_at_delta, saddle_at_epsilon
from .scout import FEW_DIGITS, scouted

METHOD = "contour"

_ACCURACY = 27.0
"""-log of the relative error that periodicity, truncation and discretisation may each add to delta."""

_MOST_MORE = 9.0
"""Added to it at most where eps is a small share of 1/c."""

_SKEWED = 2.0
"""Skewness of the tilted loss from where the saddle point approximation may be far off."""

_FOUND = 1e-3
"""Relative width from which on eps is known well enough to lay out an inversion there."""

_RESOLVED = 0.02
"""Units of 1/c within which the search's eps is near enough to lay nothing out anew."""

Engine = Callable[[Composition, Saddle], tuple[Inversion | BallInversion, Inversion | BallInversion]]
"""Lays out two inversions, whose lower and upper ends, respectively, hold for all parameters within PARAMETER."""

_NARROW = 1e-10
"""Relative width at which another inversion is not worth its time."""

_WIDE = 9e-10
"""Relative width at which ball arithmetic, a hundred times slower, is worth its time."""

_NARROW_DELTA = 1e-9
_WIDE_DELTA = 1e-8
"""The same for delta, whose relative error is that of epsilon times -epsilon d(log delta)/d(epsilon)."""

_ELSEWHERE = 1e-4
"""Relative width that is narrow enough where rates are below 1e-3 or rounds fewer than 100."""

_AGAIN = 1e-5
"""There, from which relative width on another inversion is tried where the first one put the crossing."""

_RETRIES = 8


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
    if above >= _largest_loss(composition):
        return Bracket(0.0, 0.0, True, METHOD)
    least, most, enough = -math.inf, 0.0, _WIDE_DELTA
    jumps = rare(composition)
    if jumps and not narrow_range(*jumps):
        enough = _ELSEWHERE
        with suppress(OutOfReach):
            several = several_at(*jumps, epsilon)
            least, most = several.log_delta(below)[0], min(0.0, several.log_delta(above)[1])
        if most - least <= enough:
            return _bracket(least, most)
    saddle = saddle_at_epsilon(composition, epsilon)
    if jumps:
        with suppress(OutOfReach):
            bent = invert_bent(*jumps, saddle)
            least, most = max(least, bent.log_delta(below)[0]), min(most, bent.log_delta(above)[1])
    for _ in range(0 if most - least <= enough else _RETRIES):
        inversion, _ = _in_doubles(composition, saddle)
        width = most - least
        least, most = max(least, inversion.log_delta(below)[0]), min(most, inversion.log_delta(above)[1])
        if most - least < _NARROW_DELTA or most - least > 0.5 * width:
            break
        saddle = replace(saddle, log_delta=most)
    if most - least > enough:
        with suppress(OutOfReach):
            under, over = _in_balls(composition, saddle)
            least, most = max(least, under.log_delta(below)[0]), min(most, over.log_delta(above)[1])
    return _bracket(least, most)


def _bracket(least: float, most: float) -> Bracket:
    """Of delta, from bounds on its logarithm."""
    return Bracket(
        max(0.0, widened_down(math.exp(least), 1e-15)), min(1.0, widened_up(math.exp(most), 1e-15)), True, METHOD
    )


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1.

    Raises OutOfReach where the loss is so nearly an atom that too many frequencies would be needed.
    """
    if certain_to_hide(composition, delta):
        return Bracket(0.0, 0.0, True, METHOD)
    target = math.log(delta)
    targets = widened_down(target, TARGET) - 2.0 * TARGET, widened_up(target, TARGET) + 2.0 * TARGET
    between = 0.0, math.inf
    jumps = rare(composition)
    alone = jumps or cut_first(composition)
    enough, again = (_WIDE, 0.5 * _WIDE) if not alone or narrow_range(*alone) else (_ELSEWHERE, _AGAIN)
    if jumps:
        between = _quick(jumps, target, targets, (enough, again))
    elif alone:
        between = between_by_cutting(*alone, target, targets, 0.5 * enough)
    if between[1] - between[0] <= enough * min(between[1], 1e300):
        return Bracket(*between, True, METHOD)
    saddle = saddle_at_delta(composition, target)
    if jumps:
        other, saddle = between_on_the_bent_contour(composition, *jumps, saddle, targets, again)
        between = max(between[0], other[0]), min(between[1], other[1])
        if between[1] - between[0] > enough * min(between[1], 1e300) and jumps[0].shift >= BULK:
            other = between_by_cutting(*jumps, target, targets, 0.5 * enough)
            between = max(between[0], other[0]), min(between[1], other[1])
        if between[1] - between[0] <= enough * min(between[1], 1e300):
            return Bracket(*between, True, METHOD)
    if between[1] - between[0] <= _FOUND * min(between[1], 1e300):
        saddle = replace(saddle_at_epsilon(composition, between[1]), log_delta=target)
    elif saddle.skewness > _SKEWED:
        saddle = scouted(composition, saddle)
    for engine, goal in ((_in_doubles, _NARROW), (_in_balls, enough)):
        between, saddle = _narrowed(composition, saddle, engine, targets, between, goal)
        if between[1] - between[0] <= enough * min(between[1], 1e300):
            break
    if between[1] == math.inf:
        raise OutOfReach("the loss is too nearly an atom")
    return Bracket(*between, True, METHOD)


def _quick(
    jumps: tuple[Sampled, int], target: float, targets: tuple[float, float], widths: tuple[float, float]
) -> tuple[float, float]:
    """The interval of eps by the ways that need no saddle point. widths: narrow enough, and worth another inversion."""
    between, (enough, again) = (0.0, math.inf), widths
    if jumps[0].rate < 1e-3:
        between = between_by_several(*jumps, target, targets, again)
    if jumps[0].shift < BULK and between[1] - between[0] > enough * min(between[1], 1e300):
        other = between_by_cutting(*jumps, target, targets, 0.5 * enough)
        between = max(between[0], other[0]), min(between[1], other[1])
    return between


def at_most(composition: Composition, epsilon: float, delta: float) -> bool:
    """Whether delta certainly suffices at epsilon: from an inversion to a few digits, a fraction of the work.

    True: the composed pair's profile at epsilon is at most delta (both within TARGET). False says nothing.
    """
    if not (0.0 < delta < 1.0 and math.isfinite(epsilon)):
        return epsilon == math.inf or delta == 1.0
    target = widened_down(math.log(delta), TARGET) - 2.0 * TARGET
    low = max(0.0, widened_down(epsilon, TARGET))
    if low >= _largest_loss(composition):
        return True
    try:
        saddle = saddle_at_epsilon(composition, epsilon)
        if saddle.log_delta > target + 0.1:
            return False
        if saddle.log_bound < target - 0.1:
            (bound,) = lay(composition, (saddle.c,), FEW_DIGITS).log_profiles_above((saddle.c,))
            return bound - widened_down(saddle.c * low, 4.0 * UNIT) <= target
        chosen = plan_above(composition, saddle, FEW_DIGITS)
        found = invert(lay(composition, chosen.points, FEW_DIGITS + 2.0 + chosen.cancellation), chosen, FEW_DIGITS)
    except OutOfReach:
        return False
    return found.log_delta(low)[1] <= target


def _largest_loss(composition: Composition) -> float:
    """At least the largest loss of all rounds: finite in the add order, where each has at most -log(1 - rate)."""
    parts, gaussian = phases(composition)
    if gaussian or any(pair.order != "add" for pair, _ in parts):
        return math.inf
    return widened_up(math.fsum(-count * math.log1p(-widened_up(pair.rate, PARAMETER)) for pair, count in parts), 1e-14)


def _narrowed(
    composition: Composition,
    saddle: Saddle,
    engine: Engine,
    targets: tuple[float, float],
    between: tuple[float, float],
    enough: float,
) -> tuple[tuple[float, float], Saddle]:
    """The interval of eps, narrowed by inversions laid out anew where the last ones put the crossing."""
    (least, most), barred = between, math.inf
    for _ in range(_RETRIES):
        try:
            under, over = engine(composition, saddle)
        except OutOfReach:
            if 0.5 * barred < saddle.epsilon < 2.0 * barred < math.inf:
                break
            barred = saddle.epsilon
            if barred <= 1.01 * least or barred == 0.0:
                break
            saddle = _elsewhere(composition, least, barred, targets[0])
            continue
        upper = min(most, epsilon_above(over, targets[0], saddle.epsilon))
        lower = max(least, epsilon_below(under, targets[1], min(upper, 1e300)))
        improved = (lower, upper) != (least, most)
        least, most = lower, upper
        resolved = (most - least) * over.c < 1.0
        near = resolved and abs(most - saddle.epsilon) * over.c < _RESOLVED
        if most == math.inf or most - least <= enough * most or not improved or near:
            break
        start = most if resolved else least
        saddle = _elsewhere(composition, start, min(most, barred), targets[0])
    return (least, most), saddle


def _elsewhere(composition: Composition, low: float, high: float, log_delta: float) -> Saddle:
    """The saddle point of an eps between the two, where delta is taken to be e^log_delta."""
    trial = math.sqrt(low * high) if low > 0.0 else 0.25 * high
    return replace(saddle_at_epsilon(composition, trial), log_delta=log_delta)


def _in_doubles(composition: Composition, saddle: Saddle) -> tuple[Inversion, Inversion]:
    """An inversion, both of whose ends hold for all parameters within PARAMETER."""
    accuracy = _accuracy(saddle)
    chosen = plan(composition, saddle, accuracy, 0.5)
    found = invert(lay(composition, chosen.points, accuracy + 2.0 + chosen.cancellation), chosen, accuracy)
    return found, found


def _accuracy(saddle: Saddle) -> float:
    """For eps to as many digits as elsewhere: an error of delta's logarithm moves eps by about that over c."""
    return _ACCURACY + min(_MOST_MORE, -math.log(max(1e-300, min(1.0, saddle.c * saddle.epsilon))))


def _in_balls(composition: Composition, saddle: Saddle) -> tuple[BallInversion, BallInversion]:
    """An inversion at either end of the parameters' intervals: the profile increases in each of them."""
    accuracy = _accuracy(saddle)
    chosen = plan(composition, saddle, accuracy, 0.2)
    rounds = lay(composition, chosen.points, accuracy + 2.0 + chosen.cancellation)
    parts, square = phases(composition)
    most = MOST_PRODUCTS if all(narrow_range(*part) for part in parts) else FEW_PRODUCTS

    def at(move: Callable[[float, float], float]) -> BallInversion:
        exact = [replace(pair, shift=move(pair.shift, PARAMETER), rate=move(pair.rate, PARAMETER)) for pair, _ in parts]
        if any(pair.rate >= 1.0 for pair in exact):
            raise OutOfReach("a rate within rounding of 1")
        return invert_in_balls(rounds, exact, move(square, 8.0 * PARAMETER), chosen, accuracy, most)

    return at(widened_down), at(widened_up)
