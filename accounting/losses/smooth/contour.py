"""Accountant of subsampled Gaussian rounds: contour inversion with every error inside the bracket.

Serves any mix of Gaussian rounds and of subsampled ones in the remove, add, replace and hybrid orders. The
profile is an integral over a vertical line Re t = c of E[e^{tL}]^rounds, which is analytic: the trapezoidal rule
with a few dozen frequencies and about a hundred nodes each gives it to nearly all digits of a double, whatever
the number of rounds and however small delta (docs/theory/inversion.md). Where jumps are rare, outcomes too far out are
left out (shortened.py), or only those with a jump inverted (rare.py); where that does not serve either, OutOfReach is
raised, and the accountant of lattices follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from ...bracket import Bracket, OutOfReach
from ...pairs import Composition, Sampling
from ...rounding import PARAMETER, TARGET, UNIT, up, widened_down, widened_up
from ..crossing import epsilon_between
from ..line import log_peak
from . import rare
from .densities import lay, phases
from .one_line import inverted, laid
from .paths import ORDERS, Sampled
from .rounds_alone import RoundsAlone
from .saddle import Saddle, plan_above, saddle_at_delta, saddle_at_epsilon, tallest
from .shortened import cut

METHOD = "contour"

Attempt = Callable[[], Bracket]

_RARE = 1e-3
"""Sampling rate above which all outcomes are tried first."""

_SKEWED = 2.0
"""Skewness of the tilted loss from where the saddle point approximation may be far off."""

_LEFT_OUT = 0.01
"""Share of rtol times delta that outcomes left out may have."""

_FEW_DIGITS = 1e-4
"""Relative accuracy of delta where only an inequality, or about where epsilon is, is asked for."""

_NEARER = tuple(8.0**-k for k in range(5))
"""Shares of a saddle's place at which its moment is bounded, until one is within the quadrature's reach."""

_SMOOTHED = 0.5
"""Share of rtol that smoothing may use."""

_WIDE = 8.0
"""Shift beyond which a chi-squared divergence bounds nothing."""

_TRIES = 6

_NEAR, _PROGRESS, _FINEST = 0.01, 0.9, 0.1
"""Relative distance from which an inversion was laid out near enough for the next one to be finer, what share of its
width a bracket keeps that a finer one did not narrow, and how much finer the next one is at most."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds and subsampled Gaussian rounds whose coin is hidden."""
    return all((found := pair.gaussian()) is not None and found.coin in (None, *ORDERS) for pair, _ in composition)


