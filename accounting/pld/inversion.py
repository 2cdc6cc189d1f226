"""From transforms to the profile: delta(eps) = E_P[(1 - e^{eps-L})_+] of a sum of independent losses, both bounds.

The payoff's kink is rounded off over a half-width w, from above for upper bounds and from below for lower ones,
so that its transform falls like |s|^-(p + 2) and finitely many frequencies suffice whatever the law of L, atoms
included:

    D(eps) = sum_k (ds / 2 pi) Phi(c + i s_k) e^{-eps (c + i s_k)} M(c + i s_k) / ((c + i s_k)(c + i s_k + 1)),

the trapezoidal rule for the inverse Laplace transform on the line Re t = c. Its errors, all bounded here:
aliasing (nonnegative: it only has to be subtracted from lower bounds), truncation, rounding.
docs/theory/pld.md, section "Inversion", has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..rounding import UNIT
from .cells import Vector
from .measure import Measure
from .transform import Complex, Frequencies


def log_peak(c: float) -> float:
    """log sup_x (1 - e^-x)_+ e^-cx, so that delta(eps) <= exp(log_peak(c) + log_moment(c) - c eps)."""
    return 0.0 if c == 0 else -c * math.log1p(1 / c) - math.log1p(c)


@dataclass(frozen=True)
class Line:
    """Everything on one line Re t = c that does not depend on eps.

    terms: ds/pi times Phi M / (t (t + 1)), divided by e^{log_scale}; k = 0 has half weight.
    error: total of the terms' rounding errors and of the truncation; drift: further error for each unit of eps.
    """

    c: float
    omega: Vector
    terms: Complex
    log_scale: float
    error: float
    drift: float

    def sum(self, epsilon: float) -> tuple[float, float, float]:
        """At epsilon >= 0: the log of a scale, and D and a bound of its error in units of that scale."""
        angle = epsilon * self.omega
        value = float(np.sum(self.terms.real * np.cos(angle) + self.terms.imag * np.sin(angle)))
        scale_error = 8 * UNIT * (abs(self.log_scale) + self.c * epsilon + 4)
        return self.log_scale - self.c * epsilon, value, self.error + self.drift * epsilon + abs(value) * scale_error


@dataclass(frozen=True)
class Smoothing:
    """Z = recentring + a sum of `order` uniform variables on [-half_width/order, half_width/order], E[e^-Z] = 1.

    |E[e^{(c+is)Z}]| <= (order cosh(c half_width/order) / (half_width |s|))^order e^{c recentring}.
    """

    order: int
    half_width: float

    @classmethod
    def within(cls, grid: Frequencies, log_excess: float) -> Smoothing:
        """Truncation after the grid is about a factor 4^-order down, which is to beat e^log_excess."""
        order = max(6, math.ceil((log_excess + 4) / math.log(4)))
        return cls(order, 4 * order / float(grid.omega[-1]))

    @property
    def recentring(self) -> float:
        """log E[e^-Z0] of the centred Z0, rounded up: log of sinh(x)/x is x^2/6 - x^4/180 + x^6/2835 - ..."""
        x = self.half_width / self.order
        series = x * x / 6 - x**4 / 180 + x**6 / 2835
        return self.order * (series if x < 0.05 else math.log(math.sinh(x) / x)) * (1 + 1e-14)

    @property
    def reach(self) -> float:
        """|Z| is at most this."""
        return (self.half_width + self.recentring) * (1 + 1e-12)

    def transform(self, t: Complex) -> Complex:
        """E[e^{tZ}]."""
        x = self.half_width / self.order
        return np.asarray((np.sinh(t * x) / (t * x)) ** self.order * np.exp(t * self.recentring))

    def tail(self, c: float, top: float) -> float:
        """At least (1/pi) times the integral over s > top of |E[e^{(c+is)Z}]| / s^2."""
        x = self.half_width / self.order
        at_top = (math.cosh(c * x) / (x * top)) ** self.order * math.exp(c * self.recentring)
        return at_top / (math.pi * (self.order + 1) * top) * (1 + 1e-9)


def upper_line(measure: Measure, c: float, grid: Frequencies, smoothing: Smoothing) -> Line:
    """For upper bounds: the payoff (1 - e^{eps - x - Z})_+ averaged over Z (Jensen)."""
    return _line(measure, c, grid, smoothing, smoothing.transform(grid.line(c)), 1.0)


def lower_line(measure: Measure, c: float, grid: Frequencies, smoothing: Smoothing) -> Line:
    """For lower bounds: a1 F(eps + d) + a2 F(eps + 2d), F the averaged payoff, d the reach of Z.

    a1 + a2 = 1 and a1 e^d + a2 e^2d = 1: equal to the payoff far above eps, and nowhere above it.
    """
    t = grid.line(c)
    reach = smoothing.reach
    first = math.expm1(2 * reach) / (math.expm1(2 * reach) - math.expm1(reach))
    second = 1 - first
    combined = first * np.exp(-t * reach) + second * np.exp(-2 * t * reach)
    largest = first * math.exp(-c * reach) + abs(second) * math.exp(-2 * c * reach)
    return _line(measure, c, grid, smoothing, smoothing.transform(t) * combined, largest)


def _line(measure: Measure, c: float, grid: Frequencies, smoothing: Smoothing, kernel: Complex, largest: float) -> Line:
    phi, phi_error = measure.transform(c, grid)
    size = np.abs(phi)
    t = grid.line(c)
    weight = kernel / (t * (t + 1)) * (2 / grid.period)
    weight[0] *= 0.5
    magnitude = np.abs(weight)
    # Units lost in the kernel: sinh and its power, the shifts of up to 3 reach, pairwise sums.
    in_kernel = 256 + 32 * smoothing.order + 16 * np.abs(t) * smoothing.reach
    error = float(np.sum(magnitude * (phi_error + UNIT * in_kernel * size)))
    truncated = largest * smoothing.tail(c, float(grid.omega[-1]))
    drift = 8 * UNIT * float(np.sum(magnitude * grid.omega * size))
    return Line(c, grid.omega, weight * phi, measure.log_moment(c), (error + truncated) * (1 + 1e-9), drift)


@dataclass(frozen=True)
class Aliases:
    """Bounds e^{start - other eps} of delta(eps), for some exponents below and above c, that tame the aliases.

    log_error: of a log_moment, 1e-12 a round, generously.
    """

    c: float
    starts: tuple[tuple[float, float], ...]
    log_error: float

    @classmethod
    def of(cls, measure: Measure, c: float) -> Aliases:
        starts = ((c * share, log_peak(c * share) + measure.log_moment(c * share)) for share in _BELOW + _ABOVE)
        return cls(c, tuple(starts), 1e-12 * (measure.rounds + 1))

    def log_bound(self, epsilon: float, period: float) -> float:
        """log of a bound of the sum over m != 0 of e^{c m period} D(epsilon + m period)."""
        left = min(self._one_side(*start, epsilon, period) for start in self.starts if start[0] < self.c)
        right = min(self._one_side(*start, epsilon, period) for start in self.starts if start[0] > self.c)
        return float(np.logaddexp(left, right)) + self.log_error

    def _one_side(self, other: float, start: float, epsilon: float, period: float) -> float:
        """The geometric series over m = 1, 2, ... of e^{start - other eps - m |other - c| period}."""
        decay = abs(other - self.c) * period
        slack = 16 * UNIT * (abs(start) + other * epsilon + decay)
        return start - other * epsilon - decay - math.log(-math.expm1(-decay)) + slack

    def period(self, window: tuple[float, float], log_target: float) -> float:
        """A period whose aliases stay below about e^{log_target} on each side, at both ends of the window."""

        def needed(other: float, start: float, epsilon: float) -> float:
            return max(start - other * epsilon - log_target + 0.1, 3.0) / abs(other - self.c)

        return max(
            min(needed(*start, epsilon) for start in self.starts if (start[0] > self.c) == above)
            for epsilon in window
            for above in (False, True)
        )


_BELOW = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_ABOVE = (1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.5, 5.0, 9.0, 20.0, 50.0, 200.0)
