"""The cheapest randomness alignment of one output, by linear programming.

Given the noise that leads to an output on the dataset (a polyhedron, `source`) and the noise that leads to it on the
neighbour (`target`), find for each noise a shift, linear in the differing entries, such that shifted noise stays in
the target, released numbers stay the same, and sum |shift| / scale is at most epsilon; the least such epsilon.
By Farkas' lemma every "for all data and noise" is "there are multipliers", linear in the shifts' coefficients.
Floating point: a suggestion, that the checker proves exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from .checker.forms import Form, Sign
from .checker.noise import GAUSSIAN, KINDS, Draw, weight
from .solver import Space, largest

Unknown = dict[int, float]
"""A linear expression in the program's unknowns; -1 stands for the constant 1."""
CONSTANT = ""
TIDY = 1e-5
"""Price of a coefficient, so that shifts that cost nothing are not arbitrary."""
DENOMINATORS = 240


@dataclass(frozen=True)
class Alignment:
    """A shift for each noise; bounds on the shifts' sizes, linear in the data (|x| is called abs:x); their cost.

    cost: epsilon; where there is Gaussian noise, rho. caps: the bounds' largest values, which rho needs.
    """

    shifts: tuple[Form, ...]
    bounds: tuple[Form, ...]
    caps: tuple[Fraction, ...]
    cost: Fraction


