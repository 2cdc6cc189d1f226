"""Location families cut into cells: masses and log-likelihood ratios of N(-s), N(0), N(s) for each noise N.

Every base has the same functions: `span(tail, lowest)`, the range to cut when the centres are between `lowest`
and the shift s, outside which no centre has more than `tail` mass on a side; `outer`, the edges beyond it
(infinite where the loss is constant there, so that nothing is left out); `masses(edges, centre)`, the masses of
N(centre) between consecutive edges, with relative errors; `log_ratio(x)`, log dN(s)/dN(0) and its error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from ....mechanisms.arrays import Floats
from ...pairs import GaussianPair, LaplacePair, Pair
from ...rounding import UNIT

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


class ContinuousBase(Protocol):
    """A continuous location family with a monotone likelihood ratio."""

    @property
    def shift(self) -> float: ...

    @property
    def outer(self) -> tuple[float, ...]: ...

    def span(self, tail: float, lowest: float) -> tuple[float, float]: ...

    def masses(self, edges: Floats, centre: float) -> tuple[Floats, Floats]: ...

    def log_ratio(self, x: Floats) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True, slots=True)
class GaussianBase:
    """N = N(0, 1): log dN(s)/dN(0) = s x - s^2/2."""

    shift: float
    outer: tuple[float, ...] = ()

    def span(self, tail: float, lowest: float) -> tuple[float, float]:
        """exp(-x^2/2) bounds the tail beyond x >= 1."""
        reach = max(1.0, math.sqrt(-2 * math.log(tail)))
        return lowest - reach, self.shift + reach

    def masses(self, edges: Floats, centre: float) -> tuple[Floats, Floats]:
        return gaussian_masses(edges, centre)

    def log_ratio(self, x: Floats) -> tuple[Floats, Floats]:
        s = self.shift
        return s * x - 0.5 * s * s, 4 * UNIT * (np.abs(s * x) + s * s)


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


@dataclass(frozen=True, slots=True)
class LaplaceBase:
    """N with density exp(-|x|)/2: log dN(s)/dN(0) = |x| - |x - s|, constant outside [0, s]."""

    shift: float
    outer: tuple[float, ...] = (-math.inf, math.inf)

    def span(self, tail: float, lowest: float) -> tuple[float, float]:
        return lowest, self.shift

    def masses(self, edges: Floats, centre: float) -> tuple[Floats, Floats]:
        """No cell may straddle the centre: 0, s and (where it is used) -s are edges."""
        near = np.minimum(np.abs(edges[:-1] - centre), np.abs(edges[1:] - centre))
        mass = 0.5 * np.exp(-near) * -np.expm1(edges[:-1] - edges[1:])
        return mass, UNIT * (40 + 2 * (near + abs(centre)))

    def log_ratio(self, x: Floats) -> tuple[Floats, Floats]:
        s = self.shift
        return 2 * np.clip(x, 0.0, s) - s, np.full(x.shape, 2 * UNIT * s)


def continuous_base(pair: Pair) -> ContinuousBase | None:
    """The continuous location family of a pair; None where it is not continuous."""
    if isinstance(pair, GaussianPair):
        return GaussianBase(pair.shift)
    if isinstance(pair, LaplacePair):
        return LaplaceBase(pair.shift)
    return None
