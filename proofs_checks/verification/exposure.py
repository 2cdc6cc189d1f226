"""What the strongest attack gains from what a claim describes, as a band around its trade-off curve, for reports.

Coarser than accounting.risk and many times faster: a few points of the profile, each to 1%, for error rates that are
drawn and told. Both ends are certified. Drawn are both rates from 1e-5 to 1, logarithmic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

from ...accounting import Bracket, TradeOff, tradeoff
from ...accounting.currencies.gaussian_fit import fit_curve
from ...accounting.currencies.risk_picture import DECADES, GRID, area, claimed, points
from ...mechanisms import InputError, Relation
from ...mechanisms.digits import rounded_down, rounded_up
from ..claims.claim import Claim, divides_by_who_is_there, hidden_and_uneven
from ..claims.observers import certifiable
from ..claims.statement import Statement


def covering(claim: Claim) -> Claim:
    """The claim itself; about replace-one, which is worse, where who leaves changes the others' weights or divisor."""
    if hidden_and_uneven(claim.statement, claim.phases) or divides_by_who_is_there(claim.statement, claim.phases):
        return replace(claim, statement=claim.statement.model_copy(update={"neighbouring": Relation.REPLACE_ONE}))
    return claim


POINTS, RTOL = 13, 1e-2
SMALLEST_DELTA = 1e-7
"""Of the smallest error rate that is drawn, 1e-5, a hundredth: lines of larger slopes are below the curve there."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """The strongest attack on one unit. attained: whether the description says how bad it is at least, too."""

    curve: TradeOff
    attained: bool

    def found_out(self, false_positive_rate: float) -> Bracket:
        """The largest true-positive rate with this false-positive rate, in [0, 1]."""
        power = self.curve.power(false_positive_rate)
        lower = power.lower if self.attained else false_positive_rate
        return Bracket(min(lower, power.upper), power.upper, power.certified, power.method)

    @property
    def right_guess(self) -> float:
        """At most so often is a guess at even odds right: half of 1 + delta(0)."""
        return min(1.0, (1.0 + self.curve.knots[0][1].upper) / 2 * (1 + 2**-50))  # rounded up


def exposure(claim: Claim) -> Exposure | None:
    """The band of a claim's run against whom the claim names.

    None where no band says anything: other observers than the notion's own, and runs without a finite epsilon.
    """
    if not certifiable(claim):
        return None
    worse = covering(claim)
    statement = worse.statement
    try:
        curve = tradeoff(
            claim.run,
            statement.neighbouring,
            notion=statement.notion,
            participation=statement.participation,
            points=POINTS,
            rtol=RTOL,
            smallest_delta=SMALLEST_DELTA,
        )
    except (InputError, ArithmeticError):
        return None
    return Exposure(curve, attained=worse is claim and claim.run == claim.attained_run)


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
