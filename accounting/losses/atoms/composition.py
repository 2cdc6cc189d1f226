"""The law of the whole run's loss, as a measure whose transform is known on a line: independent rounds add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...rounding import UNIT
from ..measure import Transform
from .transform import LOG_ERROR, Frequencies, Law, log_moment

Values = tuple[Complex, Floats]
"""Values at the grid's frequencies, and a bound of the error of each."""


_TINY = 1e-300


@dataclass(frozen=True)
class ProductOnLine:
    """A product on Re t = c. |phi(c + is)| is at most phi(c): smoothing makes the terms few."""

    measure: Product
    c: float
    fall: float = 0.0

    @cached_property
    def log_scale(self) -> float:
        return self.measure.log_moment(self.c)

    def log_bound(self, frequency: float) -> float:
        return self.log_scale + log_error(self.measure.rounds, self.log_scale)

    def transform(self, period: float, count: int) -> Transform:
        grid = Frequencies.covering(period, 1 << max(6, (count - 1).bit_length()))
        values, errors = self.measure.normalised(self.c, grid)
        return Transform(grid.omega, values, errors, self.log_scale, 0.1 * log_error(0, self.log_scale))


def log_error(rounds: int, log: float) -> float:
    """A bound on the error of a sum of so many rounds' log_moments."""
    return LOG_ERROR * (rounds + 1 + abs(log))


@dataclass(frozen=True)
class Product:
    """The sum of independent rounds: (law, number of rounds)."""

    laws: Sequence[tuple[Law, int]]

    @property
    def rounds(self) -> int:
        return sum(rounds for _, rounds in self.laws)

    @property
    def infinite(self) -> float:
        """P(L = inf) over all rounds, rounded to nearest."""
        if any(law.infinite >= 1 for law, _ in self.laws):
            return 1.0
        return -math.expm1(math.fsum(rounds * math.log1p(-law.infinite) for law, rounds in self.laws))

    @property
    def top(self) -> float:
        """An upper bound of the finite losses, up to rounding."""
        return math.fsum(rounds * law.top for law, rounds in self.laws)

    def log_moment(self, c: float) -> float:
        return math.fsum(rounds * log_moment(law, c) for law, rounds in self.laws)

    def log_moments(self, points: Floats) -> Floats:
        """At least the logs of the moments."""
        logs = [self.log_moment(float(c)) for c in points]
        return np.array([log + log_error(self.rounds, log) for log in logs])

    def on(self, c: float) -> ProductOnLine:
        return ProductOnLine(self, c)

    def normalised(self, c: float, grid: Frequencies) -> Values:
        return _product([(law.normalised(c, grid), rounds) for law, rounds in self.laws], grid)


def _product(factors: Sequence[tuple[Values, int]], grid: Frequencies) -> Values:
    """|prod a - prod b| <= prod (|b| + |a - b|) - prod |b|, and the powers' own rounding."""
    log_size, angle, log_bound = (np.zeros(grid.count + 1) for _ in range(3))
    with np.errstate(divide="ignore", over="ignore"):
        for (value, error), rounds in factors:
            modulus = np.abs(value)
            log_size += rounds * np.log(modulus)
            angle += rounds * np.angle(value)
            log_bound += rounds * np.log(modulus * (1 + 16 * UNIT) + error + _TINY)
        size = np.exp(log_size)
        spread = np.exp(log_bound) * -np.expm1(np.minimum(log_size - log_bound, 0.0))
    total = sum(rounds for _, rounds in factors)
    return size * np.exp(1j * angle), (spread + size * UNIT * (64 + 8 * total)) * (1 + 1e-9)