class Program:
    """min cost . unknowns, subject to equalities; unknowns are free or non-negative."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.free: list[bool] = []
        self.whole: list[bool] = []
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._values: list[float] = []
        self._right: list[float] = []

    def unknown(self, free: bool = False, cost: float = 0.0, whole: bool = False) -> int:
        self.cost.append(cost)
        self.free.append(free)
        self.whole.append(whole)
        return len(self.cost) - 1

    def equal(self, expression: Unknown) -> None:
        """expression = 0."""
        row = len(self._right)
        self._right.append(-expression.get(-1, 0.0))
        for column, value in expression.items():
            if column >= 0 and value:
                self._rows.append(row)
                self._columns.append(column)
                self._values.append(value)

    def entail(self, premises: Sequence[Mapping[str, float]], conclusion: Mapping[str, Unknown]) -> None:
        """Where all premises are non-negative the conclusion is, as a non-negative combination of them."""
        wanted = {name: dict(expression) for name, expression in conclusion.items()}
        wanted.setdefault(CONSTANT, {})
        for premise in premises:
            multiplier = self.unknown()
            for name, value in premise.items():
                wanted.setdefault(name, {})[multiplier] = -value
        wanted[CONSTANT][self.unknown()] = -1.0
        for expression in wanted.values():
            self.equal(expression)

    @property
    def rows(self) -> int:
        """How many equalities there are."""
        return len(self._right)

    def solve(self) -> list[float] | None:
        shape = len(self._right), len(self.cost)
        matrix = csr_array((self._values, (self._rows, self._columns)), shape=shape)
        bounds = [(None, None) if free else (0, None) for free in self.free]
        integrality = [1 if whole else 0 for whole in self.whole] if any(self.whole) else None
        got = linprog(
            self.cost, A_eq=matrix, b_eq=np.array(self._right), bounds=bounds, method="highs", integrality=integrality
        )
        return list(got.x) if got.status == 0 else None


def _row(form: Form) -> dict[str, float]:
    row = {name: float(value) for name, value in form.slopes.items()}
    row[CONSTANT] = float(form.at_zero)
    return row


class _Shifts:
    """The unknown coefficients of the shifts and of the bounds on their sizes."""

    def __init__(self, program: Program, space: Space, draws: Sequence[Draw], solved: int | None) -> None:
        self.program = program
        self.space = space
        self.draws = draws
        self.records = [a for a in space.atoms() if a in space.data.vectors]
        self.atoms = [CONSTANT, *(a for a in space.atoms() if a not in space.data.vectors)]
        self.sized = [a for a in self.atoms if a and (space.data.ends[a][0] or 0) < 0]
        self.shifts = [self._coefficients(k, solved) for k in range(len(draws))]
        costly = [*self.atoms, *(f"abs:{a}" for a in self.sized)]
        self.bounds = [{a: program.unknown(free=True) for a in costly} for _ in draws]

    def _coefficients(self, k: int, solved: int | None) -> dict[str, tuple[int, int]]:
        kind = self.draws[k][0]
        if not KINDS[kind].shifted:
            return {}  # it is the same on the neighbour
        if KINDS[kind].vector:
            return {} if solved is not None else self._unknown(self.records, False)
        atoms = [a for a in self.atoms if not KINDS[kind].whole or not a or a in self.space.data.whole]
        if k == solved:
            of_numbers = [kind.shifted and not kind.vector for kind in (KINDS[other] for other, _ in self.draws)]
            others = [f"n{i}" for i, fits in enumerate(of_numbers) if i != k and fits]
            atoms = [CONSTANT, *(name for name in self.space.data.ends if name not in self.space.data.vectors), *others]
        elif solved is not None:
            atoms = []
        return self._unknown(atoms, KINDS[kind].whole)

    def _unknown(self, atoms: Sequence[str], whole: bool) -> dict[str, tuple[int, int]]:
        return {
            a: (self.program.unknown(cost=TIDY, whole=whole), self.program.unknown(cost=TIDY, whole=whole))
            for a in atoms
        }

    def fix(self, shifts: Sequence[Form]) -> None:
        """Each shift is this one."""
        for row, shift in zip(self.shifts, shifts, strict=True):
            for atom, (plus, minus) in row.items():
                value = shift.slopes.get(atom, 0) if atom else shift.at_zero
                self.program.equal({plus: 1.0, minus: -1.0, -1: -float(value)})

    def moved(self, form: Form) -> dict[str, Unknown]:
        """The form after the shift, as coefficients that are linear in the unknowns."""
        out: dict[str, Unknown] = {name: {-1: float(v)} for name, v in form.slopes.items()}
        out.setdefault(CONSTANT, {})[-1] = float(form.at_zero)
        for k in range(len(self.shifts)):
            factor = float(form.slopes.get(f"n{k}", 0))
            if factor:
                self.add(out, k, factor)
        return out

    def add(self, out: dict[str, Unknown], k: int, factor: float) -> None:
        """out + factor * shift k."""
        for atom, (plus, minus) in self.shifts[k].items():
            row = out.setdefault(atom, {})
            row[plus] = row.get(plus, 0.0) + factor
            row[minus] = row.get(minus, 0.0) - factor

    def bound(self, k: int) -> dict[str, Unknown]:
        return {atom: {column: 1.0} for atom, column in self.bounds[k].items()}


def align(
    space: Space,
    draws: Sequence[Draw],
    source: Iterable[Sign],
    target: Iterable[Sign],
    released: Iterable[tuple[Form, Form]],
    solved: int | None = None,
    fixed: Sequence[Form] | None = None,
) -> Alignment | None:
    """The cheapest alignment, or None where there is none of this form.

    solved: the one noise whose shift may depend on the other ones, which then are not shifted at all.
    fixed: the shifts, where they are known.
    """
    program = Program()
    epsilon = program.unknown(cost=1.0, free=True)
    unknown = _Shifts(program, space, draws, solved)
    if fixed is not None:
        unknown.fix(fixed)
    facts = [_row(fact.form) for fact in space.data.facts]
    source = list(source)
    given = facts + [_row(condition.form) for condition in source]
    of_data = facts + [_row(condition.form) for condition in source if not condition.form.noisy]
    for condition in target:
        program.entail(given, unknown.moved(condition.form))
    for here, there in released:
        difference = unknown.moved(-there)
        for name, value in _row(here).items():
            row = difference.setdefault(name, {})
            row[-1] = row.get(-1, 0.0) + value
        for expression in difference.values():
            program.equal(expression)
    sizes = [row for a in unknown.sized for row in _sizes(space, a)]
    _price(program, unknown, epsilon, facts + sizes, (given if solved is not None else of_data) + sizes)
    space.work.question(program.rows)
    solution = program.solve()
    if solution is None:
        return None
    shifts = tuple(_form({a: solution[p] - solution[m] for a, (p, m) in row.items()}) for row in unknown.shifts)
    bounds = tuple(_form({a: solution[c] for a, c in row.items()}) for row in unknown.bounds)
    gaussian = any(kind in GAUSSIAN for kind, _ in draws)
    caps = tuple(largest_value(space, bound) for bound in bounds) if gaussian else ()
    return Alignment(shifts, bounds, caps, _cost(space, draws, bounds, caps))


def _sizes(space: Space, atom: str) -> list[dict[str, float]]:
    """|atom| >= atom, -atom, and at most its largest value."""
    low, high = space.data.ends[atom]
    most = max(abs(float(low or 0)), abs(float(high or 0)))
    size = f"abs:{atom}"
    return [{size: 1.0, atom: -1.0}, {size: 1.0, atom: 1.0}, {size: -1.0, CONSTANT: most}]


def _price(
    program: Program,
    unknown: _Shifts,
    epsilon: int,
    data: Sequence[Mapping[str, float]],
    given: Sequence[Mapping[str, float]],
) -> None:
    """Bounds are at least the sizes of the shifts, and their weighted sum is at most epsilon."""
    total: dict[str, Unknown] = {CONSTANT: {epsilon: 1.0}}
    for k, (kind, scale) in enumerate(unknown.draws):
        signs = [1.0] if KINDS[kind].one_sided else [1.0, -1.0]
        if kind == "part":
            total[CONSTANT][-1] = total[CONSTANT].get(-1, 0.0) - float(Fraction(scale))
        for sign in signs if KINDS[kind].priced else []:
            conclusion = unknown.bound(k)
            unknown.add(conclusion, k, -sign)
            program.entail(given, conclusion)
        if KINDS[kind].upwards:
            conclusion = {}
            unknown.add(conclusion, k, 1.0)
            program.entail(given, conclusion)
        for atom, column in unknown.bounds[k].items():
            total.setdefault(atom, {})[column] = -float(weight(kind, Fraction(scale)) if KINDS[kind].priced else 0)
        if kind in GAUSSIAN:  # of bounds with one weighted sum the ones with small caps: they are squared
            program.entail(data, {a: {c: -1.0} for a, c in unknown.bounds[k].items()} | {CONSTANT: _cap(unknown, k)})
    program.entail(data, total)


def _cap(unknown: _Shifts, k: int) -> Unknown:
    """A new unknown above bound k, which is to be small; less the bound's constant."""
    kind, scale = unknown.draws[k]
    cost = float(weight(kind, Fraction(scale)))
    return {unknown.program.unknown(free=True, cost=cost): 1.0, unknown.bounds[k][CONSTANT]: -1.0}


