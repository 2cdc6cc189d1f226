"""What a calibration is to meet: an epsilon, an attack's two error rates, or a rho or mu in its range.

Of a claim in any currency: the least noise, or the most rounds, cohort, rate or clip, that it allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...accounting import Bracket, epsilon
from ...accounting.calibration.calibrate import calibrate
from ...accounting.calibration.calibrate_risk import RiskCalibration, calibrate_risk
from ...accounting.calibration.calibrate_to import TargetCalibration, calibrate_to
from ...accounting.calibration.problem import Problem
from ...accounting.calibration.search import Calibration
from ...accounting.calibration.solve_for import Solved
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
            f"{self.found.solve_for.in_words(self.value)}{self.of} meets {met}",
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
    solve_for: Solved,
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


_RTOL = 1e-4


class Target(ABC):
    """What is stated; what is None is missing."""

    def needed(self) -> dict[str, float | None]:
        """What it cannot do without."""
        return {}

    @abstractmethod
    def solved(
        self, problem: Problem, against: Mapping[str, Any]
    ) -> Calibration | RiskCalibration | CurrencyCalibration:
        """The most favourable value that meets it. against: the keyword arguments of accounting.epsilon."""


@dataclass(frozen=True, slots=True)
class OfEpsilon(Target):
    """An epsilon at a delta."""

    epsilon: float | None
    delta: float | None

    def needed(self) -> dict[str, float | None]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def solved(self, problem: Problem, against: Mapping[str, Any]) -> Calibration:
        delta = self.delta or 0.0
        stated: dict[str, Any] = {"solve_for": problem.solved, "epsilon": self.epsilon or 0.0, "delta": delta}
        found = calibrate(problem.build, most=problem.most, **stated, **against)
        any_accountant = {**against, "accountant": "best"}
        known = problem.lowered(found.epsilon, found.value, lambda least: epsilon(least, delta, **any_accountant))
        if known is not found.epsilon:  # that less noise misses is not proved
            found = replace(found, epsilon=known, beyond=None)
        return replace(problem.in_rounds(found), of=problem.of)


@dataclass(frozen=True, slots=True)
class OfErrorRates(Target):
    """The two error rates of an attack."""

    tpr: float | None
    fpr: float | None

    def needed(self) -> dict[str, float | None]:
        return {"tpr": self.tpr, "fpr": self.fpr}

    def solved(self, problem: Problem, against: Mapping[str, Any]) -> RiskCalibration:
        asked = {name: value for name, value in against.items() if name != "accountant"}
        stated: dict[str, Any] = {"solve_for": problem.solved, "tpr": self.tpr or 0.0, "fpr": self.fpr or 0.0}
        found = calibrate_risk(problem.build, most=problem.most, **stated, **asked)
        known = problem.lowered(found.true_positive_rate, found.value)
        return problem.in_rounds(replace(found, true_positive_rate=known))


@dataclass(frozen=True, slots=True)
class OfCurrency(Target):
    """A rho or a mu, in the range that a delta (or, for mu, a false-positive rate) beside it names, as in claims."""

    currency: Currency

    def solved(self, problem: Problem, against: Mapping[str, Any]) -> CurrencyCalibration:
        whom = Against(against["neighbouring"], against["notion"], against["participation"], _RTOL)
        solving: dict[str, Any] = {"solve_for": problem.solved, "most": problem.most}
        found = calibrate_currency(problem.build, self.currency, whom, rtol=against.get("rtol", _RTOL), **solving)
        inner, whole = found.found, found.without_range
        inner = replace(inner, amount=problem.lowered(inner.amount, inner.value))
        whole = None if whole is None else problem.lowered(whole, inner.value)
        return replace(found, found=problem.in_rounds(inner), without_range=whole, of=problem.of)
