"""Statements of real arithmetic, decided by z3: proved, or values that make them false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import z3

from .formula import Algebra, Stated, evaluated, names
from .row import Undecided

SECONDS = 30
_DIGITS = 25


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": lambda x: z3.If(x < 0, -x, x),
    "min": lambda x, y: z3.If(x < y, x, y),
    "max": lambda x, y: z3.If(x < y, y, x),
}


class Question:
    """What is given by a statement, in a context of its own: no answer depends on what else was asked before."""

    def __init__(self, claim: Stated) -> None:
        self.claim, self.context = claim, z3.Context()
        self.reals = Algebra(lambda text: z3.RealVal(text, self.context), FUNCTIONS, z3.And, z3.Or, z3.Not)
        self.unknown = {name: z3.Real(name, self.context) for name in claim.free}
        self.values = claim.values(self.unknown, self.reals)
        self.given = {text: self._truth(text) for text in claim.given}

    def follows(self, formula: str, seconds: float = SECONDS) -> bool:
        """Whether the formula follows from what is given, for all reals. Raises Undecided when z3 gives up."""
        return self.counterexample(formula, seconds) is None

    def counterexample(self, formula: str, seconds: float = SECONDS) -> dict[str, Fraction] | None:
        """None where the formula follows from what is given; else values under which it does not.

        With claim.exists, some values of these names have to make it true of all others; a refutation has no values
        then. Raises Undecided when z3 gives up.
        """
        wanted, exists = self._truth(formula), self.claim.exists
        solver = self._for_all(wanted) if exists else z3.Solver(ctx=self.context)
        solver.set("timeout", round(seconds * 1000))
        if not exists:
            solver.add(*self.given.values(), z3.Not(wanted))
        found = solver.check()
        if found == z3.unsat:
            return None
        if found != z3.sat:
            raise Undecided(f"z3: {solver.reason_unknown()} after at most {seconds:g} s")
        if exists:
            return {}
        model = solver.model()
        return {name: _number(model.eval(each, model_completion=True)) for name, each in self.unknown.items()}

    def _truth(self, text: str) -> Any:
        """A formula; a comparison of two of Python's numbers is Python's own."""
        value = evaluated(text, self.values, self.reals)
        return z3.BoolVal(value, self.context) if isinstance(value, bool) else value

    def _for_all(self, wanted: Any) -> Any:
        """That no values of the names that may be chosen make it true of all others."""
        solver = z3.Then("simplify", "nlqsat", ctx=self.context).solver()
        may_choose = [self.unknown[name] for name in self.claim.exists]
        others = [each for name, each in self.unknown.items() if name not in self.claim.exists]
        chosen = [each for text, each in self.given.items() if self._about(text)]
        rest = [each for text, each in self.given.items() if not self._about(text)]
        matrix = z3.Implies(z3.And(*rest), wanted) if rest else wanted
        every = z3.ForAll(others, matrix) if others else matrix
        solver.add(z3.Not(z3.Exists(may_choose, z3.And(*chosen, every))))
        return solver

    def _about(self, text: str) -> bool:
        """Whether it is of names that may be chosen."""
        return not set(self.claim.exists).isdisjoint(names(text))


def _number(value: Any) -> Fraction:
    """A rational as it is; an algebraic number to 25 digits."""
    exact = value.approx(_DIGITS) if z3.is_algebraic_value(value) else value
    return Fraction(exact.as_fraction())
