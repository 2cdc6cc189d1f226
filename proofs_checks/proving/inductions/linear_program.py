"""The linear program of an induction: by how much the numbers of the state differ in each configuration, how noise is
shifted, and what is left to pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..alignment import CONSTANT, TIDY, Program, Unknown
from ..checker.forms import Form
from ..checker.inductions.comparing import LEFT, STEPS
from ..checker.inductions.states import VECTOR, kinds
from ..checker.inductions.steps import LENGTH
from ..checker.noise import COMPUTED, GAUSSIAN, KINDS, noise_of, support, weight
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
        self.shifts: dict[Any, list[dict[str, tuple[int, int]]]] = {}
        self.bounds: dict[Any, list[int]] = {}
        self.alike: dict[Any, Any] = {}
        for edge in search.edges:
            self._edge(edge)
        values = self.program.solve()
        if values is None:
            raise NoInduction("no shifts and differences of the state that are linear in what differs")
        self.values = values

    def _differences(self, place: Place) -> list[dict[str, int]]:
        if place.phase == "before" or place.intervals is not None:
            return []
        atoms = [CONSTANT, *sorted(self.search.differing)]
        return [
            {a: self.program.unknown(free=True) for a in atoms if (a in self.search.records) == (kind == VECTOR)}
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
        known = [_row(condition.form) for condition in edge.known]
        drawn = [_row(s.form) for k, draw in enumerate(edge.way.draws) for s in support(*draw, _noise(k))]
        for test in edge.other.tests:
            if test.name() not in edge.other.cell:
                self.program.entail([*known, *drawn], self._moved(edge, test.form))
        for k, draw in enumerate(edge.way.draws):
            for condition in support(*draw, _noise(k)):
                self.program.entail([*known, *drawn], self._moved(edge, condition.form))
        for one, other in zip(edge.way.released, edge.other.released, strict=True):
            self._equal(edge, one, other, {})
        if edge.to is not None:
            self._arrives(edge, known, edge.to)
        self._pay(edge)

    def _as_before(self, edge: Edge, shifts: Sequence[dict[str, tuple[int, int]]], bounds: Sequence[int]) -> None:
        """The noise is shifted like that of a step that ends otherwise; what is computed is not shifted."""
        left, more = iter(shifts), iter(bounds)
        kinds_of = [kind for kind, _ in edge.way.draws]
        self.shifts[edge.key] = [{} if kind in COMPUTED else next(left) for kind in kinds_of]
        self.bounds[edge.key] = [self.program.unknown() if kind in COMPUTED else next(more) for kind in kinds_of]

    def _unknown(self, edge: Edge) -> None:
        atoms_of = self.search.differing or {"d"}
        moving = {name for name in edge.space.data.ends if name in atoms_of}
        self.shifts[edge.key] = []
        for kind, _ in edge.way.draws:
            whole = KINDS[kind].whole
            atoms = [CONSTANT, *sorted(moving & edge.space.data.whole if whole else moving)]
            atoms = [a for a in atoms if (a in self.search.records) == KINDS[kind].vector]
            unknown = self.program.unknown
            self.shifts[edge.key].append(
                {a: (unknown(cost=TIDY, whole=whole), unknown(cost=TIDY, whole=whole)) for a in atoms}
            )
        self.bounds[edge.key] = [self.program.unknown() for _ in edge.way.draws]
        facts = [_row(each.form) for each in edge.known if each.form.slopes.keys() <= moving]
        for (kind, _), shift, bound in zip(edge.way.draws, self.shifts[edge.key], self.bounds[edge.key], strict=True):
            if not KINDS[kind].shifted or (kind in GAUSSIAN) == (self.search.setting.notion == "dp"):
                for plus, minus in shift.values():
                    self.program.equal({plus: 1.0, minus: -1.0})
            for sign in (1.0,) if KINDS[kind].one_sided else (1.0, -1.0):
                conclusion = _times(shift, -sign)
                conclusion.setdefault(CONSTANT, {})[bound] = 1.0
                if KINDS[kind].priced:
                    self.program.entail(facts, conclusion)
            if KINDS[kind].upwards:
                self.program.entail(facts, _times(shift, 1.0))

    def _moved(self, edge: Edge, form: Form) -> dict[str, Unknown]:
        """The other run's form in terms of this run's state and noise."""
        out: dict[str, Unknown] = {CONSTANT: {-1: float(form.at_zero)}}
        for name, slope in form.slopes.items():
            own = "s" + name[2:] if name.startswith("st") else name
            row = out.setdefault(own, {})
            row[-1] = row.get(-1, 0.0) + float(slope)
            if name.startswith("st"):
                for atom, column in self.differences[edge.start][int(name[2:])].items():
                    _add(out, atom, column, float(slope))
            elif name[0] == "n" and int(name[1:]) < len(edge.way.draws):
                for atom, (plus, minus) in self.shifts[edge.key][int(name[1:])].items():
                    _add(out, atom, plus, float(slope))
                    _add(out, atom, minus, -float(slope))
        return out

    def _gap(self, edge: Edge, one: Form, other: Form) -> dict[str, Unknown]:
        out = self._moved(edge, other)
        for name, value in _row(one).items():
            _add(out, name, -1, -value)
        return out

    def _equal(self, edge: Edge, one: Form, other: Form, difference: Mapping[str, int]) -> None:
        """other - one = difference, whatever the data, the state and the noise."""
        out = self._gap(edge, one, other)
        for atom, column in difference.items():
            _add(out, atom, column, -1.0)
        for expression in out.values():
            self.program.equal(expression)

    def _arrives(self, edge: Edge, known: list[dict[str, float]], to: int) -> None:
        place = self.search.places[to]
        for i, (one, other) in enumerate(zip(edge.way.after, edge.other.after, strict=True)):
            if place.intervals is None:
                self._equal(edge, one, other, self.differences[to][i])
                continue
            for end, sign in zip(place.intervals[i], (1.0, -1.0), strict=True):
                if end is not None:
                    gap = self._gap(edge, one, other)
                    _add(gap, CONSTANT, -1, -float(end))
                    scaled = {name: {c: v * sign for c, v in row.items()} for name, row in gap.items()}
                    self.program.entail(known, scaled)

    def _potential(self, place: Place) -> dict[str, Unknown]:
        """What is left to pay: a number; less what is said to be spent; or a form in what facts are about."""
        unknown = self.program.unknown
        if self.scaled:
            return {atom: {unknown(free=True): 1.0} for atom in (CONSTANT, LENGTH, LEFT)}
        row: dict[str, Unknown] = {CONSTANT: {unknown(cost=TIDY): 1.0}}
        if place.spent is not None:
            for name, value in _row(place.spent).items():
                _add(row, name, -1, -value)
            return row
        known = {*ENTRIES, *self.search.differing}
        own = {name for fact in place.facts for name in fact.form.slopes if name not in known}
        return row | {name: {unknown(free=True): 1.0} for name in sorted(own)}

    def _pay(self, edge: Edge) -> None:
        """What is paid, and what is left to pay after it, is at most what was left before."""
        row: dict[str, Unknown] = {}
        for name, column, value in self._before(edge):
            _add(row, name, column, value)
        for (kind, scale), bound in zip(edge.way.draws, self.bounds[edge.key], strict=True):
            if KINDS[kind].priced and (kind in GAUSSIAN) == (self.search.setting.notion == "zcdp"):
                _add(row, *self._price(kind, scale, bound))
        after = {f"s{i}": _row(form) for i, form in enumerate(edge.way.after)}
        after[LEFT] = {LEFT: 1.0, CONSTANT: -1.0} if edge.how in STEPS else {LENGTH: 1.0}
        for name, expression in () if edge.to is None else self.potentials[edge.to].items():
            for inner, factor in after.get(name, {name: 1.0}).items():
                for column, value in expression.items():
                    _add(row, inner, column, -value * factor)
        row = {name: expression for name, expression in row.items() if any(expression.values())}
        known = [_row(each.form) for each in edge.known] if row.keys() - {CONSTANT} else []
        if self.scaled:
            least = 1.0 if edge.how in STEPS else 0.0
            known += [{LEFT: 1.0, CONSTANT: -least}, {LENGTH: 1.0, LEFT: -1.0}, {LENGTH: 1.0, CONSTANT: -1.0}]
        self.program.entail(known, row)

    def _price(self, kind: str, scale: str, bound: int) -> tuple[str, int, float]:
        """What a shift costs, less than nothing: in a scaled program N times, but where the scale is itself."""
        factor, hangs_on_entries, _ = scale.partition("*N")
        name = LENGTH if self.scaled and not hangs_on_entries else CONSTANT
        return name, bound, -float(weight(kind, Fraction(factor)))

    def _before(self, edge: Edge) -> list[tuple[str, int, float]]:
        """The potential before the edge."""
        if self.search.begins(edge):
            return [(LENGTH if self.scaled else CONSTANT, self.start, 1.0)]
        return [(name, column, value) for name, expression in self.potentials[edge.start].items()
                for column, value in expression.items()]  # fmt: skip


def _noise(k: int) -> Form:
    return Form({f"n{k}": 1})


def _row(form: Form) -> dict[str, float]:
    return {name: float(slope) for name, slope in form.slopes.items()} | {CONSTANT: float(form.at_zero)}


def _times(shift: Mapping[str, tuple[int, int]], factor: float) -> dict[str, Unknown]:
    return {atom: {plus: factor, minus: -factor} for atom, (plus, minus) in shift.items()}


def _add(out: dict[str, Unknown], name: str, column: int, value: float) -> None:
    row = out.setdefault(name, {})
    row[column] = row.get(column, 0.0) + value
