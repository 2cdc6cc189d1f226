"""A Gaussian that is moved. The error bounds of its law: docs/theory/lattices.md, section "Transforms"."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from flint import arb
from scipy.special import ndtr

from ...mechanisms.arrays import Complex, Floats
from ..losses.atoms import laws
from ..losses.atoms.transform import Frequencies, Law, log_moment
from ..renyi import sampled_gaussian
from ..rounding import UNIT, up, widened_down, widened_up
from .location import LocationPair
from .moments import SLACK
from .order import GaussianRound, Sampling
from .tails import normal_tail

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


@dataclass(frozen=True, slots=True)
class GaussianPair(LocationPair):
    """P = N(shift, 1), Q = N(0, 1): symmetric in P and Q; shift > 0."""

    shift: float

    def moved(self, factor: float) -> Self:
        return type(self)(self.shift * factor)

    def gaussian(self) -> GaussianRound | None:
        """Without a coin."""
        return GaussianRound(self.shift)

    def words(self) -> str:
        return f"N({self.shift:.6g}, 1) against N(0, 1)"

    def profile(self, epsilon: arb) -> arb:
        """Balle, Wang 2018, arXiv 1805.06530, Theorem 8."""
        s = arb(self.shift)
        return normal_tail(epsilon / s - s / 2) - epsilon.exp() * normal_tail(epsilon / s + s / 2)

    def _divergence(self, alpha: float) -> float:
        """Mironov 2017, arXiv 1702.07476, Proposition 7."""
        value = alpha * self.shift * self.shift / 2
        return value + SLACK * value

    def _slope(self, order: float) -> tuple[float, float]:
        """The same at every order."""
        square = self.shift**2 / 2
        return widened_down(square, SLACK), widened_up(square, SLACK)

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """Mironov, Talwar, Zhang 2019, arXiv 1908.10530, for "remove"; docs/theory/rdp.md, section "Sampled pairs"."""
        return up(sampled_gaussian.log_moments(self.shift, rate, coin, alpha)[1] / (alpha - 1), 2)

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """As `divergence`."""
        return None if rate is not None else (power * (power - 1) * arb(self.shift) ** 2 / 2).exp()

    def doubled(self) -> Self:
        return replace(self, shift=2 * self.shift)

    def span(self, tail: float, lowest: float) -> tuple[float, float]:
        """exp(-x^2/2) bounds the tail beyond x >= 1."""
        reach = max(1.0, math.sqrt(-2 * math.log(tail)))
        return lowest - reach, self.shift + reach

    def masses(self, edges: Floats, centre: float) -> tuple[Floats, Floats]:
        return gaussian_masses(edges, centre)

    def log_ratio(self, x: Floats) -> tuple[Floats, Floats]:
        """s x - s^2/2."""
        s = self.shift
        return s * x - 0.5 * s * s, 4 * UNIT * (np.abs(s * x) + s * s)

    def law(self) -> Law:
        return GaussianLaw(self.shift)

    def losses(self) -> laws.Losses:
        """In closed form, with nothing to be cut."""
        return replace(LocationPair.losses(self), cut=laws.Cut())


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


def gaussian_masses(edges: Floats, centre: float) -> tuple[Floats, Floats]:
    """Masses of N(centre, 1) between consecutive edges and their relative errors.

    Narrow cells by the 8-point Gauss rule, wide ones as differences of tails, where at most a factor of 4 cancels.
    The rule's error: with w (|m| + 4) <= 2, w the width and m the midpoint, the 16th derivative of
    exp(-m y - y^2/2) is below (|m| + 4)^16 of its value, which leaves 1e-17 (docs/theory/lattices.md, "Cell masses").
    The width is taken before the centre is subtracted, so the rounding of that subtraction moves a narrow cell
    but does not change its width.
    """
    left, right = edges[:-1] - centre, edges[1:] - centre
    with np.errstate(invalid="ignore"):
        narrow = (right - left) * (0.5 * np.abs(left + right) + 4) <= 2
    mass = np.empty(left.size)
    mass[~narrow] = _tail_difference(left[~narrow], right[~narrow])
    middle, half = 0.5 * (left[narrow] + right[narrow]), 0.5 * np.diff(edges)[narrow]
    density = np.zeros(middle.size)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        density += weight * np.exp(-0.5 * (middle + half * node) ** 2)
    mass[narrow] = density * half / math.sqrt(2 * math.pi)
    nearest = np.where((left <= 0) & (right >= 0), 0.0, np.minimum(np.abs(left), np.abs(right)))
    reach = np.where(narrow, np.maximum(np.abs(left), np.abs(right)), nearest)
    # A relative error e of x is one of x^2 e in exp(-x^2/2); ndtr may add 300 UNIT, amplified by the difference.
    moved = reach * (reach + abs(centre))
    return mass, UNIT * np.where(narrow, 24 + 4 * moved, 2000 + 40 * moved)


def _tail_difference(left: Floats, right: Floats) -> Floats:
    """Phi(right) - Phi(left), by the upper tails where both are positive."""
    swap = left > 0
    a, b = np.where(swap, -right, left), np.where(swap, -left, right)
    return np.asarray(ndtr(b) - ndtr(a))
