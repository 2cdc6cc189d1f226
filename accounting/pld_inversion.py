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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .pld_cells import Vector
from .pld_transform import Complex, Frequencies, Law
from .rounding import UNIT

Rounds = Sequence[tuple[Law, int]]


def log_moment(laws: Rounds, c: float) -> float:
    """log E[e^{cL}; L < inf] of the sum of all rounds."""
    return math.fsum(rounds * law.log_moment(c) for law, rounds in laws)


def log_peak(c: float) -> float:
    """log sup_x (1 - e^-x)_+ e^-cx, so that delta(eps) <= exp(log_peak(c) + log_moment(c) - c eps)."""
    return 0.0 if c == 0 else -c * math.log1p(1 / c) - math.log1p(c)


def infinite_mass(laws: Rounds) -> float:
    """P(L = inf) over all rounds, rounded to nearest."""
    log_finite = math.fsum(rounds * math.log1p(-min(law.infinite, 1.0)) for law, rounds in laws if law.infinite < 1)
    return 1.0 if any(law.infinite >= 1 for law, _ in laws) else -math.expm1(log_finite)


@dataclass(frozen=True)
class Line:
    """Everything on one line Re t = c that does not depend on eps.

    terms: ds/pi times Phi M / (t (t + 1)), divided by e^{log_scale}; k = 0 has half weight.
    error: total of the terms' rounding errors and of the truncation; drift: further error for each unit of eps.
    scale_error: absolute error of log_scale.
    """

    c: float
    omega: Vector
    terms: Complex
    log_scale: float
    scale_error: float
    error: float
    drift: float

    def sum(self, epsilon: float) -> tuple[float, float, float]:
        """At epsilon >= 0: the log of a scale, and D and a bound of its error in units of that scale."""
        angle = epsilon * self.omega
        value = float(np.sum(self.terms.real * np.cos(angle) + self.terms.imag * np.sin(angle)))
        scale_error = 2 * (self.scale_error + 4 * UNIT * (self.c * epsilon + 4))
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


def upper_line(laws: Rounds, c: float, grid: Frequencies, smoothing: Smoothing) -> Line:
    """For upper bounds: the payoff (1 - e^{eps - x - Z})_+ averaged over Z (Jensen)."""
    return _line(laws, c, grid, smoothing, smoothing.transform(grid.line(c)), 1.0)


def lower_line(laws: Rounds, c: float, grid: Frequencies, smoothing: Smoothing) -> Line:
    """For lower bounds: a1 F(eps + d) + a2 F(eps + 2d), F the averaged payoff, d the reach of Z.

    a1 + a2 = 1 and a1 e^d + a2 e^2d = 1: equal to the payoff far above eps, and nowhere above it.
    """
    t = grid.line(c)
    reach = smoothing.reach
    first = math.expm1(2 * reach) / (math.expm1(2 * reach) - math.expm1(reach))
    second = 1 - first
    combined = first * np.exp(-t * reach) + second * np.exp(-2 * t * reach)
    largest = first * math.exp(-c * reach) + abs(second) * math.exp(-2 * c * reach)
    return _line(laws, c, grid, smoothing, smoothing.transform(t) * combined, largest)


def _line(laws: Rounds, c: float, grid: Frequencies, smoothing: Smoothing, kernel: Complex, largest: float) -> Line:
    size, angle, phi_error = _power(laws, c, grid)
    t = grid.line(c)
    weight = kernel / (t * (t + 1)) * (2 / grid.period)
    weight[0] *= 0.5
    magnitude = np.abs(weight)
    # Units lost in the kernel: sinh and its power, the shifts of up to 3 reach, pairwise sums.
    in_kernel = 256 + 32 * smoothing.order + 16 * np.abs(t) * smoothing.reach
    error = float(np.sum(magnitude * (phi_error + UNIT * in_kernel * size)))
    truncated = largest * smoothing.tail(c, float(grid.omega[-1]))
    moments = [rounds * law.log_moment(c) for law, rounds in laws]
    return Line(
        c=c,
        omega=grid.omega,
        terms=weight * size * np.exp(1j * angle),
        log_scale=math.fsum(moments),
        scale_error=4 * UNIT * (math.fsum(map(abs, moments)) + 4),
        error=(error + truncated) * (1 + 1e-9),
        drift=8 * UNIT * float(np.sum(magnitude * grid.omega * size)),
    )


def _power(laws: Rounds, c: float, grid: Frequencies) -> tuple[Vector, Vector, Vector]:
    """Modulus and argument of Phi(c + i s) / e^{log_moment(c)}, and a bound of the error of the complex number."""
    log_size, angle, log_bound = (np.zeros(grid.count + 1) for _ in range(3))
    with np.errstate(divide="ignore"):
        for law, rounds in laws:
            value, error = law.normalised(c, grid)
            modulus = np.abs(value)
            log_size += rounds * np.log(modulus)
            angle += rounds * np.angle(value)
            log_bound += rounds * np.log(modulus * (1 + 16 * UNIT) + error)
    size = np.exp(log_size)
    # |prod a - prod b| <= prod (|b| + |a - b|) - prod |b|, and the powers' own rounding
    spread = np.exp(log_bound) * -np.expm1(np.minimum(log_size - log_bound, 0.0))
    total = sum(rounds for _, rounds in laws)
    return size, angle, spread + size * UNIT * (64 + 8 * total)


@dataclass(frozen=True)
class Aliases:
    """Bounds e^{start - other eps} of delta(eps), for some exponents below and above c, that tame the aliases."""

    c: float
    starts: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, laws: Rounds, c: float) -> Aliases:
        others = [c * share for share in _SHARES]
        return cls(c, tuple((other, log_peak(other) + log_moment(laws, other)) for other in others))

    def log_bound(self, epsilon: float, period: float) -> float:
        """log of a bound of the sum over m != 0 of e^{c m period} D(epsilon + m period)."""
        left = min(self._one_side(*start, epsilon, period) for start in self.starts if start[0] < self.c)
        right = min(self._one_side(*start, epsilon, period) for start in self.starts if start[0] > self.c)
        return float(np.logaddexp(left, right)) + 1e-9

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


_SHARES = (
    0.0,
    0.1,
    0.25,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
    1.05,
    1.1,
    1.2,
    1.35,
    1.5,
    1.75,
    2.0,
    2.5,
    3.5,
    5.0,
    9.0,
    20.0,
    50.0,
    200.0,
)
