"""The exponent of a power law, with its interval over seeds or its range between neighbouring sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

ALPHA = 1e-3
"""The probability that an interval over seeds misses the mean exponent, of normal ones."""


@dataclass(frozen=True, slots=True)
class Exponent:
    """measured ~ size^value. [low, high]: at confidence 1 - alpha; without chance (alpha = 0) between neighbours."""

    value: float
    low: float
    high: float
    alpha: float

    def agrees_with(self, exponent: float, slack: float = 0.0) -> bool:
        """The exponent lies in the interval, widened by `slack` for what is not a power law exactly."""
        return self.low - slack <= exponent <= self.high + slack

    @property
    def range(self) -> str:
        """In words."""
        if self.alpha:
            return f"between {self.low:.3f} and {self.high:.3f} at {1 - self.alpha:.1%} over seeds"
        return f"from {self.low:.3f} to {self.high:.3f} between neighbours"


def fitted_exponent(sizes: ArrayLike, measured: ArrayLike, alpha: float = ALPHA) -> Exponent:
    """Least squares on logarithms. sizes: (n,), positive, n >= 3; measured: positive.

    (seeds, n): the mean of the seeds' exponents, with Student's interval; what a seed measures at several sizes may
    depend on each other. (n,): numbers in which there is no chance; how far they are from a power law shows between
    neighbouring sizes.
    """
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(measured, dtype=float))
    off = x - x.mean()
    slopes = y @ off / (off @ off)
    if y.ndim == 1:
        local = np.diff(y) / np.diff(x)
        return Exponent(float(slopes), float(local.min()), float(local.max()), 0.0)
    reach = float(stats.t.ppf(1 - alpha / 2, len(y) - 1)) * float(slopes.std(ddof=1)) / math.sqrt(len(y))
    value = float(slopes.mean())
    return Exponent(value, value - reach, value + reach, alpha)
