"""The linear program of an induction: by how much the numbers of the state differ in each configuration, how noise is
shifted, and what is left to pay."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ..checker.forms import Form
from ..checker.inductions.comparing import LEFT, STEPS
from ..checker.inductions.configurations import START
from ..checker.inductions.states import VECTOR, kinds
from ..checker.inductions.steps import LENGTH
from ..checker.noise import COMPUTED, GAUSSIAN, KINDS, noise_of, support, weight
from ..linear_program import CONSTANT, TIDY, Affine, Program, Row, inserted, known, row
from .configurations import Edge, Place, Search
from .loops import NoInduction

ENTRIES = ("x", "y", "z")


class Solution:
    """The linear program of a search: differences, shifts and potentials; floats, which exact_solution.py rounds."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.program = Program()
        self.scaled = search.scaled
        self.start = self.program.unknown(cost=1.0)
        self.potentials = [self._potential(place) for place in search.places]
        self.differences = [self._differences(place) for place in search.places]
        self.shifts: dict[Any, list[Affine]] = {}
        self.bounds: dict[Any, list[int]] = {}
        self.alike: dict[Any, Any] = {}
        for edge in search.edges:
            self._edge(edge)
        if not self.program.solve():
            raise NoInduction("no shifts and differences of the state that are linear in what differs")

    def _differences(self, place: Place) -> list[Affine]:
        if place.phase == "before" or place.intervals is not None:
            return []
        atoms = [CONSTANT, *sorted(self.search.differing)]
        return [
            self.program.affine(a for a in atoms if (a in self.search.records) == (kind == VECTOR))
            for kind in kinds(place.layout)
        ]

    def _edge(self, edge: Edge) -> None:
        draws = edge.way.draws
        alike = edge.start, edge.how, edge.way.cell, edge.other.cell, noise_of(draws, draws)
        if self.search.setting.notion == "zcdp" and alike in self.alike:  # shifts must not hang on what comes of them
            self._as_before(edge, *self.alike[alike])
        elif edge.key not in self.shifts:
            self._unknown(edge)
            shifts, bounds = self.shifts[edge.key], self.bounds[edge.key]
            self.alike[alike] = noise_of(draws, shifts), noise_of(draws, bounds)
        there, premises = self._there(edge), [row(condition.form) for condition in edge.known]
        mass = [sign.form for k, draw in enumerate(draws) for sign in support(*draw, Form.variable(f"n{k}"))]
        tests = [test.form for test in edge.other.tests if test.name() not in edge.other.cell]
        for form in (*tests, *mass):
            self.program.entail([*premises, *map(row, mass)], inserted(form, there))
        for one, other in zip(edge.way.released, edge.other.released, strict=True):
            self.program.vanish(inserted(other, there).plus(known(one), -1.0))
        if edge.to is not None:
            gaps = [inserted(other, there).plus(known(one), -1.0)
                    for one, other in zip(edge.way.after, edge.other.after, strict=True)]  # fmt: skip
            self._arrives(gaps, premises, edge.to)
        self._pay(edge)

    def _there(self, edge: Edge) -> dict[str, Affine]:
        """The other run's state and noise, in terms of this run's."""
        shifted = {f"n{k}": (f"n{k}", shift) for k, shift in enumerate(self.shifts[edge.key])}
        apart = [] if edge.start == START else self.differences[edge.start]
        shifted |= {f"st{i}": (f"s{i}", difference) for i, difference in enumerate(apart)}
        return {name: known(Form.variable(own)).plus(more) for name, (own, more) in shifted.items()}

    def _as_before(self, edge: Edge, shifts: Sequence[Affine], bounds: Sequence[int]) -> None:
        """The noise is shifted like that of a step that ends otherwise; what is computed is not shifted."""
        left, more = iter(shifts), iter(bounds)
        kinds_of = [kind for kind, _ in edge.way.draws]
        self.shifts[edge.key] = [Affine() if kind in COMPUTED else next(left) for kind in kinds_of]
        self.bounds[edge.key] = [self.program.unknown() if kind in COMPUTED else next(more) for kind in kinds_of]

    def _unknown(self, edge: Edge) -> None:
        atoms_of = self.search.differing or {"d"}
        moving = {name for name in edge.space.data.ends if name in atoms_of}
        self.shifts[edge.key] = []
        for kind, _ in edge.way.draws:
            whole = KINDS[kind].whole
            atoms = [CONSTANT, *sorted(moving & edge.space.data.whole if whole else moving)]
            atoms = [a for a in atoms if (a in self.search.records) == KINDS[kind].vector]
            self.shifts[edge.key].append(self.program.shift(atoms, whole))
        self.bounds[edge.key] = [self.program.unknown() for _ in edge.way.draws]
        facts = [row(each.form) for each in edge.known if each.form.slopes.keys() <= moving]
        for (kind, _), shift, bound in zip(edge.way.draws, self.shifts[edge.key], self.bounds[edge.key], strict=True):
            if not KINDS[kind].shifted or (kind in GAUSSIAN) == (self.search.setting.notion == "dp"):
                self.program.vanish(shift)
            for sign in ((1.0,) if KINDS[kind].one_sided else (1.0, -1.0)) if KINDS[kind].priced else ():
                self.program.entail(facts, Affine({CONSTANT: {bound: 1.0}}).plus(shift, -sign))
            if KINDS[kind].upwards:
                self.program.entail(facts, shift)

    def _arrives(self, gaps: list[Affine], premises: list[Row], to: int) -> None:
        """The states' numbers differ as the place that is reached says."""
        place = self.search.places[to]
        for i, gap in enumerate(gaps):
            if place.intervals is None:
                difference = Affine() if place.phase == "before" else self.differences[to][i]
                self.program.vanish(gap.plus(difference, -1.0))
                continue
            for end, sign in zip(place.intervals[i], (1.0, -1.0), strict=True):
                if end is not None:
                    self.program.entail(premises, Affine().plus(gap, sign).plus({CONSTANT: {-1: float(end)}}, -sign))

    def _potential(self, place: Place) -> Affine:
        """What is left to pay: a number; less what is said to be spent; or a form in what facts are about."""
        if self.scaled:
            return self.program.affine((CONSTANT, LENGTH, LEFT))
        left = Affine({CONSTANT: {self.program.unknown(cost=TIDY): 1.0}})
        if place.spent is not None:
            return left.plus(known(place.spent), -1.0)
        about = {*ENTRIES, *self.search.differing}
        return left.plus(self.program.affine(sorted({n for f in place.facts for n in f.form.slopes if n not in about})))

    def _pay(self, edge: Edge) -> None:
        """What is paid, and what is left to pay after it, is at most what was left before."""
        if self.search.begins(edge):
            left = Affine({LENGTH if self.scaled else CONSTANT: {self.start: 1.0}})
        else:
            left = Affine().plus(self.potentials[edge.start])
        for (kind, scale), bound in zip(edge.way.draws, self.bounds[edge.key], strict=True):
            if KINDS[kind].priced and (kind in GAUSSIAN) == (self.search.setting.notion == "zcdp"):
                left.plus(*self._price(kind, scale, bound))
        after = {f"s{i}": row(form) for i, form in enumerate(edge.way.after)}
        after[LEFT] = {LEFT: 1.0, CONSTANT: -1.0} if edge.how in STEPS else {LENGTH: 1.0}
        if edge.to is not None:
            left.plus(self.potentials[edge.to].replaced(after), -1.0)
        left = Affine({name: expression for name, expression in left.items() if any(expression.values())})
        premises = [row(each.form) for each in edge.known] if left.keys() - {CONSTANT} else []
        if self.scaled:
            least = 1.0 if edge.how in STEPS else 0.0
            premises += [{LEFT: 1.0, CONSTANT: -least}, {LENGTH: 1.0, LEFT: -1.0}, {LENGTH: 1.0, CONSTANT: -1.0}]
        self.program.entail(premises, left)

    def _price(self, kind: str, scale: str, bound: int) -> tuple[Affine, float]:
        """What a shift costs, less than nothing: in a scaled program N times, but where the scale is itself."""
        factor, hangs_on_entries, _ = scale.partition("*N")
        name = LENGTH if self.scaled and not hangs_on_entries else CONSTANT
        return Affine({name: {bound: 1.0}}), -float(weight(kind, Fraction(factor)))
