"""What a calibration is to meet: an epsilon, an attack's two error rates, or a rho or mu in its range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...accounting import epsilon
from ...accounting.calibration.calibrate import calibrate
from ...accounting.calibration.calibrate_risk import RiskCalibration, calibrate_risk
from ...accounting.calibration.problem import Problem
from ...accounting.calibration.search import Calibration
from .calibrate_currency import CurrencyCalibration, calibrate_currency
from .currency import Against, Currency

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
