"""Statements of real arithmetic, decided by z3: proved, or values that make them false."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import z3
from z3.z3util import get_vars

from .formula import evaluated
from .row import Undecided
from .stated import Stated

SECONDS = 30
_DIGITS = 25


class Reals:
    """z3's real numbers and formulas."""

    functions: Mapping[str, Callable[..., Any]] = {
        "abs": lambda x: z3.If(x < 0, -x, x),
        "min": lambda x, y: z3.If(x < y, x, y),
        "max": lambda x, y: z3.If(x < y, y, x),
    }

    def number(self, text: str) -> Any:
        """The decimal, or the fraction, as it is written."""
        return z3.RealVal(text)

    def both(self, first: Any, second: Any) -> Any:
        """And."""
        return z3.And(first, second)

    def either(self, first: Any, second: Any) -> Any:
        """Or."""
        return z3.Or(first, second)

    def negated(self, value: Any) -> Any:
        """Not."""
        return z3.Not(value)


REALS = Reals()


def follows(formula: str, claim: Stated, seconds: float = SECONDS) -> bool:
    """Whether the formula follows from what is given, for all reals. Raises Undecided when z3 gives up."""
    return counterexample(formula, claim, seconds) is None


def counterexample(formula: str, claim: Stated, seconds: float = SECONDS) -> dict[str, Fraction] | None:
    """None where the formula follows from what is given; else values under which it does not.

    With claim.exists, some values of these names have to make it true of all others; a refutation has no values then.
    Raises Undecided when z3 gives up.
    """
    values = claim.values({name: z3.Real(name) for name in claim.free}, REALS)
    wanted = _truth(evaluated(formula, values, REALS))
    given = [_truth(evaluated(each, values, REALS)) for each in claim.given]
    return answer(wanted, given, [values[name] for name in claim.exists], seconds)


def _truth(value: Any) -> Any:
    """A comparison of two numbers is Python's own."""
    return z3.BoolVal(value) if isinstance(value, bool) else value


def answer(
    claim: Any, given: Sequence[Any], exists: Sequence[Any] = (), seconds: float = SECONDS
) -> dict[str, Fraction] | None:
    """`counterexample` of z3's own formulas."""
    fresh = z3.Context()  # which counterexample is found does not depend on what was asked before
    claim, given, exists = claim.translate(fresh), _translated(given, fresh), _translated(exists, fresh)
    solver = z3.Then("simplify", "nlqsat", ctx=fresh).solver() if exists else z3.Solver(ctx=fresh)
    solver.set("timeout", round(seconds * 1000))
    variables = get_vars(z3.And(*given, claim, fresh))
    if exists:
        others = [each for each in variables if not any(each.eq(one) for one in exists)]
        chosen = [each for each in given if any(v.eq(one) for v in get_vars(each) for one in exists)]
        rest = [each for each in given if not any(each.eq(one) for one in chosen)]
        matrix = z3.Implies(z3.And(*rest), claim) if rest else claim
        every = z3.ForAll(others, matrix) if others else matrix
        solver.add(z3.Not(z3.Exists(list(exists), z3.And(*chosen, every))))
    else:
        solver.add(*given, z3.Not(claim))
    found = solver.check()
    if found == z3.unsat:
        return None
    if found != z3.sat:
        raise Undecided(f"z3: {solver.reason_unknown()} after at most {seconds:g} s")
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