def delta(composition: Composition, epsilon: float, rtol: float = 1e-6) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0, about rtol wide, relatively, where doubles allow it.

    Raises OutOfReach where the loss is so nearly an atom that too many frequencies would be needed.
    """
    above, below = max(0.0, widened_down(epsilon, TARGET)), widened_up(epsilon, TARGET) if epsilon else 0.0
    if above >= largest_total(composition):
        return Bracket(0.0, 0.0, True, METHOD)
    smooth = _smooth(lambda: saddle_at_epsilon(composition, epsilon))

    def whole() -> Bracket:
        return _delta(composition, (below, above), 0.0, rtol, smooth or saddle_at_epsilon(composition, epsilon))

    def near() -> Bracket:
        log_delta = RoundsAlone.of(composition).log_delta(epsilon)
        kept, mass = cut(composition, log_delta + math.log(_LEFT_OUT * rtol))
        return _delta(kept, (below, above), mass, rtol, saddle_at_epsilon(kept, epsilon))

    def jumps() -> Bracket:
        return from_logarithms(*rare.delta(composition, epsilon, rtol))

    return _first_narrow(_attempts(composition, smooth, whole, near, jumps) if epsilon else [whole], rtol)


def _delta(composition: Composition, near: tuple[float, float], mass: float, rtol: float, saddle: Saddle) -> Bracket:
    """near: next to epsilon, on either side; mass: at least the probability of the outcomes left out."""
    least, most = -math.inf, 0.0
    for _ in range(_TRIES):
        found = inverted(composition, saddle, rtol, _SMOOTHED * rtol / (saddle.c * (saddle.c + 1.0)))
        width = most - least
        least, most = max(least, found.log_delta(near[0])[0]), min(most, found.log_delta(near[1])[1])
        if most - least < rtol or most - least > 0.5 * width:
            break
        saddle = replace(saddle, log_delta=most)
    bracket = from_logarithms(least, most)
    return replace(bracket, upper=min(1.0, up(bracket.upper + mass)))


def from_logarithms(least: float, most: float) -> Bracket:
    """Of delta, from its logarithms, rounded outwards: above 0 also where that is below all doubles."""
    return Bracket(
        max(0.0, widened_down(math.exp(least), 1e-15)), min(1.0, widened_up(math.exp(most), 1e-15)), True, METHOD
    )


def epsilon(composition: Composition, delta: float, rtol: float = 1e-6) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1, at most about rtol wide, relatively.

    Raises OutOfReach where the loss is so nearly an atom that too many frequencies would be needed.
    """
    if _certain_to_hide(composition, delta):
        return Bracket(0.0, 0.0, True, METHOD)
    target = math.log(delta)
    smooth = _smooth(lambda: saddle_at_delta(composition, target))

    def whole() -> Bracket:
        return _epsilon(composition, delta, 0.0, rtol, smooth or saddle_at_delta(composition, target))

    def near() -> Bracket:
        kept, mass = cut(composition, target + math.log(_LEFT_OUT * rtol))
        saddle = saddle_at_delta(kept, target)
        if saddle.c >= 0.9 * tallest(kept):  # no saddle point
            start = RoundsAlone.of(composition).epsilon(target)
            saddle = replace(saddle_at_epsilon(kept, start), log_delta=target)
        return _epsilon(kept, delta, mass, rtol, saddle)

    def jumps() -> Bracket:
        return Bracket(*rare.epsilon(composition, delta, rtol), True, METHOD)

    return _first_narrow(_attempts(composition, smooth, whole, near, jumps), rtol)


def _smooth(search: Callable[[], Saddle]) -> Saddle | None:
    """The saddle point, unless rare jumps leave it far from what it stands for."""
    try:
        saddle = search()
    except OutOfReach:
        return None
    return saddle if saddle.skewness < _SKEWED else None


def _attempts(
    composition: Composition, smooth: Saddle | None, whole: Attempt, near: Attempt, jumps: Attempt
) -> Iterator[Attempt]:
    """In the order in which they probably serve: all outcomes, those that are not too far out, those with a jump."""
    parts, _ = phases(composition)
    whole_first = smooth is not None or max(pair.rate for pair, _ in parts) > _RARE
    if whole_first:
        yield whole
    yield near
    if rare.supports(composition):
        yield jumps
    if not whole_first:
        yield whole


def _first_narrow(attempts: Iterable[Attempt], rtol: float) -> Bracket:
    """The first narrow bracket, or what all have in common."""
    found: Bracket | None = None
    for attempt in attempts:
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                bracket = attempt()
        except (OutOfReach, FloatingPointError, OverflowError, ValueError) as failure:
            reason = str(failure)
            continue
        found = bracket if found is None else found.intersect(bracket)
        if found.narrower_than(rtol):
            break
    if found is None:
        raise OutOfReach(reason)
    return found


def _epsilon(composition: Composition, delta: float, mass: float, rtol: float, saddle: Saddle) -> Bracket:
    """mass: at least the probability of the outcomes left out."""
    target = math.log(delta)
    high = widened_up(target, TARGET) + 2.0 * TARGET
    targets = widened_down(math.log(delta - mass) - 2.0 * TARGET if mass else target, TARGET) - 2.0 * TARGET, high
    least, most = 0.0, math.inf
    steep, tolerance = saddle.c, rtol if saddle.skewness < _SKEWED else max(rtol, _FEW_DIGITS)
    for _ in range(_TRIES):
        error = tolerance * min(1.0, max(steep * saddle.epsilon, 1e-4))
        try:
            found = inverted(composition, saddle, error, _SMOOTHED * tolerance * saddle.epsilon / (1.0 + steep))
        except OutOfReach:
            if tolerance >= rtol:
                raise
            break
        width = most - least
        least, most = epsilon_between(found, targets, saddle.epsilon, (least, most))
        stuck = most - least >= (_PROGRESS if tolerance < rtol else 1.0) * width
        if most - least <= rtol * most or (tolerance <= rtol and stuck):
            break
        if (most - least) * found.c < 1.0:
            if tolerance <= rtol and abs(saddle.epsilon - most) <= _NEAR * most:
                tolerance *= max(_FINEST, 0.5 * rtol * most / (most - least))
            else:
                tolerance = rtol
            start, steep = most, max(found.c, -found.log_delta(most)[2])
        elif most - least >= _PROGRESS * width:
            break
        else:
            start = math.sqrt(least * most) if least > 0.0 and most < math.inf else 0.25 * min(most, 1e300)
        saddle = replace(saddle_at_epsilon(composition, start), log_delta=target)
    if most == math.inf:
        raise OutOfReach("the loss is too nearly an atom")
    return Bracket(least, most, True, METHOD)


