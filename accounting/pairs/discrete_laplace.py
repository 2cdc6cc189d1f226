"""Discrete Laplace noise that is moved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from flint import arb

from ...mechanisms.arrays import Floats
from ..renyi import sampled_other
from ..rounding import UNIT
from .lattice import LatticePair
from .moments import from_terms
from .order import Sampling
from .pair import largest_loss
from .tails import positive


@dataclass(frozen=True, slots=True)
class DiscreteLaplacePair(LatticePair):
    """P[x] proportional to exp(-|x - shift| / scale), Q the same about 0; symmetric; shift a positive integer.

    The geometric mechanism of Ghosh, Roughgarden, Sundararajan 2009 (arXiv 0811.2841), Section 2; its sums are written
    out at each method.
    """

    scale: float
    shift: int

    def moved(self, factor: float) -> Self:
        return replace(self, scale=self.scale / factor)

    def words(self) -> str:
        return f"Laplace_Z({self.shift}, {self.scale:.6g}) against Laplace_Z(0, {self.scale:.6g})"

    def profile(self, epsilon: arb) -> arb:
        """P(X >= m) - odds Q(X >= m), largest at the first m with loss (2m - s)/scale above epsilon."""
        scale, s = arb(self.scale), self.shift
        a = (-1 / scale).exp()
        odds = epsilon.exp()
        middle = (float(epsilon.mid()) * self.scale + s) / 2
        if not math.isfinite(middle):
            middle = math.copysign(2 * s, middle)
        first = math.floor(min(max(middle, -2), s + 2))
        best = positive(1 - odds)
        for m in range(max(1, first - 1), min(s, first + 2) + 1):
            best = best.max(1 - a ** (s - m + 1) / (1 + a) - odds * a**m / (1 + a))
        return best

    def supremum(self) -> arb | None:
        return arb(self.shift) / arb(self.scale)

    def _divergence(self, alpha: float) -> float:
        """x <= 0 and x >= shift in closed form; between, a geometric series with ratio e^((2 alpha - 1) / scale)."""
        step, shift = 1 / self.scale, self.shift
        outside = -math.log1p(math.exp(-step))
        terms = [outside - alpha * shift * step, outside + (alpha - 1) * shift * step]
        if shift > 1:
            growth = (2 * alpha - 1) * step
            series = (
                growth * (shift - 1) + math.log(-math.expm1(-growth * (shift - 1))) - math.log(-math.expm1(-growth))
            )
            terms.append(math.log(-math.expm1(-step)) + outside - alpha * shift * step + series)
        return from_terms(terms, alpha, largest_loss(self))

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """x <= 0 and x >= shift in closed form, the points between one by one."""
        if rate is not None:
            return None
        a, s = (-1 / arb(self.scale)).exp(), self.shift
        between = sum((a ** (power * (s - x) + (1 - power) * x) for x in range(1, s)), arb(0)) if s <= 4096 else arb(0)
        return (1 - a) / (1 + a) * (between + (a ** (power * s) + a ** ((1 - power) * s)) / (1 - a))

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """From the likelihood ratios at x <= 0, at the points between, and at x >= shift."""
        if coin == Sampling.REPLACE:
            return sampled_other.as_hybrid(self.doubled(), rate, alpha)
        step, shift = 1 / self.scale, self.shift
        inside = np.arange(1, shift)
        outside = -math.log1p(math.exp(-step))
        log_unit = math.log(-math.expm1(-step)) + outside
        log_mass = np.concatenate(([outside], log_unit - inside * step, [outside - shift * step]))
        log_ratio = np.concatenate(([-shift * step], (2 * inside - shift) * step, [shift * step]))
        return sampled_other.of_ratios((log_mass, log_ratio), rate, coin, alpha)

    def doubled(self) -> Self:
        return replace(self, shift=2 * self.shift)

    def size(self) -> float:
        """For every tail that a double can be."""
        return 2 * self.shift

    def points(self, tail: float, lowest: int) -> Floats:
        """Outcomes beyond the centres have equal losses and are one point."""
        return np.arange(lowest, self.shift + 1, dtype=float)

    def masses(self, points: Floats, centre: int) -> tuple[Floats, Floats]:
        """(1-a)/(1+a) a^|x|, a = exp(-1/scale)."""
        away = np.abs(points - centre) / self.scale
        ends = (points == points[0]) | (points == points[-1])
        one_minus_a, one_plus_a = -math.expm1(-1 / self.scale), 1 + math.exp(-1 / self.scale)
        mass = np.exp(-away) * np.where(ends, 1.0, one_minus_a) / one_plus_a
        return mass, 4 * UNIT * (away + 16)

    def log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        """(|x| - |x - s|) / scale."""
        value = (2 * np.clip(points, 0, self.shift) - self.shift) / self.scale
        return value, 4 * UNIT * np.abs(value)
