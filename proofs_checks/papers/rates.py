"""Measured rates: the exponent of a power law with its confidence interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .row import Basis, Finding

ALPHA = 1e-3
"""The probability that an interval misses the exponent of an exact power law with normal log errors."""


@dataclass(frozen=True, slots=True)
class Exponent:
    """measured ~ size^value, with the two-sided interval [low, high] at confidence 1 - alpha."""

    value: float
    low: float
    high: float
    alpha: float

    def agrees_with(self, exponent: float, slack: float = 0.0) -> bool:
        """The exponent lies in the interval, widened by `slack` for what is not a power law exactly."""
        return self.low - slack <= exponent <= self.high + slack


def fitted_exponent(sizes: ArrayLike, measured: ArrayLike, alpha: float = ALPHA) -> Exponent:
    """Least squares on logarithms. sizes: (n,), positive, n >= 3; measured: (n,), positive, one a size or repeated.

    The interval is Student's, from the residuals, which holds for a power law with independent normal log errors.
    """
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(measured, dtype=float))
    off, free = x - x.mean(), len(x) - 2
    slope = float(off @ y / (off @ off))
    residuals = y - y.mean() - slope * off
    error = float(np.sqrt(residuals @ residuals / free / (off @ off)))
    reach = float(stats.t.ppf(1 - alpha / 2, free)) * error
    return Exponent(slope, slope - reach, slope + reach, alpha)


def judged(
    fit: Exponent, claim: Mapping[str, Any], what: str, basis: Basis, numbers: Mapping[str, Any], slack: float = 0.0
) -> Finding:
    """claim.exponent as that of a fit, or a bound of it on claim.side ("at most", "at least").

    slack: for what is not a power law exactly. what: the quantity, to which the exponent is added.
    """
    stated, side = claim["exponent"], claim.get("side")
    text = f"{what}^{fit.value:.3f}, between {fit.low:.3f} and {fit.high:.3f} at 99.9%"
    exact = fit.agrees_with(stated, slack)
    holds = {"at most": fit.high <= stated, "at least": fit.low >= stated}.get(side or "", exact)
    if side == "at most" and holds and not exact:
        text += f": the bound is loose, by the power {stated - fit.value:.3g}"
    measured = {"exponent": fit.value, "low": fit.low, "high": fit.high, **numbers}
    rate = (stated, fit.value)
    return Finding(holds, text, measured, error_probability=fit.alpha, basis=basis, rate=rate)
