"""Laws of the privacy loss whose transforms have a formula: Gaussian and Laplace pairs, and public coins over any law.

The error bounds are those of docs/theory/lattices.md, section "Transforms".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...rounding import UNIT, down
from .transform import Frequencies, Law, log_moment


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """P = N(s, 1), Q = N(0, 1): phi(t) = exp(s^2 t (t + 1) / 2)."""

    shift: float
    infinite: float = 0.0
    top: float = math.inf

    def log_moments(self, points: Floats) -> Floats:
        return 0.5 * self.shift**2 * points * (points + 1)

    def summit(self, price: float, least: float) -> tuple[float, float]:
        """No loss has a mass of its own."""
        return 0.0, 0.0

    def ceiling(self, mass: float) -> float:
        return math.inf

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        scaled = 0.5 * self.shift**2 * grid.omega
        value = np.exp(-scaled * grid.omega + 1j * (scaled * (2 * c + 1)))
        phase_error = 8 * scaled * (grid.omega + 2 * c + 1)
        error = UNIT * np.abs(value) * (16 + phase_error + 8 * log_moment(self, c))
        return value, error + 1e-300


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """P = Laplace(s, 1), Q = Laplace(0, 1).

    phi(t) = e^{ts}/2 + e^{-(1+t)s}/2 + (e^{ts} - e^{-(1+t)s}) / (2 (2t+1)): Mironov 2017 (arXiv 1702.07476v3),
    Proposition 6, with order t + 1.
    """

    shift: float
    infinite: float = 0.0

    @property
    def top(self) -> float:
        return self.shift

    def summit(self, price: float, least: float) -> tuple[float, float]:
        """Outcomes above s all have the largest loss."""
        return self.shift, 0.5

    def ceiling(self, mass: float) -> float:
        return self.shift

    def log_moments(self, points: Floats) -> Floats:
        small = np.exp(-(2 * points + 1) * self.shift)
        return np.asarray(points * self.shift + np.log(0.5 + 0.5 * small + 0.5 * (1 - small) / (2 * points + 1)))

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        """Relative to e^{cs}: every term is at most 1, and log_moment's argument is between 1/2 and 1."""
        phase = grid.omega * self.shift
        twice = 2 * c + 1 + 2j * grid.omega
        small = np.exp(-(2 * c + 1) * self.shift - 2j * phase)
        relative = 0.5 + 0.5 * small + 0.5 * (1 - small) / twice
        scale = math.exp(c * self.shift - log_moment(self, c))
        error = UNIT * (64 + 8 * phase + 8 * c * self.shift)
        return relative * np.exp(1j * phase) * scale, error


@dataclass(frozen=True, slots=True)
class VisibleLaw:
    """A public coin: the base law with probability `rate`, else loss 0."""

    base: Law
    rate: float

    @property
    def infinite(self) -> float:
        return self.rate * self.base.infinite

    @property
    def top(self) -> float:
        return max(0.0, self.base.top)

    def summit(self, price: float, least: float) -> tuple[float, float]:
        loss, mass = self.base.summit(price, least)
        return loss, down(self.rate * mass)

    def ceiling(self, mass: float) -> float:
        return max(0.0, self.base.ceiling(mass))

    def log_moments(self, points: Floats) -> Floats:
        return np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + self.base.log_moments(points))

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        total, base = log_moment(self, c), log_moment(self.base, c)
        out, taken = math.exp(math.log1p(-self.rate) - total), math.exp(math.log(self.rate) + base - total)
        value, error = self.base.normalised(c, grid)
        return out + taken * value, taken * error + UNIT * (64 + 4 * abs(base) + 4 * abs(total))
