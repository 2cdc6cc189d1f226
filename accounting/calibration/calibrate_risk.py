"""How much noise, how many rounds, how large a cohort a risk target allows: stated as an attack's two error rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...mechanisms import InputError, Mechanism, Neighbouring, Notion, PrivacyNotion, Visibility
from ...mechanisms.digits import rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import number, open_probability
from ..bracket import Bracket
from ..currencies.tradeoff import tradeoff
from ..seconds import timed
from .calibrate_to import calibrate_to
from .solve_for import Solved, SolveFor


@dataclass(frozen=True, slots=True)
class RiskCalibration(InNotebook):
    """The most favourable value found that meets the target.

    value: of `solve_for`. true_positive_rate: of the strongest attack with the target's false-positive rate, at that
    value; its upper end is at most the target. beyond: a value next to it that misses the target; None at the limit.
    tpr, fpr: what was to be met.

    >>> from dpcert.mechanisms import Gaussian
    >>> calibrate_risk(Gaussian, solve_for="noise_multiplier", tpr=0.1, fpr=0.01).true_positive_rate.at_most(0.1)
    True
    """

    solve_for: SolveFor
    value: float
    true_positive_rate: Bracket
    beyond: float | None
    tpr: float
    fpr: float
    seconds: float = field(default=0.0, compare=False, repr=False)

    def __str__(self) -> str:
        reached = rounded_up(self.true_positive_rate.upper, 5)
        return (
            f"{self.solve_for.in_words(self.value)}\n"
            f"At false-positive rate {self.fpr:g}, every attack has true-positive rate at most {reached} "
            f"(target: {self.tpr:g}). "
            f"{self.seconds:.2f} s"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        solved = {"solve_for": self.solve_for.option, "value": self.value, "tpr": self.tpr, "fpr": self.fpr}
        met = self.true_positive_rate.to_json("true_positive_rate")
        return solved | met | {"beyond": self.beyond, "seconds": self.seconds}


@timed
def calibrate_risk(
    build: Callable[[float], Mechanism],
    *,
    solve_for: Solved,
    tpr: float,
    fpr: float,
    most: float | None = None,
    neighbouring: Neighbouring | None = None,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    rtol: float = 1e-4,
) -> RiskCalibration:
    """The least noise, or the most rounds, cohort, rate or clip, for which no attack finds out more than the target.

    tpr: the largest true-positive rate that an attack with false-positive rate fpr, above 0 and at most 1/2, may have;
    above fpr. The other arguments are those of `calibrate`; the search is on the certified upper end, so that the value
    meets the target for certain. rtol: the relative distance to a value that misses, at which the search ends.

    >>> from dpcert.mechanisms import Gaussian
    >>> found = calibrate_risk(Gaussian, solve_for="noise_multiplier", tpr=0.1, fpr=0.01)
    >>> round(found.value, 3), found.true_positive_rate.at_most(0.1)  # 1 / (Phi^-1(.99) - Phi^-1(.9))
    (0.957, True)

    Raises InputError for targets out of range, and where no value meets the target.
    """
    solved = SolveFor.named("solve_for", solve_for)
    if not 0.0 < number("fpr", fpr) <= 0.5:
        raise InputError("fpr", fpr, "a false-positive rate above 0 and at most 1/2")
    if open_probability("tpr", tpr) <= fpr:
        raise InputError("tpr", tpr, f"a true-positive rate above the false-positive rate {fpr}: guessing has that one")

    def power(run: Mechanism) -> Bracket:
        against = {"notion": notion, "participation": participation}
        curve = tradeoff(run, neighbouring, points=9, narrow_at=(fpr,), rtol=rtol, **against)  # type: ignore[arg-type]
        return curve.power(fpr)

    found = calibrate_to(build, power, solve_for=solved, target=tpr, most=most, rtol=rtol, quantity="tpr")
    return RiskCalibration(solved, found.value, found.amount, found.beyond, tpr, fpr)
