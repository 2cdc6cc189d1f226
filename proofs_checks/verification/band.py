"""The certified band around a trade-off curve as the report draws it: both rates from 1e-5 to 1, logarithmic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from ...accounting.currencies.gaussian_fit import fit_curve
from ...accounting.currencies.risk_picture import DECADES, GRID, area, claimed, points
from ...mechanisms.digits import rounded_down, rounded_up
from ..claims.statement import Statement
from .exposure import Exposure

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
    promised = ""
    if statement.epsilon is not None and statement.delta is not None:
        promised = claimed(statement.threshold, statement.delta)
    rates = tuple(
        (f"{rate:g}", rounded_down(power.lower, 3), rounded_up(power.upper, 3))
        for rate, power in ((rate, found.found_out(rate)) for rate in RATES)
    )
    normal = NormalDist()
    curves = [
        (f"{mu:g}", points((rate, normal.cdf(normal.inv_cdf(rate) + mu)) for rate in GRID[:-1])) for mu in GAUSSIANS
    ]
    guess = rounded_up(found.right_guess, 4)
    return Band(area(found.found_out), promised, rates, guess, tuple(curves), _best_mu(found))


def _best_mu(found: Exposure) -> tuple[str, str] | None:
    fit = fit_curve(found.curve, 10.0**-DECADES)
    if not fit.mu.upper < math.inf:
        return None
    return rounded_up(fit.mu.upper, 4), rounded_up(fit.off.upper, 2) if found.attained else ""
