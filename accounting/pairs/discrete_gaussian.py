"""Discrete Gaussian noise that is moved. Its users carry the uncertainty of sigma themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from flint import arb
from scipy.special import logsumexp

from ...mechanisms.arrays import Floats
from ..renyi import sampled_other
from ..rounding import PARAMETER, UNIT, widened_down, widened_up
from .lattice import LatticePair
from .moments import SLACK
from .order import Sampling

_LARGEST_SIGMA = 50.0

_RANGE = 12.0
"""Standard deviations on either side of a moment's mass that are kept."""


@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair(LatticePair):
    """P = N_Z(shift, sigma^2), Q = N_Z(0, sigma^2), on the integers; symmetric; shift a positive integer."""

    sigma: float
    shift: int

    def words(self) -> str:
        return f"N_Z({self.shift}, {self.sigma:.6g}^2) against N_Z(0, {self.sigma:.6g}^2)"

    def profile(self, epsilon: arb) -> arb | None:
        """Where the sums are short."""
        return self.summed_profile(epsilon) if self.sigma <= _LARGEST_SIGMA else None

    def summed_profile(self, epsilon: arb) -> arb:
        """P(X >= m) - odds Q(X >= m), largest at the first m with loss s (2m - s) / (2 sigma^2) above epsilon."""
        sigma, s = arb(self.sigma, self.sigma * PARAMETER), self.shift
        middle = float(epsilon.mid()) * self.sigma**2 / s + s / 2
        total = 2 * _theta_tail(sigma, 0) - 1
        odds = epsilon.exp()
        best = arb(0)
        for m in range(math.floor(middle), math.floor(middle) + 2):
            best = best.max((_theta_tail(sigma, m - s) - odds * _theta_tail(sigma, m)) / total)
        return best

    def _divergence(self, alpha: float) -> float:
        """alpha shift^2 / (2 sigma^2) + log(theta(alpha shift) / theta(0)) / (alpha - 1), and never above its first
        term. theta(c) = sum of e^(-(x - c)^2 / (2 sigma^2)) over the integers x, at most theta(0).

        Canonne, Kamath, Steinke 2020, arXiv 2004.00010, Proposition 5 and the exact ratio in its proof.
        """
        variance = self.sigma * self.sigma
        gaussian = alpha * self.shift * self.shift / (2 * variance) * (1 + SLACK)
        if self.sigma > 3:
            return gaussian
        offset = (alpha * self.shift) % 1.0
        x = np.arange(-60.0, 61.0)
        shifted, centred = (float(logsumexp(-((x - c) ** 2) / (2 * variance))) for c in (offset, 0.0))
        rounding = SLACK * (1 + alpha * self.shift) / variance
        return min(gaussian, gaussian + (shifted - centred + rounding) / (alpha - 1))

    def _slope(self, order: float) -> tuple[float, float]:
        """At most that of the Gaussian, which it tends to (Canonne, Kamath, Steinke 2020, Proposition 5)."""
        square = self.shift**2 / (2 * self.sigma**2)
        return widened_down(square, SLACK), widened_up(square, SLACK)

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """From the likelihood ratios at the integers that count."""
        if coin == Sampling.REPLACE:
            return sampled_other.as_hybrid(self.doubled(), rate, alpha)
        return sampled_other.of_discrete_gaussian(self.sigma, self.shift, rate, coin, alpha)

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """e^(power (power - 1) shift^2 / (2 sigma^2)) theta(power shift) / theta(0)."""
        if rate is not None:
            return None
        variance, centre = arb(self.sigma) ** 2, power * self.shift
        if self.sigma > 100:  # Poisson summation: theta(c) is at least 1 - 2 e^(-2 pi^2 sigma^2) of theta(0)
            ratio = 1 - 4 * (-2 * arb.pi() ** 2 * variance).exp()
        else:
            middle, reach = math.floor(float(centre.mid())), math.ceil(_RANGE * self.sigma) + 2
            kept = range(middle - reach, middle + reach)
            shifted = sum(((-((x - centre) ** 2) / (2 * variance)).exp() for x in kept), arb(0))
            around = sum(((-(arb(x) ** 2) / (2 * variance)).exp() for x in range(-reach, reach + 1)), arb(0))
            tail = (-(arb(reach) ** 2) / (2 * variance)).exp() * (1 + 2 * variance)
            ratio = shifted / (around + 2 * tail)
        return (power * (power - 1) * self.shift**2 / (2 * variance)).exp() * ratio

    def doubled(self) -> Self:
        return replace(self, shift=2 * self.shift)

    def size(self) -> float:
        """For every tail that a double can be."""
        return 100 * self.sigma + 3 * self.shift

    def points(self, tail: float, lowest: int) -> Floats:
        """P[X >= m] <= Phi(-(m-1)/sigma) <= exp(-((m-1)/sigma)^2 / 2), since Z >= sqrt(2 pi) sigma (Poisson sum)."""
        reach = math.ceil(self.sigma * math.sqrt(-2 * math.log(tail))) + 2
        return np.arange(lowest - reach, self.shift + reach + 1, dtype=float)

    def masses(self, points: Floats, centre: int) -> tuple[Floats, Floats]:
        """exp(-x^2 / (2 sigma^2)) / Z, with Z = sum over the integers."""
        squares = ((points - centre) / self.sigma) ** 2
        reach = math.ceil(40 * self.sigma) + 1
        half = np.exp(-0.5 * (np.arange(1, reach + 1) / self.sigma) ** 2)
        total = 1 + 2 * float(np.sum(half))
        return np.exp(-0.5 * squares) / total, (4 * UNIT + 2 * PARAMETER) * (squares + 16)

    def log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        """s (2x - s) / (2 sigma^2); sigma itself is uncertain by PARAMETER, here and in the masses."""
        value = self.shift * (2 * points - self.shift) / (2 * self.sigma**2)
        return value, (6 * UNIT + 2 * PARAMETER) * np.abs(value)


def _theta_tail(sigma: arb, m: int) -> arb:
    """sum over x >= m of exp(-x^2 / (2 sigma^2))."""
    if m < 0:
        return 2 * _theta_tail(sigma, 0) - 1 - _theta_tail(sigma, 1 - m)
    rate = -1 / (2 * sigma * sigma)
    term, ratio, shrink = arb(1), (rate * (2 * m + 1)).exp(), (2 * rate).exp()
    total = arb(0)
    while not (ratio < 0.99 and term < arb(2) ** -100):  # over the first term, of which far out a ball says little
        total += term
        term *= ratio
        ratio *= shrink
    return (rate * m * m).exp() * (total + arb(0).union(term / (1 - ratio)))
