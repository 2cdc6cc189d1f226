"""Where a bound that falls meets a target: the one root finder of the accountants.

Asked for: the smallest epsilon whose certified delta is at most the target (or the largest mu, order or noise: whatever
makes a bound fall). Every point that is returned was evaluated, and the sign found there decides: a bound that is not
monotone, or a poor start, costs time or width and never validity. For an upper end search on the bound from above and
take the second of the two points, for a lower end on the bound from below and take the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ...mechanisms.arrays import Floats
from ..rounding import End

CLOSE = 2.0**-50
"""Relative distance of the two points at which a search ends."""

FARTHEST = 1e300
"""Where no point up to here is below the target, none is known."""

_STEPS = 200

_BLUR = 0.02
"""Share of an inversion's own width within which its ends are found."""

_ROUNDED = 2.0**-46
"""Relative distance below which an inversion's ends are not told apart."""

_UNKNOWN = 1e-6
"""The share of eps within which an inversion's ends are found where only one of them is known."""

_NEWTON = 4
"""Steps for many targets at once: from within a few per cent they reach all digits."""


class Excess(NamedTuple):
    """log(bound / target) at one point, of which the sign decides; about its slope there, nan where that is unknown;
    and how near to the crossing is near enough."""

    value: float
    slope: float = math.nan
    blur: float = 0.0


def over(bound: float, target: float) -> float:
    """log(bound / target) with the sign of bound - target, exactly."""
    apart = bound - target
    if abs(apart) < 0.5 * target:
        return math.log1p(apart / target) or apart
    return math.log(bound) - math.log(target) if bound > 0.0 else -math.inf


def crossing(
    excess: Callable[[float], Excess], start: float, *, close: float = CLOSE, farthest: float = FARTHEST
) -> tuple[float, float]:
    """Two neighbouring points: excess > 0 at the first (or it is 0), and excess <= 0 at the second (or it is infinite).

    Newton's method, or the secant's where no slope is known, held between the two; steps that become too small to end
    the search go past the crossing. What does not shrink is halved; while nothing was found above the target, longer
    steps are taken instead, since far from its place a bound may say nothing.
    """
    low, high, trial, grown = 0.0, math.inf, max(0.0, start), 1.0
    last, width, zero, reach = (math.nan, math.nan), math.inf, False, 1.0
    for count in range(_STEPS):
        found = excess(trial)
        zero = zero or trial == 0.0
        if found.value <= 0.0:
            high = trial
        else:
            low = trial
        blur = max(close * trial, found.blur)
        if high == 0.0 or high - low <= max(blur, close * min(high, FARTHEST)) or low >= min(high, farthest):
            break
        step, last = _step(found, trial, last, start), (trial, found.value)
        nudge = grown * max(2.0**-50 * start, 0.4 * blur)
        if abs(step) <= 2.0**-48 * trial + nudge:
            step, grown = math.copysign(nudge, found.value or -1.0), 4.0 * grown
        stalled = count % 3 == 2 and high - low > 0.5 * width
        width = high - low if count % 3 == 2 else width
        reach = 1.0 if low > 0.0 else 4.0 * reach if stalled else reach
        trial = max(0.0, trial + reach * step)
        if (stalled and low > 0.0) or not (low < trial < high or (trial == 0.0 and not zero)):
            trial = _between(low, high, start)
    return low, high


def _step(found: Excess, trial: float, last: tuple[float, float], start: float) -> float:
    """From the trial towards the crossing."""
    if found.value == -math.inf:  # the bound is 0, and perhaps everywhere
        return -0.9 * trial if trial > 1e-3 * start else -trial
    slope = found.slope
    if not slope < 0.0:
        slope = (found.value - last[1]) / (trial - last[0]) if trial != last[0] else math.nan
    if not -math.inf < slope < 0.0:
        flat = found.value <= 0.0 and last[1] <= 0.0  # perhaps below the target everywhere
        return -trial if flat else max(-0.9, min(1.0, found.value)) * trial
    return -found.value / slope


def _between(low: float, high: float, start: float) -> float:
    """The middle, of wide ranges in the ratio; beyond the first point where there is no second."""
    if high == math.inf:
        return 2.0 * low + (start or 1.0)
    return math.sqrt(low) * math.sqrt(high) if 0.0 < 4.0 * low < high else 0.5 * (low + high)


Ends = tuple[float, float]


class Bounded(Protocol):
    """An inversion laid out on a contour that crosses the real line at c."""

    @property
    def c(self) -> float:
        """Where the contour crosses the real line."""

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""


def epsilon_between(inversion: Bounded, log_deltas: Ends, start: float, known: Ends = (0.0, math.inf)) -> Ends:
    """(at most, at least) the epsilon, within what is known: for certain, log delta of the second is at most the first
    of log_deltas, and log delta of the first above the second of them (or it is 0)."""
    most = min(known[1], crossing(_excess(inversion, End.UPPER, log_deltas[0]), start, close=_ROUNDED)[1])
    if most >= FARTHEST:
        return known[0], most
    return max(known[0], crossing(_excess(inversion, End.LOWER, log_deltas[1]), most, close=_ROUNDED)[0]), most


def _excess(inversion: Bounded, end: End, log_delta: float) -> Callable[[float], Excess]:
    """Of the bound from below or from above. Far from where the inversion was laid out it need not fall:
    its derivative is not trusted where it is flat. A share of the distance between the bounds is near enough."""
    flattest = 0.1 * inversion.c

    def at(epsilon: float) -> Excess:
        found = inversion.log_delta(epsilon)
        between, slope = found[1] - found[0], found[2]
        near = between / max(-slope, flattest) if math.isfinite(between) else math.inf
        blur = _BLUR * near if near < math.inf else _UNKNOWN * epsilon
        return Excess((found[1] if end is End.UPPER else found[0]) - log_delta, min(slope, -flattest), blur)

    return at


class BoundedAtMany(Bounded, Protocol):
    """The same at many eps at once."""

    def log_deltas(self, epsilon: Floats) -> tuple[Floats, Floats, Floats]:
        """`log_delta` at each."""


def crossings(inversion: BoundedAtMany, low: Floats, high: Floats, start: Floats) -> tuple[Floats, Floats]:
    """For targets low <= high of log delta: eps at which it is certainly above high (or 0), and at most low (or inf).

    By Newton's method on the upper bound, all targets at once; what it does not settle in a few steps stays open.
    """
    trial, flattest = start, -0.1 * inversion.c
    for _ in range(_NEWTON):
        lower, upper, slope = inversion.log_deltas(trial)
        steep = np.minimum(slope, flattest)
        step = np.divide(low - upper, steep, out=np.zeros(trial.shape), where=np.isfinite(upper))
        gap = np.minimum(np.where(np.isfinite(lower), upper - lower, 0.0) + (high - low), 1.0) / -steep
        nudge = np.maximum(_ROUNDED * trial, _BLUR * gap)
        trial = np.maximum(0.0, trial + step)
        if np.all(np.abs(step) <= nudge):
            break
    least, most = np.zeros(trial.shape), np.full(trial.shape, math.inf)
    for steps in (1.0, 4.0, 16.0):
        above, below = trial + steps * nudge, np.maximum(0.0, trial - gap - steps * nudge)
        most = np.where((most == math.inf) & (inversion.log_deltas(above)[1] <= low), above, most)
        least = np.where((least == 0.0) & (inversion.log_deltas(below)[0] > high), below, least)
        if np.all((most < math.inf) & (least > 0.0)):
            break
    return least, most
