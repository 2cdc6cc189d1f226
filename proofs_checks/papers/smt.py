"""Statements of real arithmetic, decided by z3: proved, or a counterexample that is computed again in numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3
from z3.z3util import get_vars

from .row import Z3, Finding, Undecided

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
    return answer(claim, given) is None


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
    found = answer(claim, given)
    if found is None:
        return Finding(True, proof, {"z3": "unsat"}, vacuous=vacuous, basis=Z3)
    values = {name: float(value) for name, value in found.items()}
    checked = recheck(values)
    if not checked.violated:
        raise Undecided(f"z3's counterexample {values} does not survive its numerical recheck: {checked.numbers}")
    return Finding(False, refutation, {"z3": "sat"} | dict(checked.numbers), {"z3 model": values}, basis=Z3)


def answer(claim: Any, given: Sequence[Any], exists: Sequence[Any] = ()) -> dict[str, Fraction] | None:
    """None where the claim follows; else values for the variables under which `given` is true and the claim false.

    exists: variables for which some values have to make the claim true of all others; a refutation has no values then.
    Raises Undecided when z3 gives up.
    """
    fresh = z3.Context()  # which counterexample is found does not depend on what was asked before
    claim, given, exists = claim.translate(fresh), _translated(given, fresh), _translated(exists, fresh)
    solver = z3.Then("simplify", "nlqsat", ctx=fresh).solver() if exists else z3.Solver(ctx=fresh)
    solver.set("timeout", SECONDS * 1000)
    variables = get_vars(z3.And(*given, claim, fresh))
    if exists:
        others = [each for each in variables if not any(each.eq(one) for one in exists)]
        chosen = [each for each in given if any(v.eq(one) for v in get_vars(each) for one in exists)]
        rest = [each for each in given if not any(each.eq(one) for one in chosen)]
        matrix = z3.Implies(z3.And(*rest), claim) if rest else claim
        solver.add(z3.Not(z3.Exists(list(exists), z3.And(*chosen, z3.ForAll(others, matrix)))))
    else:
        solver.add(*given, z3.Not(claim))
    found = solver.check()
    if found == z3.unsat:
        return None
    if found != z3.sat:
        raise Undecided(f"z3: {solver.reason_unknown()} after at most {SECONDS} s")
    if exists:
        return {}
    model = solver.model()
    return {str(variable): _number(model.eval(variable, model_completion=True)) for variable in variables}


def _translated(parts: Sequence[Any], context: z3.Context) -> list[Any]:
    return [part.translate(context) for part in parts]


def _number(value: Any) -> Fraction:
    """A rational as it is; an algebraic number to 25 digits."""
    exact = value.approx(_DIGITS) if z3.is_algebraic_value(value) else value
    return Fraction(exact.as_fraction())
