"""What the strongest attack gains from what a claim describes, as a band around its trade-off curve, for reports.

Coarser than accounting.risk and many times faster: a few points of the profile, each to 1%, for error rates that are
drawn and told. Both ends are certified.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...accounting import Bracket, TradeOff, tradeoff
from ...mechanisms import InputError
from ..claims.claim import Claim
from ..claims.observers import certifiable
from .worse import covering

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
