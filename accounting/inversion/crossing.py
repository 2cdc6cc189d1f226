"""The eps at which an inversion's bounds on delta certainly pass a target: the search ends on the side that is safe."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...mechanisms.arrays import Floats

_BLUR = 0.02
"""Share of an inversion's own width within which its ends are found."""

_UNKNOWN, _FARTHEST = 1e-6, 1e300
"""The same share of eps where only one of its ends is known; and from where on nothing is looked for below."""

_STEPS = 40

_NEWTON = 4
"""Steps for many targets at once: from within a few per cent they reach all digits."""


class Bounded(Protocol):
    """An inversion laid out on a contour that crosses the real line at c."""

    @property
    def c(self) -> float:
        """Where the contour crosses the real line."""

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""


def epsilon_above(inversion: Bounded, log_delta: float, start: float) -> float:
    """Postcondition: log delta(result) <= log_delta for certain; 0 <= result <= infinity."""
    return _crossing(inversion.log_delta, 1, inversion.c, log_delta, start)[1]


def epsilon_below(inversion: Bounded, log_delta: float, start: float) -> float:
    """Postcondition: log delta(result) > log_delta for certain, or result = 0."""
    return _crossing(inversion.log_delta, 0, inversion.c, log_delta, start)[0] if start < _FARTHEST else 0.0


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
        nudge = np.maximum(2.0**-46 * trial, _BLUR * gap)
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


def _crossing(
    bounds: Callable[[float], tuple[float, float, float]], side: int, c: float, log_delta: float, start: float
) -> tuple[float, float]:
    """Two neighbouring eps: the bound is above log_delta at the first (or it is 0), and at most that at the second.

    bounds: eps to (lower, upper, about their derivative), of which `side` is the one in question. Newton's method, held
    between the two; far from where the inversion was laid out the bound need not decrease, so its derivative is not
    trusted when it is flat. A small share of the distance between the bounds is near enough.
    """
    least, most, trial, nudge = 0.0, math.inf, max(0.0, start), 2.0**-50 * start
    for _ in range(_STEPS):
        found = bounds(trial)
        value, slope = found[side], found[2]
        between = found[1] - found[0]
        blur = _BLUR * between / max(-slope, 0.1 * c) if math.isfinite(between) else _UNKNOWN * trial
        blur = max(2.0**-46 * trial, blur)
        step = (log_delta - value) / min(slope, -0.1 * c) if math.isfinite(value) else -0.9 * trial
        if value <= log_delta:
            most = trial
        else:
            least = trial
        if most == 0.0 or most - least <= max(blur, 2.0**-46 * min(most, 1e300)):
            break
        nudge = max(nudge, 0.4 * blur)
        if abs(step) <= 2.0**-48 * trial + nudge:
            step, nudge = -nudge if value <= log_delta else nudge, 4.0 * nudge
        trial = max(0.0, trial + step)
        if not (least < trial < most or trial == least == 0.0):
            trial = 0.5 * (least + most) if most < math.inf else 2.0 * least + 1.0 / c
    return least, most
