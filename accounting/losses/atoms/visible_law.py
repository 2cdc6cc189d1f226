"""A public coin over any law of the privacy loss. Error bounds: docs/theory/lattices.md, section "Transforms"."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...rounding import UNIT, down
from .transform import Frequencies, Law, log_moment


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
