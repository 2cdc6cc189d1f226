"""The certified band around a trade-off curve as the report draws it: both rates from 1e-5 to 1, logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

from ...accounting.currencies.gaussian_fit import fit_curve
from ...mechanisms.digits import rounded_down, rounded_up
from ..claims.statement import Statement
from .exposure import Exposure

DECADES, SIDE, STEPS = 5, 200.0, 40
GAUSSIANS = (0.5, 1.0, 2.0, 4.0)
"""mu of the curves drawn for orientation."""

RATES = (1e-1, 1e-2, 1e-3, 1e-4)
"""The false-positive rates that the report tells in numbers."""


@dataclass(frozen=True, slots=True)
class Band:
    """Points of SVG shapes in a square of SIDE, y downwards. claimed: the lines that the claim promises; or nothing.

    gaussians: the curves of a few mu, for orientation.

    rates: (false-positive rate, true-positive rate at least, at most), in words. right_guess: at most, in words.

    best_mu: of the Gaussian curve that describes the band best from above at the error rates drawn, and by how much at
    most it overstates the true-positive rate (nothing where that is not known); None where no mu is.
    """

    area: str
    claimed: str
    rates: tuple[tuple[str, str, str], ...]
    right_guess: str
    gaussians: tuple[tuple[str, str], ...]
    best_mu: tuple[str, str] | None


def band(found: Exposure | None, statement: Statement) -> Band | None:
    """What to draw of it; None where there is nothing."""
    if found is None:
        return None
    grid = [10 ** (-DECADES * (1 - step / STEPS)) for step in range(STEPS + 1)]
    powers = [(rate, found.found_out(rate)) for rate in grid]
    above = [(rate, power.upper) for rate, power in powers]
    below = [(rate, power.lower) for rate, power in reversed(powers)]
    claimed = []
    if statement.epsilon is not None and statement.delta is not None:
        claimed = [(rate, allowed(rate, statement.threshold, statement.delta)) for rate in grid]
    rates = tuple(
        (f"{rate:g}", rounded_down(power.lower, 3), rounded_up(power.upper, 3))
        for rate, power in ((rate, found.found_out(rate)) for rate in RATES)
    )
    normal = NormalDist()
    curves = [
        (f"{mu:g}", _points((rate, normal.cdf(normal.inv_cdf(rate) + mu)) for rate in grid[:-1])) for mu in GAUSSIANS
    ]
    guess = rounded_up(found.right_guess, 4)
    return Band(_points([*above, *below]), _points(claimed), rates, guess, tuple(curves), _best_mu(found))


def _best_mu(found: Exposure) -> tuple[str, str] | None:
    fit = fit_curve(found.curve, 10.0**-DECADES)
    if not fit.mu.upper < math.inf:
        return None
    return rounded_up(fit.mu.upper, 4), rounded_up(fit.off.upper, 2) if found.attained else ""


def allowed(rate: float, epsilon: float, delta: float) -> float:
    """The largest true-positive rate that (epsilon, delta)-DP allows (Wasserman, Zhou 2010; Kairouz et al. 2015)."""
    rising = delta + math.exp(min(epsilon + math.log(rate), 1.0))
    flat = 1.0 - math.exp(-epsilon) * max(0.0, 1.0 - delta - rate)
    return min(1.0, rising, flat)


def _points(pairs: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_place(x):.1f},{SIDE - _place(y):.1f}" for x, y in pairs)


def _place(rate: float) -> float:
    return SIDE * (1 + math.log10(min(max(rate, 10**-DECADES), 1.0)) / DECADES)
