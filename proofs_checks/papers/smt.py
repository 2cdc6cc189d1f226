"""Statements of real arithmetic, decided by z3: proved, or a counterexample that is computed again in numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3
from z3.z3util import get_vars

from .row import Finding, Undecided

Values = Mapping[str, float]

SECONDS = 30
_DIGITS = 25


@dataclass(frozen=True, slots=True)
class Recheck:
    """A counterexample in double precision. violated: it does break the claim. numbers: what was computed."""

    violated: bool
    numbers: Mapping[str, float]


def proved(claim: Any, *given: Any) -> bool:
    """Whether the claim follows from what is given, for all reals. Raises Undecided when z3 gives up."""
    return _counterexample(claim, given) is None


def decide(
    claim: Any,
    given: Sequence[Any],
    recheck: Callable[[Values], Recheck],
    *,
    proof: str,
    refutation: str,
    vacuous: bool = False,
) -> Finding:
    """Holds iff the claim follows from `given` for all reals.

    recheck: the counterexample's values by variable (algebraic numbers rounded), evaluated again without z3.
    proof, refutation: the finding's sentence either way. Raises Undecided when z3 gives up, or when the
    counterexample does not survive the recheck.
    """
    values = _counterexample(claim, given)
    if values is None:
        return Finding(True, proof, {"z3": "unsat"}, vacuous=vacuous)
    checked = recheck(values)
    if not checked.violated:
        raise Undecided(f"z3's counterexample {values} does not survive its numerical recheck: {checked.numbers}")
    return Finding(False, refutation, {"z3": "sat"} | dict(checked.numbers), {"z3 model": values})


def _counterexample(claim: Any, given: Sequence[Any]) -> dict[str, float] | None:
    """Values for the variables under which `given` is true and `claim` false; None when there are none."""
    solver = z3.Solver()
    solver.set("timeout", SECONDS * 1000)
    solver.add(*given, z3.Not(claim))
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        raise Undecided(f"z3: {solver.reason_unknown()} after at most {SECONDS} s")
    model = solver.model()
    variables = get_vars(z3.And(*given, claim))
    return {str(variable): _number(model.eval(variable, model_completion=True)) for variable in variables}


def _number(value: Any) -> float:
    """A rational as it is; an algebraic number to 25 digits first."""
    exact = value.approx(_DIGITS) if z3.is_algebraic_value(value) else value
    return float(exact.as_fraction())
