"""What dpcert calibrate is to meet: an epsilon, an attack's two error rates, a rho, a mu."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..accounting.calibration.calibrate import calibrate
from ..accounting.calibration.calibrate_risk import RiskCalibration, calibrate_risk
from ..accounting.calibration.search import WHOLE, Calibration
from ..mechanisms import InputError
from ..mechanisms.validate import delta_below_one, number, positive
from .calibrate_problem import Problem
from .setting import Setting

if TYPE_CHECKING:
    from ..proofs_checks.claims.calibrate_currency import CurrencyCalibration
    from ..proofs_checks.claims.currency import Currency

_RTOL = 1e-4


@dataclass(frozen=True, slots=True)
class Targets:
    """The options that state a target, as given. Each of tpr, rho and mu is one, the others say in which range."""

    epsilon: float | None
    delta: float | None
    tpr: float | None
    fpr: float | None
    rho: float | None
    mu: float | None

    def needed(self) -> dict[str, float | None]:
        """The options that the stated target cannot do without."""
        if self.rho is not None or self.mu is not None:
            return {}
        if self.tpr is not None or self.fpr is not None:
            return {"tpr": self.tpr, "fpr": self.fpr}
        return {"epsilon": self.epsilon, "delta": self.delta}

    def check(self, asked: Setting) -> None:
        """InputError for two targets, and for options that serve an epsilon alone."""
        named = {"tpr": self.tpr, "rho": self.rho, "mu": self.mu, "epsilon": self.epsilon}
        given = [name for name, value in named.items() if value is not None]
        if len(given) > 1:
            raise InputError(
                f"--{given[1]}", named[given[1]], f"to be left out: --{given[0]} already states the target"
            )
        if "epsilon" in self.needed():
            return
        if asked.drop_last:
            expected = "to be left out, unless the target is an epsilon (--epsilon and --delta)"
            raise InputError("--drop-last", asked.drop_last, expected)
        if asked.accountant != "best":
            raise InputError("--accountant", asked.accountant, "to be left out, unless the target is an epsilon")
        if "tpr" in self.needed() and self.delta is not None:
            raise InputError("--delta", self.delta, "to be left out: --tpr and --fpr already state the target")

    def solved(
        self, problem: Problem, asked: Setting, scheduled: bool
    ) -> Calibration | RiskCalibration | CurrencyCalibration:
        """The most favourable value that meets the target."""
        if "epsilon" in self.needed():
            return self._for_epsilon(problem, asked, scheduled)
        if "tpr" not in self.needed():
            return self._for_currency(problem, asked, scheduled)
        against = {name: value for name, value in asked.against().items() if name != "accountant"}
        found = calibrate_risk(
            problem.build,
            solve_for=problem.solved,
            tpr=self.tpr or 0.0,
            fpr=self.fpr or 0.0,
            most=problem.most,
            **against,
        )
        return problem.in_rounds(found)

    def _for_epsilon(self, problem: Problem, asked: Setting, scheduled: bool) -> Calibration:
        found = calibrate(
            problem.build,
            solve_for=problem.solved,
            epsilon=self.epsilon or 0.0,
            delta=self.delta or 0.0,
            most=problem.most,
            **asked.against(),
        )
        if not scheduled and asked.proved(found.epsilon) != found.epsilon:  # that less noise misses is not proved
            found = replace(found, epsilon=asked.proved(found.epsilon), beyond=None)
        part = " in the last phase" if found.solve_for in WHOLE else " times the schedule's"
        return replace(problem.in_rounds(found), of=part if scheduled else "")

    def _for_currency(self, problem: Problem, asked: Setting, scheduled: bool) -> CurrencyCalibration:
        """In the range that a delta (or, for mu, a false-positive rate) beside it names, as in claims."""
        from ..proofs_checks.claims.calibrate_currency import calibrate_currency  # here: claims load pydantic
        from ..proofs_checks.claims.currency import Against

        against = Against(asked.relation, asked.notion, asked.participation, _RTOL)  # type: ignore[arg-type] # checked there
        rtol = _RTOL if asked.rtol is None else asked.rtol
        solving = {"solve_for": problem.solved, "most": problem.most, "rtol": rtol}
        found = calibrate_currency(problem.build, self._currency(), against, **solving)  # type: ignore[arg-type]
        factor = scheduled and problem.solved in ("noise_multiplier", "clip_norm")
        return replace(found, found=problem.in_rounds(found.found), of=" times the schedule's" if factor else "")

    def _currency(self) -> Currency:
        from ..proofs_checks.claims.currency import Mu, Rho

        delta = 0.0 if self.delta is None else delta_below_one("--delta", self.delta)
        if self.rho is not None:
            if self.fpr is not None:
                raise InputError(
                    "--fpr",
                    self.fpr,
                    "to be left out beside --rho: limit its range with --delta, or state --mu instead",
                )
            rho = positive("--rho", self.rho)
            return Rho.for_delta(rho, delta) if delta else Rho(rho)
        if self.fpr is not None and self.delta is not None:
            raise InputError("--delta", self.delta, "to be left out: --fpr already limits the range")
        if self.fpr is not None and not 0.0 < number("--fpr", self.fpr) < 0.5:
            raise InputError("--fpr", self.fpr, "an error rate above 0 and below 1/2")
        return Mu(positive("--mu", self.mu), self.fpr or 0.0, delta)