def at_most(composition: Composition, epsilon: float, delta: float) -> bool:
    """Whether delta certainly suffices at epsilon: from an inversion to a few digits, a fraction of the work.

    True: the composed pair's profile at epsilon is at most delta (both within TARGET). False says nothing.
    """
    if not (0.0 < delta < 1.0 and math.isfinite(epsilon)):
        return epsilon == math.inf or delta == 1.0
    target = widened_down(math.log(delta), TARGET) - 2.0 * TARGET
    low = max(0.0, widened_down(epsilon, TARGET))
    if low >= largest_total(composition):
        return True
    accuracy = -math.log(_FEW_DIGITS)
    try:
        saddle = saddle_at_epsilon(composition, epsilon)
        if saddle.log_delta > target + 0.1:
            return False
        if saddle.log_bound < target - 0.1:
            return _moment_at_most(composition, saddle.c, low, target)
        chosen = plan_above(composition, saddle, accuracy)
        found = laid(composition, chosen, accuracy, _FEW_DIGITS / (saddle.c * (saddle.c + 1.0)))
    except OutOfReach:
        return False
    return found.log_delta(low)[1] <= target


def _moment_at_most(composition: Composition, c: float, epsilon: float, log_delta: float) -> bool:
    """Whether a moment bounds delta at epsilon so far: any c > 0 is valid, so one that is too far out for the
    quadrature (next to the largest loss it grows without end) gives way to a smaller one."""
    for smaller in _NEARER:
        at = c * smaller
        try:
            (moment,) = lay(composition, (at,), -math.log(_FEW_DIGITS)).log_moments(np.array([at]))
        except OutOfReach:
            continue
        return float(moment) + log_peak(at) - widened_down(at * epsilon, 4.0 * UNIT) <= log_delta
    return False


def _certain_to_hide(composition: Composition, delta: float) -> bool:
    """Whether delta is at least the phases' total variations together, which the profile at 0 cannot exceed."""
    parts, gaussian = phases(composition)
    apart = math.erf(math.sqrt(0.125 * gaussian)) + sum(_apart(pair, rounds) for pair, rounds in parts)
    return apart <= widened_down(delta, 1e-12)


def _apart(pair: Sampled, rounds: int) -> float:
    """At least the total variation of that many rounds, but for 1e-12 of it: the sum of all rounds', or half the root
    of the chi-squared divergence from rounds without the unit, where 1 + chi^2 multiplies (Cauchy and Schwarz);
    twice that where both are apart from those (triangle inequality)."""
    sides = 2 if pair.order == Sampling.REPLACE else 1
    each = rounds * pair.rate * math.erf(pair.shift * sides / math.sqrt(8.0))
    if pair.order == Sampling.HYBRID or pair.shift > _WIDE:
        return each
    log_square = rounds * math.log1p(pair.rate**2 * math.expm1(pair.shift**2))
    return min(each, 0.5 * sides * math.sqrt(math.expm1(min(log_square, 2.0))))


def largest_total(composition: Composition) -> float:
    """At least the largest loss of all rounds: finite in the add order, where each has at most -log(1 - rate)."""
    parts, gaussian = phases(composition)
    rates = [(widened_up(pair.rate, PARAMETER), count) for pair, count in parts]
    if gaussian or any(pair.order != Sampling.ADD for pair, _ in parts) or any(rate >= 1.0 for rate, _ in rates):
        return math.inf
    return widened_up(math.fsum(-count * math.log1p(-rate) for rate, count in rates), 1e-14)
