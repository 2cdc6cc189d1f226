"""Linear programs whose unknowns are coefficients of forms.

By Farkas' lemma every "for all data and noise" is "there are multipliers". Floating point: a suggestion, that the
checker proves exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from .checker.forms import Form

Unknown = dict[int, float]
"""A linear expression in the program's unknowns; -1 stands for the constant 1."""
Row = dict[str, float]
CONSTANT = ""
TIDY = 1e-5
"""Price of a coefficient, so that shifts that cost nothing are not arbitrary."""
DENOMINATORS = 240


class Affine(dict[str, Unknown]):
    """A form whose coefficients are linear in unknowns; its constant is called CONSTANT."""

    def plus(self, other: Mapping[str, Unknown], times: float = 1.0) -> Self:
        """Changed into self + times * other."""
        for name, expression in other.items():
            own = self.setdefault(name, {})
            for column, value in expression.items():
                own[column] = own.get(column, 0.0) + value * times
        return self

    def replaced(self, values: Mapping[str, Row]) -> Affine:
        """With known forms for some of the variables."""
        out = Affine()
        for name, expression in self.items():
            for inner, factor in values.get(name, {name: 1.0}).items():
                out.plus({inner: expression}, factor)
        return out


def row(form: Form) -> Row:
    """Its coefficients."""
    return {name: float(slope) for name, slope in form.slopes.items()} | {CONSTANT: float(form.at_zero)}


def known(form: Form) -> Affine:
    """The form, of which nothing is unknown."""
    return Affine({name: {-1: value} for name, value in row(form).items()})


def inserted(form: Form, values: Mapping[str, Affine]) -> Affine:
    """The form with others for some of its variables."""
    out = Affine()
    for name, slope in row(form).items():
        out.plus(values.get(name, {name: {-1: 1.0}}), slope)
    return out


class Program:
    """min cost . unknowns, subject to equalities; unknowns are free or non-negative."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.free: list[bool] = []
        self.whole: list[bool] = []
        self.values: list[float] = []
        self._entries: list[tuple[int, int, float]] = []
        self._right: list[float] = []

    def unknown(self, free: bool = False, cost: float = 0.0, whole: bool = False) -> int:
        self.cost.append(cost)
        self.free.append(free)
        self.whole.append(whole)
        return len(self.cost) - 1

    def affine(self, atoms: Iterable[str]) -> Affine:
        """A form in these atoms of which no coefficient is known."""
        return Affine({atom: {self.unknown(free=True): 1.0} for atom in atoms})

    def shift(self, atoms: Iterable[str], whole: bool) -> Affine:
        """Another, with coefficients that are small or (whole) integers."""
        tidy = {"cost": TIDY, "whole": whole}
        return Affine({atom: {self.unknown(**tidy): 1.0, self.unknown(**tidy): -1.0} for atom in atoms})  # type: ignore[arg-type]

    def equal(self, expression: Unknown) -> None:
        """expression = 0."""
        place = len(self._right)
        self._right.append(-expression.get(-1, 0.0))
        self._entries += [(place, column, value) for column, value in expression.items() if column >= 0 and value]

    def vanish(self, form: Affine) -> None:
        """It is 0, whatever its variables are."""
        for expression in form.values():
            self.equal(expression)

    def entail(self, premises: Sequence[Row], conclusion: Affine) -> None:
        """Where all premises are non-negative the conclusion is, as a non-negative combination of them."""
        wanted = Affine().plus(conclusion).plus({CONSTANT: {self.unknown(): -1.0}})
        for premise in premises:
            multiplier = self.unknown()
            wanted.plus({name: {multiplier: value} for name, value in premise.items()}, -1.0)
        self.vanish(wanted)

    @property
    def rows(self) -> int:
        """How many equalities there are."""
        return len(self._right)

    def solve(self) -> bool:
        """Whether there is a solution; `values` are its unknowns."""
        rows, columns, values = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        matrix = csc_array((values, (rows, columns)), shape=(self.rows, len(self.cost)))
        got = milp(
            self.cost,
            integrality=self.whole,
            bounds=Bounds(np.where(self.free, -np.inf, 0.0)),
            constraints=LinearConstraint(matrix, self._right, self._right),
        )
        self.values = list(got.x) if got.status == 0 else []
        return bool(got.status == 0)

    def form(self, of: Affine) -> Form:
        """What the solution says of it, in the simple fractions next to its floats."""
        exact = {
            name: near(sum(v * (self.values[c] if c >= 0 else 1.0) for c, v in e.items())) for name, e in of.items()
        }
        return Form({name: value for name, value in exact.items() if name}, exact.get(CONSTANT, Fraction(0)))


def near(value: float) -> Fraction:
    """The simple fraction next to a float."""
    return Fraction(value).limit_denominator(DENOMINATORS)
