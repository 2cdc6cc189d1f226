"""The least noise, or the most rounds, cohort, rate or clip, that a claim in any currency allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...accounting import Bracket
from ...accounting.calibration.calibrate_to import TargetCalibration, calibrate_to
from ...accounting.calibration.search import SolveFor, safe_side
from ...accounting.seconds import timed
from ...mechanisms import Mechanism
from ...mechanisms.digits import as_given, interval
from ...mechanisms.notebook import InNotebook
from .currency import Against, Currency


@dataclass(frozen=True, slots=True)
class CurrencyCalibration(InNotebook):
    """found: the most favourable value that meets the claim. without_range: what the run then has of the currency
    without the range in which it is claimed; None where there is none. of: what the value is a part of, in words."""

    currency: Currency
    found: TargetCalibration
    without_range: Bracket | None
    of: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def value(self) -> float:
        """Of what was solved for."""
        return self.found.value

    def __str__(self) -> str:
        first, *places = (
            f"{name} = {as_given(value)}" for name, value in self.currency.claimed().items() if isinstance(value, float)
        )
        met = first + (f" in the range of {', '.join(places)}" if places else "")
        lines = [
            f"{safe_side(self.found.solve_for, self.value)}{self.of} meets {met}",
            f"  {self.currency.words} in {interval(self.found.amount)}; certified, in {self.seconds:.3g} s",
        ]
        if self.without_range is not None:
            lines.append(f"  Without that range {self.currency.name} is in {interval(self.without_range)}.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        ends = self.without_range
        told = {} if ends is None else {"without_range": [ends.lower, ends.upper]}
        return self.found.to_json() | self.currency.claimed() | told | {"seconds": self.seconds}


@timed
def calibrate_currency(
    build: Callable[[float], Mechanism],
    currency: Currency,
    against: Against,
    *,
    solve_for: SolveFor,
    most: float | None = None,
    rtol: float = 1e-4,
) -> CurrencyCalibration:
    """As `calibrate_to`, of a claim's currency: a rho or a mu, in the range that a place beside it names.

    >>> from dpcert import Gaussian
    >>> from dpcert.proofs_checks.claims.currency import Rho
    >>> against = Against("add-remove", "dp", None, 1e-4)
    >>> calibrate_currency(Gaussian, Rho(0.5), against, solve_for="noise_multiplier").value
    1.0
    """
    found = calibrate_to(
        build,
        lambda run: currency.bracket(run, against),
        solve_for=solve_for,
        target=currency.threshold,
        most=most,
        rtol=rtol,
        quantity=currency.name,
    )
    whole = currency.without_range()
    everywhere = None if whole is None else whole.bracket(build(found.value), against)
    return CurrencyCalibration(currency, found, everywhere)
