"""Laplace noise that is moved. The error bounds of its law: docs/theory/lattices.md, section "Transforms"."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from flint import arb

from ...mechanisms.arrays import Complex, Floats
from ..losses.atoms.transform import Frequencies, Law, log_moment
from ..renyi import sampled_other
from ..rounding import UNIT
from .location import LocationPair
from .moments import from_terms
from .order import Sampling
from .tails import positive


@dataclass(frozen=True, slots=True)
class LaplacePair(LocationPair):
    """P = Laplace(shift, 1), Q = Laplace(0, 1): symmetric; shift > 0."""

    shift: float

    def moved(self, factor: float) -> Self:
        return replace(self, shift=self.shift * factor)

    def words(self) -> str:
        return f"Laplace({self.shift:.6g}, 1) against Laplace(0, 1)"

    def profile(self, epsilon: arb) -> arb:
        """1 - e^{(eps - s)/2} for |eps| <= s; 0 above; 1 - e^eps below (Balle, Barthe, Gaboardi 2018, arXiv 1807.01647,
        Theorem 3)."""
        s = arb(self.shift)
        middle = 1 - ((epsilon.max(-s) - s) / 2).exp()
        return positive(middle).max(1 - epsilon.exp())

    def supremum(self) -> arb | None:
        return arb(self.shift)

    def _divergence(self, alpha: float) -> float:
        """Mironov 2017, arXiv 1702.07476, Proposition 6."""
        t = alpha - 1
        double = math.log1p(t / (t + 1))
        terms = [t * self.shift - double, math.log(t / (t + 1)) - double - alpha * self.shift]
        return from_terms(terms, alpha, self.shift)

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """Two atoms of the likelihood ratio, and Arb's integral between them."""
        if coin == Sampling.REPLACE:
            return sampled_other.as_hybrid(self.doubled(), rate, alpha)
        return sampled_other.of_laplace(self.shift, rate, coin, alpha)

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """As `divergence`."""
        if rate is not None:
            return None
        s = arb(self.shift)
        return (power * ((power - 1) * s).exp() + (power - 1) * (-power * s).exp()) / (2 * power - 1)

    def doubled(self) -> Self:
        return replace(self, shift=2 * self.shift)

    @property
    def outer(self) -> tuple[float, ...]:
        """The loss is constant outside [0, s]."""
        return -math.inf, math.inf

    def span(self, tail: float, lowest: float) -> tuple[float, float]:
        """Where it is not."""
        return lowest, self.shift

    def masses(self, edges: Floats, centre: float) -> tuple[Floats, Floats]:
        """No cell may straddle the centre: 0, s and (where it is used) -s are edges."""
        near = np.minimum(np.abs(edges[:-1] - centre), np.abs(edges[1:] - centre))
        mass = 0.5 * np.exp(-near) * -np.expm1(edges[:-1] - edges[1:])
        return mass, UNIT * (40 + 2 * (near + abs(centre)))

    def log_ratio(self, x: Floats) -> tuple[Floats, Floats]:
        """|x| - |x - s|."""
        s = self.shift
        return 2 * np.clip(x, 0.0, s) - s, np.full(x.shape, 2 * UNIT * s)

    def law(self) -> Law | None:
        return LaplaceLaw(self.shift)


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
