"""Where to invert: the line Re t = c near the saddle point, and the eps that belongs to a delta.

Nothing here is a bound: a poor c costs width or time, never validity. On the line the integrand is about e^{H(c)},
H(c) = Lambda(c) - eps c - log c - log(1 + c), which is convex; at its minimum delta(eps) is about
e^H / sqrt(2 pi H'').
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs import Composition, Sampling
from ..line import Plan, log_peak
from .densities import phases
from .integrand import farthest
from .pilot import Rough, rough

_BELOW = np.array([0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0])
_NEAR = np.array([0.75, 1.5, 2.5, 4.0, 6.0, 9.0])
_ABOVE = np.array([2.0, 4.0, 6.0, 9.0])
"""Trial lines, in units of the saddle point and of 1/deviation."""

_BELOW_ONE = np.array([0.0, 0.35, 0.65])
_ABOVE_ONE = np.array([1.5, 3.0, 6.0])

_LONG = 15.0
"""A period of so many deviations: three times what a Gaussian loss needs for a few digits."""

_STEPS = 60

_DEEP = 45.0
"""-log of what an integrand may be where it is cut, before the number of rounds."""


@dataclass(frozen=True, slots=True)
class Saddle:
    """Rough moments of a composition, and the saddle point c of eps = epsilon, where delta is about e^log_delta.

    spread: 1 / the standard deviation of the loss under the tilt c.
    """

    rounds: Rough
    c: float
    epsilon: float
    log_delta: float
    spread: float

    @property
    def skewness(self) -> float:
        """Of the loss under the tilt c: where it is not small, epsilon and log_delta belong together only roughly."""
        return abs(self.rounds.third_cumulant(self.c)) * self.spread**3

    @property
    def log_bound(self) -> float:
        """About the bound log delta(epsilon) <= Lambda(c) - c epsilon + c log c - (1+c) log(1+c)."""
        c = self.c
        return self.rounds.cumulants(c)[0] - c * self.epsilon + log_peak(c)


_FARTHEST = 1e150
"""Saddle points whose square would overflow belong to profiles below every double."""


def saddle_at_delta(composition: Composition, log_delta: float) -> Saddle:
    """Around the eps >= 0 where the profile falls to delta."""

    def excess(rounds: Rough, c: float) -> tuple[float, float]:
        found, curvature = _saddle(rounds, c)
        return found.log_delta - log_delta, c * c * curvature

    deviation, limit = _scales(composition)
    start = min(math.sqrt(-2.0 * log_delta) / deviation, limit)
    found = _search(composition, start, min(start + 10.0 / deviation, 3.0 * limit), excess)
    if found.epsilon <= 0.0:
        return saddle_at_epsilon(composition, 0.0)
    return replace(
        found, epsilon=max(0.0, found.epsilon + (found.log_delta - log_delta) / found.c), log_delta=log_delta
    )


def saddle_at_epsilon(composition: Composition, epsilon: float) -> Saddle:
    """Around a given eps, of either sign."""

    def excess(rounds: Rough, c: float) -> tuple[float, float]:
        found, curvature = _saddle(rounds, c)
        return epsilon - found.epsilon, c * curvature

    deviation, limit = _scales(composition)
    start = min((1.0 + max(0.0, epsilon) / deviation) / deviation, limit)
    if not start < _FARTHEST:
        raise OutOfReach("the saddle point is too far out for doubles")
    found = _search(composition, start, min(start + 10.0 / deviation, 3.0 * limit), excess)
    return replace(found, epsilon=epsilon, log_delta=found.log_delta + (found.epsilon - epsilon) * found.c)


def saddles_between(first: Saddle, last: Saddle, count: int) -> list[Saddle]:
    """Saddle points on the way from one to another further out."""
    rounds = last.rounds if last.c <= last.rounds.top else first.rounds
    return [_saddle(rounds, float(c))[0] for c in np.geomspace(first.c, last.c, count)]


def plan(composition: Composition, saddle: Saddle, accuracy: float, cancellation_price: float) -> Plan:
    """The line where a low price is paid for a short step and for terms that are much larger than delta.

    cancellation_price: how much of log(period) one unit of log(terms / delta) is worth.
    """
    c = saddle.c
    points = np.concatenate([c * _BELOW, c + min(saddle.spread, 0.5 * c) * _NEAR, c + saddle.spread * _ABOVE])
    points = points[points <= tallest(composition) * (1.0 + 1e-9)]
    heights, periods = _periods(composition, saddle, points, points, accuracy)
    below, above = (
        np.where(points < points[:, None], periods, math.inf),
        np.where(points > points[:, None], periods, math.inf),
    )
    period = np.maximum(below.min(axis=1), above.min(axis=1))
    best = int((np.log(period) + cancellation_price * heights).argmin())
    sides = float(points[below[best].argmin()]), float(points[above[best].argmin()])
    cancellation = max(0.0, float(heights[best]) - saddle.log_delta)
    return Plan(float(points[best]), sides, float(period[best]), saddle.epsilon, saddle.log_delta, cancellation)


def plan_above(composition: Composition, saddle: Saddle, accuracy: float) -> Plan:
    """A line for upper ends only: the one through the saddle point, unless the moments grow too fast beyond it."""
    c = saddle.c
    points = np.concatenate([c * _BELOW_ONE, [c], c + saddle.spread * _ABOVE_ONE])
    heights, periods = _periods(composition, saddle, np.array([c]), points, accuracy)
    at, n = periods[0], _BELOW_ONE.size
    period = max(float(at[:n].min()), float(at[n + 1 :].min()))
    if period * saddle.spread > _LONG:
        return replace(plan(composition, saddle, accuracy, 0.5), sides=())
    cancellation = max(0.0, float(heights[n]) - saddle.log_delta)
    return Plan(c, (), period, saddle.epsilon, saddle.log_delta, cancellation)


def tallest(composition: Composition, log_of: float = 0.0) -> float:
    """About the largest tilt at which outcomes that are left out do not matter for moments of size e^log_of."""
    parts, _ = phases(composition)
    return min((farthest(pair, _DEEP + math.log(rounds) - log_of) for pair, rounds in parts), default=math.inf)


def _periods(
    composition: Composition, saddle: Saddle, lines: Floats, points: Floats, accuracy: float
) -> tuple[Floats, Floats]:
    """About log(e^{c (L - eps)} bound) at every c of points, and the period that each asks for on each line."""
    rounds, top = saddle.rounds, float(points.max())
    if top > rounds.top:
        rounds = rough(composition, top)
    heights = rounds.log_profiles(points) - points * saddle.epsilon
    gain = np.maximum(heights + (accuracy - saddle.log_delta), 1.0)
    return heights, gain / np.maximum(np.abs(points - lines[:, None]), 1e-200)


def _search(
    composition: Composition, start: float, top: float, excess: Callable[[Rough, float], tuple[float, float]]
) -> Saddle:
    """The c where excess falls to 0, by Newton's method in log c; the quadratures are laid anew as c leaves them.

    Not by `crossing`, which knows no function that ends where the quadratures do, and any c serves.
    """
    c, low, high = start, 0.0, math.inf
    rounds = rough(composition, max(3.0 * c, top))
    most = tallest(composition)
    for _ in range(_STEPS):
        if c > most:
            c = most
            break
        if c > rounds.top:
            try:
                rounds = rough(composition, 1.5 * c)
            except OutOfReach:  # a line short of the saddle point serves too, with more cancellation
                c = rounds.top
                break
        value, slope = excess(rounds, c)
        if abs(value) < min(0.3, 0.02 * max(slope, math.sqrt(slope))):
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
    spread = 1.0 / math.sqrt(max(second, 1e-6 * curvature))
    height = value - epsilon * c - math.log(c) - math.log1p(c)
    log_delta = height - 0.5 * math.log(2.0 * math.pi * curvature)
    return Saddle(rounds, c, epsilon, log_delta, spread), curvature


def _scales(composition: Composition) -> tuple[float, float]:
    """About the total loss's standard deviation, and the c beyond which single jumps would outweigh the bulk."""
    sampled, variance = phases(composition)
    limit = math.inf
    for pair, count in sampled:
        variance += count * pair.rate**2 * math.expm1(min(pair.shift**2, 4.0))
        if pair.order == Sampling.ADD or pair.cut < math.inf:  # losses are bounded
            continue
        jump = 1.0 - 2.0 * math.log(pair.rate) / pair.shift**2 + 12.0 / (pair.shift * math.sqrt(count))
        limit = min(limit, jump)
    return math.sqrt(variance), limit
