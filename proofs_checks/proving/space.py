"""The variables of one relation: datasets' entries, differences and merged values, with what is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import z3

from .exact import Number
from .linear import Condition, Linear
from .work import Work

Ends = tuple[Number | None, Number | None]

HARDEST = 20_000_000
"""Steps of z3 (its rlimit, about ten seconds) after which one question is left open: then nothing is known."""


class Space:
    """Data variables, their ranges, and the facts that hold of every pair of neighbours.

    merging: values such as max(x, 0) become variables of their own (of which only the range is kept) instead of
    forking the run; more is proved of, never less.
    """

    def __init__(self, merging: bool) -> None:
        self.merging = merging
        self.work = Work()
        self.facts: list[Condition] = []
        self.ranges: dict[str, Ends] = {}
        self.whole: set[str] = set()
        self.merged: set[str] = set()
        self.touched: set[str] = set()
        """The variables of the entries in which the two datasets differ, and of the values made of them."""
        self._real: dict[str, Any] = {}
        self._formulas: dict[Any, Any] = {}
        self._solver = z3.SolverFor("QF_LRA")
        self._solver.set("ctrl_c", False)  # else z3 keeps the interrupt to itself, and says that it does not know
        self._solver.set("rlimit", HARDEST)
        self._known = self._nested = 0

    def variable(self, name: str, low: Number | None, high: Number | None, whole: bool = False) -> Linear:
        """A new variable, with its range."""
        if name not in self.ranges:
            self.ranges[name] = low, high
            itself = Linear({name: 1})
            if low is not None:
                self.facts.append(Condition(itself - low, False))
            if high is not None:
                self.facts.append(Condition(high - itself, False))
            if whole:
                self.whole.add(name)
        return Linear({name: 1})

    def auxiliary(
        self, form: Linear, name: str, low: Number | None, high: Number | None, whole: bool = False
    ) -> Linear:
        """A value made of a form, such as its maximum with 0: of which only the range is kept."""
        if not self.touched.isdisjoint(form.terms):
            self.touched.add(name)
        self.merged.add(name)
        return self.variable(name, low, high, whole)

    def atoms(self) -> list[str]:
        """What shifts are linear in: touched variables that are bounded."""
        return sorted(name for name in self.touched if None not in self.ranges[name])

    def range(self, form: Linear) -> Ends:
        """Ends between which a form without noise is, by interval arithmetic; None where there is none."""
        low: Number | None = form.constant
        high: Number | None = form.constant
        for name, factor in form.terms.items():
            ends = self.ranges.get(name, (None, None))
            least, most = ends if factor > 0 else ends[::-1]
            low = None if low is None or least is None else low + factor * least
            high = None if high is None or most is None else high + factor * most
        return low, high

    def real(self, name: str) -> Any:
        """The variable for z3."""
        if name not in self._real:
            self._real[name] = z3.Real(name)
        return self._real[name]

    def term(self, form: Linear) -> Any:
        """The form for z3."""
        parts = [self.real(k) if v == 1 else _number(v) * self.real(k) for k, v in form.terms.items()]
        if form.constant or not parts:
            parts.append(_number(form.constant))
        return parts[0] if len(parts) == 1 else z3.Sum(parts)

    def contradictory(self, solver: Any, *formulas: Any) -> bool:
        """Whether what a solver knows contradicts the formulas, for certain: one question. Raises OutOfWork."""
        self.work.question()
        return bool(solver.check(*formulas) == z3.unsat)

    def formula(self, condition: Condition) -> Any:
        """The condition for z3."""
        form = condition.form
        name = tuple(sorted(form.terms.items())), form.constant, condition.strict
        if name not in self._formulas:
            term = self.term(form)
            self._formulas[name] = term > 0 if condition.strict else term >= 0
        return self._formulas[name]

    @contextmanager
    def assuming(self, *conditions: Condition) -> Iterator[Any]:
        """A solver that knows the facts and the conditions, while the block lasts."""
        if not self._nested:
            self._solver.add(*[self.formula(fact) for fact in self.facts[self._known :]])
            self._known = len(self.facts)
        self._nested += 1
        self._solver.push()
        try:
            self._solver.add(*[self.formula(condition) for condition in conditions])
            yield self._solver
        finally:
            self._solver.pop()
            self._nested -= 1

    @property
    def depth(self) -> int:
        """How many blocks of `assuming` are open."""
        return self._nested

    def possible(self, *conditions: Condition) -> bool:
        """Whether the facts and conditions may hold together."""
        with self.assuming(*conditions) as solver:
            return not self.contradictory(solver)

    def point(self, *conditions: Condition) -> dict[str, Fraction] | None:
        """Values of all variables at which the facts and conditions hold, or None."""
        with self.assuming(*conditions) as solver:
            self.work.question()
            if solver.check() != z3.sat:
                return None
            model = solver.model()
            names = {*self.ranges, *(name for condition in conditions for name in condition.form.terms)}
            return {name: Fraction(str(model.eval(self.real(name), True))) for name in sorted(names)}


def _number(value: Number) -> Any:
    return z3.RealVal(value if isinstance(value, int) else str(value))
