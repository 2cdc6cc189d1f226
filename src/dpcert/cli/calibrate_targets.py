"""dpcert calibrate for targets that are no epsilon: an attack's two error rates, a rho, a mu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..accounting.calibration.calibrate import safe_side
from ..accounting.calibration.calibrate_risk import calibrate_risk
from ..accounting.calibration.calibrate_to import TargetCalibration, calibrate_to
from ..mechanisms import InputError
from ..mechanisms.digits import as_given, interval
from ..mechanisms.validate import delta_below_one, number, positive
from ..presentation.output import print_json, say
from .calibrate_problem import problem_of
from .setting import Setting, timed

if TYPE_CHECKING:
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

    def is_epsilon(self) -> bool:
        """Whether no other target is stated."""
        return (self.tpr, self.fpr, self.rho, self.mu) == (None,) * 4


def to_target(asked: Setting, solve_for: str | None, stated: Targets, schedule: Path | None, as_json: bool) -> None:
    """Solve for a target other than an epsilon, and print the answer."""
    named = {"tpr": stated.tpr, "rho": stated.rho, "mu": stated.mu, "epsilon": stated.epsilon}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"--{given[1]}", named[given[1]], f"to be left out beside --{given[0]}: one target")
    if asked.drop_last:
        raise InputError("--drop-last", asked.drop_last, "--epsilon and --delta, where units are left out of an epoch")
    if asked.accountant != "best":
        raise InputError("--accountant", asked.accountant, "no accountant by name but for an epsilon")
    if stated.rho is None and stated.mu is None:
        if stated.delta is not None:
            raise InputError("--delta", stated.delta, "to be left out beside --tpr and --fpr: one target")
        _for_risk(asked, solve_for, (stated.tpr, stated.fpr), schedule, as_json)
    else:
        _for_currency(asked, solve_for, stated, schedule, as_json)


def _for_risk(
    asked: Setting,
    solve_for: str | None,
    target: tuple[float | None, float | None],
    schedule: Path | None,
    as_json: bool,
) -> None:
    """An attack's two error rates."""
    tpr, fpr = target
    problem = problem_of(asked, solve_for, schedule, tpr=tpr, fpr=fpr)
    against = {name: value for name, value in asked.against().items() if name != "accountant"}
    found, seconds = timed(
        lambda: calibrate_risk(
            problem.build, solve_for=problem.solved, tpr=tpr or 0.0, fpr=fpr or 0.0, most=problem.most, **against
        )
    )
    found = problem.in_rounds(found)
    if as_json:
        print_json(problem.at(found.value) | found.to_json() | {"seconds": seconds})
    else:
        say(f"{found} {seconds:.2f} s")


def _for_currency(asked: Setting, solve_for: str | None, stated: Targets, schedule: Path | None, as_json: bool) -> None:
    """A rho or a mu, in the range that a delta (or, for mu, a false-positive rate) beside it names, as in claims."""
    from ..proofs_checks.claims.currency import Against  # here: claims load pydantic

    problem = problem_of(asked, solve_for, schedule)
    currency = _currency(stated)
    against = Against(asked.relation, asked.notion, asked.participation, _RTOL)  # type: ignore[arg-type] # checked there

    def solve() -> TargetCalibration:
        return calibrate_to(
            problem.build,
            lambda run: currency.bracket(run, against),
            solve_for=problem.solved,
            target=currency.threshold,
            most=problem.most,
            rtol=_RTOL if asked.rtol is None else asked.rtol,
            quantity=currency.name,
        )

    found, seconds = timed(solve)
    whole = currency.without_range()
    everywhere = None if whole is None else whole.bracket(problem.build(found.value), against)
    found = problem.in_rounds(found)
    if as_json:
        told = {} if everywhere is None else {"without_range": [everywhere.lower, everywhere.upper]}
        print_json(problem.at(found.value) | found.to_json() | currency.claimed() | told | {"seconds": seconds})
        return
    scheduled = (
        " times the schedule's" if schedule is not None and problem.solved in ("noise_multiplier", "clip_norm") else ""
    )
    say(f"{safe_side(problem.solved, found.value)}{scheduled} meets {_said(currency.claimed())}")
    say(f"  {currency.words} in {interval(found.amount)}; certified, in {seconds:.3g} s")
    if everywhere is not None:
        say(f"  Without that range {currency.name} is in {interval(everywhere)}.")


def _currency(stated: Targets) -> Currency:
    from ..proofs_checks.claims.currency import Mu, Rho

    delta = 0.0 if stated.delta is None else delta_below_one("--delta", stated.delta)
    if stated.rho is not None:
        if stated.fpr is not None:
            raise InputError("--fpr", stated.fpr, "no such range beside --rho: --delta, or --mu in its place")
        rho = positive("--rho", stated.rho)
        return Rho.for_delta(rho, delta) if delta else Rho(rho)
    if stated.fpr is not None and stated.delta is not None:
        raise InputError("--delta", stated.delta, "to be left out beside --fpr: one range")
    if stated.fpr is not None and not 0.0 < number("--fpr", stated.fpr) < 0.5:
        raise InputError("--fpr", stated.fpr, "an error rate above 0 and below 1/2")
    return Mu(positive("--mu", stated.mu), stated.fpr or 0.0, delta)


def _said(claimed: Mapping[str, object]) -> str:
    first, *places = (f"{name} = {as_given(value)}" for name, value in claimed.items() if isinstance(value, float))
    return first + (f" in the range of {', '.join(places)}" if places else "")
