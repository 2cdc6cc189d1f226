"""Where to invert: tilts, thresholds and first bounds, from moments alone. Any choice is valid; good ones are fast."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .inversion import Aliases, log_peak
from .measure import Measure

ALIASES = 1e-7
"""Aliases, and what a threshold leaves out, are kept below this share of delta."""

_ROUNDING = 1e-7
"""Rounding errors, about 1e-13 a round relative to the integrand, are kept below this share of delta."""

_SHORTEST = 0.02
"""Share of epsilon below which a shorter period is of no use."""


def chernoff(measure: Measure, log_delta: float) -> tuple[float, float]:
    """The least epsilon with exp(log_peak(c) + log_moment(c) - c epsilon) <= delta over c, rounded up, and that c."""

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return (log_peak(c) + measure.log_moment(c) - log_delta) / c

    log_c = minimised(bound)
    best = bound(log_c)
    return max(0.0, best + 1e-9 * abs(best) + 1e-11 * measure.rounds / math.exp(log_c)), math.exp(log_c)


def chernoff_at(measure: Measure, epsilon: float) -> float:
    """About the least log_peak(c) + log_moment(c) - c epsilon over c, which bounds log delta(epsilon)."""

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return log_peak(c) + measure.log_moment(c) - c * epsilon

    return bound(minimised(bound))


def saddle(measure: Measure, epsilon: float) -> float:
    """The c at which the integrand of the inversion is smallest on the real line."""

    def exponent(log_c: float) -> float:
        c = math.exp(log_c)
        return measure.log_moment(c) - c * epsilon - log_c - math.log1p(c)

    return math.exp(minimised(exponent))


def best_tilt(measure: Measure, window: tuple[float, float], log_delta: float) -> float:
    """The c of the shortest period (so the finest smoothing) among those where rounding stays small."""
    largest_scale = max(2.0, math.log(_ROUNDING / (1e-13 * measure.rounds)))

    def cost(log_c: float) -> float:
        c = math.exp(log_c)
        period = Aliases.of(measure, c).period(window, log_delta + math.log(ALIASES))
        scale = measure.log_moment(c) - c * window[1] + log_peak(c) - log_delta
        return math.log(max(period, _SHORTEST * window[1])) + max(0.0, scale - largest_scale) + 0.01 * abs(scale)

    centre = math.log(saddle(measure, window[1]))
    return math.exp(minimised(cost, centre - 6, centre + 3, 19))


def minimised(function: Callable[[float], float], left: float = -9.0, right: float = 25.0, points: int = 35) -> float:
    """log c where a function is about smallest: a coarse grid, then golden section."""
    grid = np.linspace(left, right, points)
    best = int(np.argmin([function(float(point)) for point in grid]))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    from scipy.optimize import minimize_scalar  # here: it would double the time that importing the accountants takes

    return float(minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": 1e-2}).x)
