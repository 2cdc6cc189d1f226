"""Where to invert: the line Re t = c near the saddle point, and the eps that belongs to a delta.

Nothing here is a bound: a poor c costs width or time, never validity. On the line the integrand is about e^{H(c)},
H(c) = Lambda(c) - eps c - log c - log(1 + c), which is convex; at its minimum delta(eps) is about
e^H / sqrt(2 pi H'').
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..bracket import OutOfReach
from ..pairs import Composition
from .inversion import Plan
from .rough import Rough, rough
from .rounds import phases

_BELOW = np.array([0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0])
_NEAR = np.array([0.75, 1.5, 2.5, 4.0, 6.0, 9.0])
_ABOVE = np.array([2.0, 4.0, 6.0, 9.0])
"""Trial lines, in units of the saddle point and of 1/deviation."""

_STEPS = 60


@dataclass(frozen=True, slots=True)
class Saddle:
    """Rough moments of a composition, and the saddle point c of eps = epsilon, where delta is about e^log_delta."""

    rounds: Rough
    c: float
    epsilon: float
    log_delta: float


def saddle_at_delta(composition: Composition, log_delta: float) -> Saddle:
    """Around the eps >= 0 where the profile falls to delta."""

    def excess(rounds: Rough, c: float) -> tuple[float, float]:
        found, curvature = _saddle(rounds, c)
        return found.log_delta - log_delta, c * c * curvature

    deviation, limit = _scales(composition)
    found = _search(composition, min(math.sqrt(-2.0 * log_delta) / deviation, limit), excess)
    if found.epsilon <= 0.0:
        return saddle_at_epsilon(composition, 0.0)
    return Saddle(found.rounds, found.c, found.epsilon, log_delta)


def saddle_at_epsilon(composition: Composition, epsilon: float) -> Saddle:
    """Around a given eps."""

    def excess(rounds: Rough, c: float) -> tuple[float, float]:
        found, curvature = _saddle(rounds, c)
        return epsilon - found.epsilon, c * curvature

    deviation, limit = _scales(composition)
    found = _search(composition, min((1.0 + epsilon / deviation) / deviation, limit), excess)
    return Saddle(found.rounds, found.c, epsilon, found.log_delta + (found.epsilon - epsilon) * found.c)


def plan(composition: Composition, saddle: Saddle, accuracy: float, cancellation_price: float) -> Plan:
    """The line where a low price is paid for a short step and for terms that are much larger than delta.

    cancellation_price: how much of log(period) one unit of log(terms / delta) is worth.
    """
    c, rounds = saddle.c, saddle.rounds
    spread = 1.0 / math.sqrt(rounds.cumulants(c)[2])
    near = min(spread, 0.5 * c) * _NEAR
    points = np.unique(np.concatenate([c * _BELOW, c + near, c + spread * _ABOVE]))
    if points[-1] > rounds.top:
        rounds = rough(composition, float(points[-1]))
    heights = rounds.log_profiles(points) - points * saddle.epsilon
    gain = np.maximum(heights - saddle.log_delta + accuracy, 1.0)
    distance = np.abs(points[None, 1:-1] - points[:, None])
    periods = np.divide(gain[:, None], distance, out=np.full(distance.shape, math.inf), where=distance > 0.0)
    below = np.where(points[:, None] < points[None, 1:-1], periods, math.inf)
    above = np.where(points[:, None] > points[None, 1:-1], periods, math.inf)
    period = np.maximum(np.min(below, axis=0), np.min(above, axis=0))
    best = int(np.argmin(np.log(period) + cancellation_price * heights[1:-1]))
    sides = float(points[int(np.argmin(below[:, best]))]), float(points[int(np.argmin(above[:, best]))])
    cancellation = max(0.0, float(heights[1 + best]) - saddle.log_delta)
    return Plan(float(points[1 + best]), sides, float(period[best]), saddle.epsilon, saddle.log_delta, cancellation)


def _search(composition: Composition, start: float, excess: Callable[[Rough, float], tuple[float, float]]) -> Saddle:
    """The c where excess falls to 0, by Newton's method in log c; the quadratures are laid anew as c leaves them."""
    c, low, high = start, 0.0, math.inf
    rounds = rough(composition, 3.0 * c)
    for _ in range(_STEPS):
        if c > rounds.top:
            try:
                rounds = rough(composition, 1.5 * c)
            except OutOfReach:  # a line short of the saddle point serves too, with more cancellation
                c = rounds.top
                break
        value, slope = excess(rounds, c)
        if abs(value) < 0.02 * max(slope, math.sqrt(slope)):
            break
        low, high = (c, high) if value > 0.0 else (low, c)
        c *= math.exp(max(-1.0, min(1.0, value / slope)))
        if not low < c < high:
            c = math.sqrt(low * high) if high < math.inf and low > 0.0 else (2.0 * low or 0.5 * high)
    return _saddle(rounds, c)[0]


def _saddle(rounds: Rough, c: float) -> tuple[Saddle, float]:
    """The eps whose saddle point is c, about its log delta, and the curvature H''(c)."""
    value, slope, second = rounds.cumulants(c)
    epsilon = slope - 1.0 / c - 1.0 / (1.0 + c)
    curvature = max(second, 0.0) + 1.0 / c**2 + 1.0 / (1.0 + c) ** 2
    height = value - epsilon * c - math.log(c) - math.log1p(c)
    return Saddle(rounds, c, epsilon, height - 0.5 * math.log(2.0 * math.pi * curvature)), curvature


def _scales(composition: Composition) -> tuple[float, float]:
    """About the total loss's standard deviation, and the c beyond which single jumps would outweigh the bulk."""
    sampled, variance = phases(composition)
    limit = math.inf
    for pair, count in sampled:
        variance += count * pair.rate**2 * math.expm1(min(pair.shift**2, 4.0))
        jump = 1.0 - 2.0 * math.log(pair.rate) / pair.shift**2 + 12.0 / (pair.shift * math.sqrt(count))
        limit = min(limit, jump)
    return math.sqrt(variance), limit