def _form(coefficients: Mapping[str, float]) -> Form:
    """The expression with the simple fractions next to these floats."""
    exact = {name: Fraction(value).limit_denominator(DENOMINATORS) for name, value in coefficients.items()}
    return Form({name: value for name, value in exact.items() if name}, exact.get(CONSTANT, Fraction(0)))


def _cost(space: Space, draws: Sequence[Draw], bounds: Sequence[Form], caps: Sequence[Fraction]) -> Fraction:
    """The largest value of the weighted sum of the bounds over all neighbours; Gaussian noise weighs cap / (2 scale^2).

    sum shift^2 / (2 scale^2) is the zCDP of a Gaussian shift (Bun, Steinke 2016, arXiv 1605.02065, Proposition 1.6).
    """
    total = Form()
    for k, ((kind, scale), bound) in enumerate(zip(draws, bounds, strict=True)):
        if kind == "part":
            total = total + Fraction(scale)
        if KINDS[kind].priced:
            total = total + bound * (caps[k] / (2 * Fraction(scale) ** 2) if caps else weight(kind, Fraction(scale)))
    return largest_value(space, total)


def largest_value(space: Space, total: Form) -> Fraction:
    """The supremum of a form over the facts; |x| is at most its largest value, and at least x and -x."""
    named = [name.removeprefix("abs:") for name in total.slopes if name.startswith("abs:")]
    sizes = [Sign(_as_form(row), False) for atom in named for row in _sizes(space, atom)]
    found = largest(total, [*space.data.facts, *sizes])
    assert found is not None
    return found


def _as_form(row: Mapping[str, float]) -> Form:
    return Form({name: Fraction(value) for name, value in row.items() if name}, Fraction(row.get(CONSTANT, 0)))
