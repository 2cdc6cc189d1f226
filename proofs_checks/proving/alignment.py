"""The cheapest randomness alignment of one output, by linear programming.

Given the noise that leads to an output on the dataset (a polyhedron, `source`) and the noise that leads to it on the
neighbour (`target`), find for each noise a shift, linear in the differing entries, such that shifted noise stays in
the target, released numbers stay the same, and sum |shift| / scale is at most epsilon; the least such epsilon.
A suggestion, in floating point, that the checker proves exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .checker.forms import Form, Sign
from .checker.noise import GAUSSIAN, KINDS, Draw, weight
from .linear_program import CONSTANT, Affine, Program, Row, inserted, known, row
from .solver import Space, largest


@dataclass(frozen=True)
class Alignment:
    """A shift for each noise; bounds on the shifts' sizes, linear in the data (|x| is called abs:x); their cost.

    cost: epsilon; where there is Gaussian noise, rho. caps: the bounds' largest values, which rho needs.
    """

    shifts: tuple[Form, ...]
    bounds: tuple[Form, ...]
    caps: tuple[Fraction, ...]
    cost: Fraction


class _Shifts:
    """The unknown coefficients of the shifts and of the bounds on their sizes."""

    def __init__(self, program: Program, space: Space, draws: Sequence[Draw], solved: int | None) -> None:
        self.program, self.space, self.draws = program, space, draws
        self.records = [a for a in space.atoms() if a in space.data.vectors]
        self.atoms = [CONSTANT, *(a for a in space.atoms() if a not in space.data.vectors)]
        self.sized = [a for a in self.atoms if a and (space.data.ends[a][0] or 0) < 0]
        self.shifts = [
            program.shift(self._atoms(k, solved), KINDS[kind].whole and not KINDS[kind].vector)
            for k, (kind, _) in enumerate(draws)
        ]
        costly = [*self.atoms, *(f"abs:{a}" for a in self.sized)]
        self.bounds = [program.affine(costly) for _ in draws]
        noise = {f"n{k}": shift for k, shift in enumerate(self.shifts)}
        self.noise = {name: known(Form.variable(name)).plus(shift) for name, shift in noise.items()}

    def _atoms(self, k: int, solved: int | None) -> Sequence[str]:
        """What the shift of a noise is linear in."""
        kind = KINDS[self.draws[k][0]]
        if not kind.shifted:
            return []  # it is the same on the neighbour
        if k == solved and not kind.vector:
            of_numbers = [kind.shifted and not kind.vector for kind in (KINDS[other] for other, _ in self.draws)]
            others = [f"n{i}" for i, fits in enumerate(of_numbers) if i != k and fits]
            return [CONSTANT, *(name for name in self.space.data.ends if name not in self.space.data.vectors), *others]
        if solved is not None:
            return []
        return (
            self.records
            if kind.vector
            else [a for a in self.atoms if not kind.whole or not a or a in self.space.data.whole]
        )

    def moved(self, form: Form) -> Affine:
        """The form after the shift."""
        return inserted(form, self.noise)


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
    for shift, stated in zip(unknown.shifts, fixed or (), strict=False):
        wanted = known(stated)
        program.vanish(Affine().plus(shift).plus({atom: wanted[atom] for atom in shift if atom in wanted}, -1.0))
    facts = [row(fact.form) for fact in space.data.facts]
    source = list(source)
    given = facts + [row(condition.form) for condition in source]
    of_data = facts + [row(condition.form) for condition in source if not condition.form.noisy]
    for condition in target:
        program.entail(given, unknown.moved(condition.form))
    for here, there in released:
        program.vanish(known(here).plus(unknown.moved(there), -1.0))
    sizes = [row(sign.form) for a in unknown.sized for sign in _sizes(space, a)]
    _price(unknown, epsilon, facts + sizes, (given if solved is not None else of_data) + sizes)
    space.work.question(program.rows)
    if not program.solve():
        return None
    shifts = tuple(program.form(shift) for shift in unknown.shifts)
    bounds = tuple(program.form(bound) for bound in unknown.bounds)
    gaussian = any(kind in GAUSSIAN for kind, _ in draws)
    caps = tuple(largest_value(space, bound) for bound in bounds) if gaussian else ()
    return Alignment(shifts, bounds, caps, _cost(space, draws, bounds, caps))


def _sizes(space: Space, atom: str) -> list[Sign]:
    """|atom| >= atom, -atom, and at most its largest value."""
    size, itself = Form.variable(f"abs:{atom}"), Form.variable(atom)
    most = max(abs(end or Fraction(0)) for end in space.data.ends[atom])
    return [Sign(form, False) for form in (size - itself, size + itself, most - size)]


def _price(unknown: _Shifts, epsilon: int, data: Sequence[Row], given: Sequence[Row]) -> None:
    """Bounds are at least the sizes of the shifts, and their weighted sum is at most epsilon."""
    program, total = unknown.program, Affine({CONSTANT: {epsilon: 1.0}})
    for (kind, scale), shift, bound in zip(unknown.draws, unknown.shifts, unknown.bounds, strict=True):
        rules = KINDS[kind]
        if kind == "part":
            total.plus({CONSTANT: {-1: float(Fraction(scale))}}, -1.0)
        for sign in ((1.0,) if rules.one_sided else (1.0, -1.0)) if rules.priced else ():
            program.entail(given, Affine().plus(bound).plus(shift, -sign))
        if rules.upwards:
            program.entail(given, shift)
        cost = float(weight(kind, Fraction(scale))) if rules.priced else 0.0
        total.plus(bound, -cost)
        if kind in GAUSSIAN:  # of bounds with one weighted sum the ones with small caps: they are squared
            cap = Affine({CONSTANT: {program.unknown(free=True, cost=cost): 1.0}})
            program.entail(data, cap.plus(bound, -1.0))
    program.entail(data, total)


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
    found = largest(total, [*space.data.facts, *(sign for atom in named for sign in _sizes(space, atom))])
    assert found is not None
    return found
