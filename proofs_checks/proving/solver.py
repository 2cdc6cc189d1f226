"""What a search knows of the variables of one relation, and asks z3 about them. Nothing rests on its answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import z3

from .budget import Work
from .checker.forms import Form, Sign
from .checker.pairs import Data

HARDEST = 20_000_000
"""Steps of z3 (its rlimit, about ten seconds) after which one question is left open: then nothing is known."""


class Space:
    """Data variables, their ranges, and the facts that hold of every pair of neighbours.

    differing: the variables in which the two datasets differ.
    """

    def __init__(self, data: Data, differing: set[str] | None = None) -> None:
        self.data = data
        self.differing = differing or set()
        self.work = Work()
        self._real: dict[str, Any] = {}
        self._formulas: dict[Any, Any] = {}
        self._solver = z3.SolverFor("QF_LRA")
        self._solver.set("ctrl_c", False)  # else z3 keeps the interrupt to itself, and says that it does not know
        self._solver.set("rlimit", HARDEST)
        self._known = self._nested = 0

    @property
    def touched(self) -> set[str]:
        """The variables in which the two datasets differ, and those that are made of them."""
        found = set(self.differing)
        for name, made in self.data.merged.items():
            if any(not found.isdisjoint(form.slopes) for form in made.forms):
                found.add(name)
        return found

    def atoms(self) -> list[str]:
        """What shifts are linear in: touched variables that are bounded, or records."""
        return sorted(name for name in self.touched if None not in self.data.ends[name] or name in self.data.vectors)

    def real(self, name: str) -> Any:
        """The variable for z3."""
        if name not in self._real:
            self._real[name] = z3.Real(name)
        return self._real[name]

    def term(self, form: Form) -> Any:
        """The form for z3."""
        parts = [self.real(k) if v == 1 else _number(v) * self.real(k) for k, v in form.slopes.items()]
        if form.at_zero or not parts:
            parts.append(_number(form.at_zero))
        return parts[0] if len(parts) == 1 else z3.Sum(parts)

    def contradictory(self, solver: Any, *formulas: Any) -> bool:
        """Whether what a solver knows contradicts the formulas, for certain: one question. Raises OutOfWork."""
        self.work.question()
        return bool(solver.check(*formulas) == z3.unsat)

    def formula(self, sign: Sign) -> Any:
        """The sign for z3."""
        key = sign.key()
        if key not in self._formulas:
            term = self.term(sign.form)
            self._formulas[key] = term > 0 if sign.strict else term >= 0
        return self._formulas[key]

    @contextmanager
    def assuming(self, *signs: Sign) -> Iterator[Any]:
        """A solver that knows the facts and the signs, while the block lasts."""
        if not self._nested:
            self._solver.add(*[self.formula(fact) for fact in self.data.facts[self._known :]])
            self._known = len(self.data.facts)
        self._nested += 1
        self._solver.push()
        try:
            self._solver.add(*[self.formula(sign) for sign in signs])
            yield self._solver
        finally:
            self._solver.pop()
            self._nested -= 1

    @property
    def depth(self) -> int:
        """How many blocks of `assuming` are open."""
        return self._nested

    def possible(self, *signs: Sign) -> bool:
        """Whether the facts and signs may hold together."""
        with self.assuming(*signs) as solver:
            return not self.contradictory(solver)


def _number(value: Fraction) -> Any:
    return z3.RealVal(str(value))
