"""Upper bounds on the moments of sampled Gaussian pairs, for every real order and every order of the neighbours.

With x the sampled likelihood ratio and y standard normal, the moment is 1 + E[excess of a power of x]
(docs/theory/rdp.md, sections "Excess" and "Sampled pairs"). All directions round up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from ...mechanisms.arrays import Floats
from ..pairs import Sampling
from ..rounding import UNIT
from .excess import log_excess, log_mixture
from .quadrature import log_integral_upper

_TAIL = 14.0
"""Gaussian tails are cut where they are e^-98 of the whole, and their bound is added."""

_FARTHEST = 2_000.0
"""In standard deviations."""

_ANGLE = 2.0
"""Largest argument of the complex likelihood ratio on the ellipses; the sampled ratio has its zeros at pi."""

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class SampledDensity:
    """exp(log density(t)) excess_power(1 - rate + rate e^(slope t)): t is centred where the ratio is 1.

    curvature 1: the standard normal density at t + shift / 2; curvature 0: e^-(t + shift / 2) / 2.
    """

    power: float
    rate: float
    shift: float
    slope: float
    curvature: int

    @property
    def singular(self) -> tuple[float, ...]:
        """Where the sampled ratio vanishes: slope t = log((1 - rate)/rate) + i pi, an odd multiple."""
        return ((math.log1p(-self.rate) - math.log(self.rate)) / self.slope,)

    @property
    def clearance(self) -> float:
        return _ANGLE / self.slope

    def log_density(self, at: Floats) -> Floats:
        y = at + self.shift / 2
        return -0.5 * y * y - _LOG_ROOT_2PI if self.curvature else -y - math.log(2)

    def log_value(self, at: Floats) -> Floats:
        log_ratio = self.slope * at
        change = self.rate * np.expm1(np.minimum(log_ratio, 600.0))
        return self.log_density(at) + log_excess(self.power, log_mixture(self.rate, log_ratio), change)

    def log_rounding(self, at: Floats, log_value: Floats) -> Floats:
        inner = 2 + self.slope - math.log1p(-self.rate) + np.abs(self.slope * at)
        density = np.abs(self.log_density(at))
        result: Floats = 40 * UNIT * (1 + np.abs(log_value) + 2 * density + (abs(self.power) + 1) * inner)
        return result

    def log_bound(self, left: Floats, right: Floats, height: Floats) -> Floats:
        """|x^p - 1 - p (x - 1)| <= |x|^p + |p| |x| + 1 + |p|, with |x| at most its value at the real part."""
        size = abs(self.power)
        shrinking = _log_shrinking(self.rate, self.slope * left, self.slope * right, self.slope * height)
        clear = shrinking < math.inf
        fall = np.where(clear, max(0.0, -self.power) * np.where(clear, shrinking, 0.0), math.inf)
        total = np.logaddexp(
            self._log_largest(self.power, left, right) + fall,
            np.logaddexp(
                self._log_largest(1.0, left, right) + math.log(size),
                self._log_largest(0.0, left, right) + math.log1p(size),
            ),
        )
        result: Floats = total + self.curvature * 0.5 * height * height
        return result

    def _log_largest(self, power: float, left: Floats, right: Floats) -> Floats:
        """log of the largest density x^power on [left, right]: its value in the middle and the steepest slope."""
        steep_left, steep_right = self._slope_bounds(power, left, right)
        middle = (left + right) / 2
        value = self.log_density(middle) + power * log_mixture(self.rate, self.slope * middle)
        result: Floats = value + (right - left) / 2 * np.maximum(np.abs(steep_left), np.abs(steep_right))
        return result

    def _slope_bounds(self, power: float, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        at_left, at_right = (power * self.slope * _share(self.rate, self.slope * t) for t in (left, right))
        low, high = np.minimum(at_left, at_right), np.maximum(at_left, at_right)
        if self.curvature:
            return low - right - self.shift / 2, high - left - self.shift / 2
        return low - 1.0, high - 1.0


def _share(rate: float, log_ratio: Floats) -> Floats:
    """rate e^z / (1 - rate + rate e^z), increasing in z."""
    result: Floats = np.exp(math.log(rate) + log_ratio - log_mixture(rate, log_ratio))
    return result


def _log_shrinking(rate: float, left: Floats, right: Floats, angle: Floats) -> Floats:
    """How far, at most, log|1 - rate + rate e^z| falls below its value at Re z, for Re z in [left, right] and
    |Im z| <= angle: the squared ratio is 1 - 2 w (1 - w)(1 - cos Im z), w the share of the second term.
    inf where the mixture may vanish."""
    shares = _share(rate, left), _share(rate, right)
    evenness = np.where(
        (shares[0] < 0.5) & (shares[1] > 0.5), 0.25, np.maximum(*(share * (1 - share) for share in shares))
    )
    shrunk = 1 - 2 * evenness * (1 - np.cos(np.minimum(angle, math.pi)))
    result: Floats = np.where(shrunk > 1e-9, -0.5 * np.log(np.maximum(shrunk, 1e-9)), math.inf)
    return result


@dataclass(frozen=True)
class ReplaceDensity:
    """normal(y) r excess_power(p / r), p and r = 1 - rate + rate e^(+-shift y - shift^2 / 2)."""

    power: float
    rate: float
    shift: float

    @property
    def singular(self) -> tuple[float, ...]:
        """Where p or r vanishes."""
        at = self.shift / 2 + (math.log1p(-self.rate) - math.log(self.rate)) / self.shift
        return at, -at

    @property
    def clearance(self) -> float:
        return _ANGLE / self.shift

    def _logs(self, at: Floats) -> tuple[Floats, Floats]:
        centre = self.shift * self.shift / 2
        return log_mixture(self.rate, self.shift * at - centre), log_mixture(self.rate, -self.shift * at - centre)

    def log_value(self, at: Floats) -> Floats:
        log_p, log_r = self._logs(at)
        centre = self.shift * self.shift / 2
        change = 2 * self.rate * np.exp(-centre - log_r) * np.sinh(np.minimum(self.shift * at, 600.0))
        return -0.5 * at * at - _LOG_ROOT_2PI + log_r + log_excess(self.power, log_p - log_r, change)

    def log_rounding(self, at: Floats, log_value: Floats) -> Floats:
        inner = 4 - 2 * math.log1p(-self.rate) + 2 * np.abs(self.shift * at) + self.shift * (1 + self.shift)
        result: Floats = 40 * UNIT * (1 + np.abs(log_value) + at * at + (abs(self.power) + 1) * inner)
        return result

    def log_bound(self, left: Floats, right: Floats, height: Floats) -> Floats:
        """r excess(p / r) = p^a r^(1-a) - r - a (p - r), with |p| and |r| at most their values at the real part."""
        size, centre = abs(self.power), self.shift * self.shift / 2
        of_p = _log_shrinking(self.rate, self.shift * left - centre, self.shift * right - centre, self.shift * height)
        of_r = _log_shrinking(self.rate, -self.shift * right - centre, -self.shift * left - centre, self.shift * height)
        shrinking, shrunk = (of_r, self.power - 1) if self.power > 0 else (of_p, size)
        clear = np.maximum(of_p, of_r) < math.inf
        fall = np.where(clear, shrunk * np.where(clear, shrinking, 0.0), math.inf)
        total = np.logaddexp(
            self._log_largest(self.power, left, right) + fall,
            np.logaddexp(
                self._log_largest(1.0, left, right) + math.log(size),
                self._log_largest(0.0, left, right) + math.log1p(size),
            ),
        )
        result: Floats = total + 0.5 * height * height
        return result

    def _log_largest(self, power: float, left: Floats, right: Floats) -> Floats:
        middle, centre = (left + right) / 2, self.shift * self.shift / 2
        log_p, log_r = self._logs(middle)
        value = -0.5 * middle * middle + power * log_p + (1 - power) * log_r
        low, high = -right, -left
        for sign, weight in ((1, power), (-1, power - 1)):
            ends = [weight * self.shift * _share(self.rate, sign * self.shift * t - centre) for t in (left, right)]
            low, high = low + np.minimum(*ends), high + np.maximum(*ends)
        result: Floats = value + (right - left) / 2 * np.maximum(np.abs(low), np.abs(high))
        return result


def log_moment_excess(shift: float, rate: float, order: Sampling, alpha: float) -> float:
    """log of an upper bound on E_Q[(dP/dQ)^alpha] - 1 for the sampled Gaussian pair; alpha > 1, 0 < rate < 1."""
    if out_of_reach(shift, order, alpha):
        return math.inf
    if order == Sampling.REPLACE:
        parts = [_replace_above(power, rate, shift) for power in (alpha, 1 - alpha)]
    elif order == Sampling.HYBRID:
        parts = [_above(power, rate, shift) for power in (alpha, 1 - alpha)]
    else:
        power = alpha if order == Sampling.REMOVE else 1 - alpha
        parts = [_above(power, rate, shift), _below(power, rate, shift)]
    return float(np.logaddexp.reduce(np.array(parts)))


def out_of_reach(shift: float, order: Sampling, alpha: float) -> bool:
    """Whether the tilt is so far that the unsampled bound is left to serve."""
    return order != Sampling.ADD and alpha * shift > _FARTHEST


def _log_tail(at: float) -> float:
    """log of the standard normal mass above `at`, rounded up."""
    value = float(log_ndtr(-at))
    return value + 2.0**-40 * (1 + abs(value))


def _above(power: float, rate: float, shift: float) -> float:
    """The part where the ratio exceeds 1, y > shift / 2.

    Beyond `high` the excess is at most x^power, whose log-slope against y is at most power shift - y; for a
    negative power it is at most |power| rate e^(shift y - shift^2 / 2).
    """
    density = SampledDensity(power, rate, shift, shift, 1)
    high = max(power, 1.0) * shift + _TAIL
    if power > 0:
        at = np.array([high - shift / 2])
        tail = float((density.log_density(at) + power * log_mixture(rate, shift * at))[0]) - math.log(_TAIL)
        tail += 2.0**-40 * (1 + abs(power) * shift * high + high * high)
    else:
        tail = math.log(-power * rate) + _log_tail(high - shift) + 2.0**-40
    return float(np.logaddexp(log_integral_upper(density, 0.0, high - shift / 2), tail))


def _below(power: float, rate: float, shift: float) -> float:
    """The part where the ratio is below 1, y < shift / 2.

    There the excess is at most its value at the smallest ratio, 1 - rate.
    """
    density = SampledDensity(power, rate, shift, shift, 1)
    log_smallest = math.log1p(-rate)
    largest = float(log_excess(power, np.array([log_smallest]), np.array([-rate]))[0])
    depth = math.sqrt(_TAIL**2 + 2 * max(0.0, power * log_smallest))
    tail = (
        largest + _log_tail(depth) + 2.0**-40 * (1 + abs(largest)) + 64 * UNIT * (abs(power) + 1) * (2 - log_smallest)
    )
    return float(np.logaddexp(log_integral_upper(density, -depth - shift / 2, 0.0), tail))


def _replace_above(power: float, rate: float, shift: float) -> float:
    """The part y > 0. Beyond `high`, r excess(p / r) is at most p^a r^(1-a), r >= 1 - rate, and the log-slope of
    p^a is at most a shift - y; for a negative power it is at most |power| rate e^(shift y - shift^2 / 2)."""
    density = ReplaceDensity(power, rate, shift)
    if power > 0:
        spare = (1 - power) * math.log1p(-rate)
        high = power * shift + math.sqrt(_TAIL**2 + 2 * spare)
        log_p = float(log_mixture(rate, np.array([shift * high - shift * shift / 2]))[0])
        tail = -0.5 * high * high + power * log_p + spare - _LOG_ROOT_2PI - math.log(_TAIL)
        tail += 2.0**-40 * (1 + power * shift * high + high * high + abs(spare))
    else:
        high = shift + _TAIL
        tail = math.log(-power * rate) + _log_tail(high - shift) + 2.0**-40
    return float(np.logaddexp(log_integral_upper(density, 0.0, high), tail))
