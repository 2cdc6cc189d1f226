"""What dpcert calibrate is to meet: an epsilon, an attack's two error rates, or a rho or mu in its range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..accounting import Bracket, epsilon
from ..accounting.calibration.calibrate import calibrate
from ..accounting.calibration.calibrate_risk import RiskCalibration, calibrate_risk
from ..accounting.calibration.search import WHOLE, Calibration
from ..mechanisms import InputError, Mechanism
from ..mechanisms.validate import delta_below_one, number, positive
from .calibrate_problem import Problem
from .setting import Setting

if TYPE_CHECKING:
    from ..proofs_checks.claims.calibrate_currency import CurrencyCalibration
    from ..proofs_checks.claims.currency import Currency

_RTOL = 1e-4


class Target(ABC):
    """What is stated, as given: an option that is None is missing."""

    def needed(self) -> dict[str, float | None]:
        """The options that it cannot do without."""
        return {}

    @abstractmethod
    def solved(
        self, problem: Problem, asked: Setting, scheduled: bool
    ) -> Calibration | RiskCalibration | CurrencyCalibration:
        """The most favourable value that meets it."""


@dataclass(frozen=True, slots=True)
class OfEpsilon(Target):
    """An epsilon at a delta."""

    epsilon: float | None
    delta: float | None

    def needed(self) -> dict[str, float | None]:
        return {"epsilon": self.epsilon, "delta": self.delta}

    def solved(self, problem: Problem, asked: Setting, scheduled: bool) -> Calibration:
        given = asked.against() | {"epsilon": self.epsilon or 0.0, "delta": self.delta or 0.0}
        found = calibrate(problem.build, solve_for=problem.solved, most=problem.most, **given)
        known = problem.lowered(found.epsilon, found.value, lambda least: self._at(least, asked))
        if known is not found.epsilon:  # that less noise misses is not proved
            found = replace(found, epsilon=known, beyond=None)
        part = " in the last phase" if found.solve_for in WHOLE else " times the schedule's"
        return replace(problem.in_rounds(found), of=part if scheduled else "")

    def _at(self, run: Mechanism, asked: Setting) -> Bracket:
        return epsilon(run, self.delta or 0.0, **asked.against())


@dataclass(frozen=True, slots=True)
class OfErrorRates(Target):
    """The two error rates of an attack."""

    tpr: float | None
    fpr: float | None

    def needed(self) -> dict[str, float | None]:
        return {"tpr": self.tpr, "fpr": self.fpr}

    def solved(self, problem: Problem, asked: Setting, scheduled: bool) -> RiskCalibration:
        against = {name: value for name, value in asked.against().items() if name != "accountant"}
        given = against | {"tpr": self.tpr or 0.0, "fpr": self.fpr or 0.0}
        found = calibrate_risk(problem.build, solve_for=problem.solved, most=problem.most, **given)
        known = problem.lowered(found.true_positive_rate, found.value)
        return problem.in_rounds(replace(found, true_positive_rate=known))


@dataclass(frozen=True, slots=True)
class OfCurrency(Target):
    """A rho or a mu, in the range that a delta (or, for mu, a false-positive rate) beside it names, as in claims."""

    currency: Currency

    def solved(self, problem: Problem, asked: Setting, scheduled: bool) -> CurrencyCalibration:
        from ..proofs_checks.claims.calibrate_currency import calibrate_currency  # here: claims load pydantic
        from ..proofs_checks.claims.currency import Against

        against = Against(asked.relation, asked.notion, asked.participation, _RTOL)  # type: ignore[arg-type] # checked there
        rtol = _RTOL if asked.rtol is None else asked.rtol
        solving = {"solve_for": problem.solved, "most": problem.most, "rtol": rtol}
        found = calibrate_currency(problem.build, self.currency, against, **solving)  # type: ignore[arg-type]
        inner, whole = found.found, found.without_range
        inner = replace(inner, amount=problem.lowered(inner.amount, inner.value))
        whole = None if whole is None else problem.lowered(whole, inner.value)
        of = " times the schedule's" if scheduled and problem.solved in ("noise_multiplier", "clip_norm") else ""
        return replace(found, found=problem.in_rounds(inner), without_range=whole, of=of)


def target_of(
    asked: Setting,
    *,
    epsilon: float | None,
    delta: float | None,
    tpr: float | None,
    fpr: float | None,
    rho: float | None,
    mu: float | None,
) -> Target:
    """The one that the options state. InputError for two, and for options that another one has a use for."""
    named = {"tpr": tpr, "rho": rho, "mu": mu, "epsilon": epsilon}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise _left_out(given[1], named[given[1]], f": --{given[0]} already states the target")
    if rho is None and mu is None and tpr is None and fpr is None:
        return OfEpsilon(epsilon, delta)
    if asked.drop_last:
        raise _left_out("drop-last", asked.drop_last, ", unless the target is an epsilon (--epsilon and --delta)")
    if asked.accountant != "best":
        raise _left_out("accountant", asked.accountant, ", unless the target is an epsilon")
    if rho is not None or mu is not None:
        return OfCurrency(_rho(rho, delta, fpr) if rho is not None else _mu(mu, delta, fpr))
    if delta is not None:
        raise _left_out("delta", delta, ": --tpr and --fpr already state the target")
    return OfErrorRates(tpr, fpr)


def _rho(stated: float, delta: float | None, fpr: float | None) -> Currency:
    from ..proofs_checks.claims.currency import Rho

    if fpr is not None:
        raise _left_out("fpr", fpr, " beside --rho: limit its range with --delta, or state --mu instead")
    rho = positive("--rho", stated)
    return Rho.for_delta(rho, delta_below_one("--delta", delta)) if delta else Rho(rho)


def _mu(stated: float | None, delta: float | None, fpr: float | None) -> Currency:
    from ..proofs_checks.claims.currency import Mu

    if fpr is not None:
        if delta is not None:
            raise _left_out("delta", delta, ": --fpr already limits the range")
        if not 0.0 < number("--fpr", fpr) < 0.5:
            raise InputError("--fpr", fpr, "an error rate above 0 and below 1/2")
    return Mu(positive("--mu", stated), fpr or 0.0, 0.0 if delta is None else delta_below_one("--delta", delta))


def _left_out(option: str, value: object, why: str) -> InputError:
    return InputError(f"--{option}", value, f"to be left out{why}")
