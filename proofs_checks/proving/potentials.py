"""The linear program of an induction: by how much the numbers of the state differ in each configuration, how noise is
shifted, and what is left to pay."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .alignment import CONSTANT, DENOMINATORS, ONE_SIDED, TIDY, Program, Unknown
from .checker.configurations import PERSISTENT, START
from .checker.forms import Form, Sign
from .checker.pieces import weight
from .checker.steps import numbers_in
from .checker.tracer import support
from .configurations import Edge, NoInduction, Place, Search
from .noise import WHOLE


class Solution:
    """The linear program of a search: differences, shifts and potentials."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.program = Program()
        self.start = self.program.unknown(cost=1.0)
        self.potentials = [self.program.unknown(cost=TIDY) for _ in search.places]
        self.differences = [self._differences(place) for place in search.places]
        self.shifts: dict[Any, list[dict[str, tuple[int, int]]]] = {}
        self.bounds: dict[Any, list[int]] = {}
        for edge in search.edges:
            self._edge(edge)
        values = self.program.solve()
        if values is None:
            raise NoInduction("no shifts and differences of the state that are linear in what differs")
        self.values = values

    def _differences(self, place: Place) -> list[dict[str, int]]:
        if place.phase == "before" or place.intervals is not None:
            return []
        atoms = [CONSTANT, *sorted(PERSISTENT[self.search.relation])]
        return [{a: self.program.unknown(free=True) for a in atoms} for _ in range(numbers_in(place.layout))]

    def _edge(self, edge: Edge) -> None:
        if edge.key not in self.shifts:
            self._unknown(edge)
        known = [_row(sign.form) for sign in edge.known]
        drawn = [
            _row(s.form) for k, (kind, _) in enumerate(edge.way.draws) for s in support(kind, Form.variable(f"n{k}"))
        ]
        for test in edge.other.tests:
            if test.name() not in edge.other.cell:
                self.program.entail([*known, *drawn], self._moved(edge, test.form))
        for k, (kind, _) in enumerate(edge.way.draws):
            for sign in support(kind, Form.variable(f"n{k}")):
                self.program.entail([*known, *drawn], self._moved(edge, sign.form))
        for one, other in zip(edge.way.released, edge.other.released, strict=True):
            self._equal(edge, one, other, {})
        if edge.to is not None:
            self._arrives(edge, known, edge.to)
        self._pay(edge)

    def _unknown(self, edge: Edge) -> None:
        atoms_of = PERSISTENT[self.search.relation] or {"d"}
        moving = {name for name in edge.data.ends if name in atoms_of}
        self.shifts[edge.key] = []
        for kind, _ in edge.way.draws:
            whole = kind in WHOLE
            atoms = [CONSTANT, *sorted(moving & edge.data.whole if whole else moving)]
            unknown = self.program.unknown
            self.shifts[edge.key].append(
                {a: (unknown(cost=TIDY, whole=whole), unknown(cost=TIDY, whole=whole)) for a in atoms}
            )
        self.bounds[edge.key] = [self.program.unknown() for _ in edge.way.draws]
        facts = [_row(sign.form) for sign in edge.known if sign.form.slopes.keys() <= moving]
        for (kind, _), shift, bound in zip(edge.way.draws, self.shifts[edge.key], self.bounds[edge.key], strict=True):
            if kind == "gaussian":
                for plus, minus in shift.values():
                    self.program.equal({plus: 1.0, minus: -1.0})
            for sign in (1.0,) if kind in ("exponential", *ONE_SIDED) else (1.0, -1.0):
                conclusion = _times(shift, -sign)
                conclusion[CONSTANT][bound] = 1.0
                if kind != "uniform":
                    self.program.entail(facts, conclusion)
            if kind in ONE_SIDED:
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

    def _pay(self, edge: Edge) -> None:
        left: Unknown = {self._before(edge): 1.0}
        if edge.to is not None:
            left[self.potentials[edge.to]] = left.get(self.potentials[edge.to], 0.0) - 1.0
        for (kind, scale), bound in zip(edge.way.draws, self.bounds[edge.key], strict=True):
            left[bound] = left.get(bound, 0.0) - (0.0 if kind == "gaussian" else float(weight(kind, scale)))
        self.program.entail([], {CONSTANT: left})

    def _before(self, edge: Edge) -> int:
        """The potential before the edge; before the entries that differ everything is left."""
        if edge.start == START or self.search.places[edge.start].phase == "before":
            return self.start
        return int(self.potentials[edge.start])

    def document(self) -> tuple[dict[str, Any], Fraction]:
        """The certificate's part, in fractions, and its epsilon."""
        shifts = {key: [self._form(shift) for shift in rows] for key, rows in self.shifts.items()}
        edges = {edge.key: edge for edge in self.search.edges}
        bounds = {
            key: [self._bound(edges[key], k, shift) for k, shift in enumerate(rows)] for key, rows in shifts.items()
        }
        epsilon, potentials = self._potentials(bounds)
        moves = [
            {
                "from": edge.start,
                "how": edge.how,
                "cells": [sorted(edge.way.cell), sorted(edge.other.cell)],
                "label": edge.way.label,
                "shifts": [_text(shift) for shift in shifts[key]],
                "bounds": [str(bound) for bound in bounds[key]],
                "to": edge.to,
            }
            for key, edge in edges.items()
        ]
        steps = self.search.steps
        return {
            "wide": sorted(steps.wide),
            "appended": sorted(steps.appended),
            "event": steps.event,
            "configurations": [self._configuration(k, potentials[k]) for k in range(len(potentials))],
            "moves": moves,
        }, epsilon

    def _form(self, shift: Mapping[str, tuple[int, int]]) -> Form:
        exact = {a: _near(self.values[p] - self.values[m]) for a, (p, m) in shift.items()}
        return Form({a: v for a, v in exact.items() if a}, exact.get(CONSTANT, Fraction(0)))

    def _bound(self, edge: Edge, k: int, shift: Form) -> Fraction:
        """The least simple fraction that is proved to bound the shift: what the program says, else by intervals."""
        wanted = _near(self.values[self.bounds[edge.key][k]])
        least = [wanted - shift, wanted + shift]
        if edge.way.draws[k][0] in ("exponential", *ONE_SIDED):
            least = least[:1]
        if all(self.search.prover.entails(edge.known, Sign(form, False)) for form in least):
            return wanted
        ends = [abs(end) for end in edge.data.between(shift) if end is not None]
        return max(ends, default=Fraction(0))

    def _potentials(self, bounds: Mapping[Any, list[Fraction]]) -> tuple[Fraction, list[Fraction]]:
        """What is left to pay: the longest path through the configurations. Raises NoInduction where it has no end."""
        left = [Fraction(0)] * len(self.search.places)
        start = Fraction(0)
        free = [k for k, place in enumerate(self.search.places) if place.phase == "free"]
        for _ in range(len(left) + 2):
            former = [*left, start]
            for edge in self.search.edges:
                paid = sum((b * (0 if kind == "gaussian" else weight(kind, scale)) for (kind, scale), b
                            in zip(edge.way.draws, bounds[edge.key], strict=True)), Fraction(0))  # fmt: skip
                paid += left[edge.to] if edge.to is not None else 0
                if self._before(edge) == self.start:
                    start = max(start, paid)
                else:
                    left[edge.start] = max(left[edge.start], paid)
            for k in free:  # these lead to one another
                left[k] = max(left[i] for i in free)
            if former == [*left, start]:
                return start, left
        raise NoInduction("the cost grows with the number of entries")

    def _configuration(self, k: int, potential: Fraction) -> dict[str, Any]:
        place = self.search.places[k]
        differences: list[dict[str, Any]]
        if place.intervals is not None:
            differences = [{"ends": [None if e is None else str(e) for e in ends]} for ends in place.intervals]
        elif place.phase == "before":
            differences = [{"form": {}} for _ in range(numbers_in(place.layout))]
        else:
            exact = [{a: str(_near(self.values[c])) for a, c in row.items()} for row in self.differences[k]]
            differences = [{"form": {a: v for a, v in row.items() if v != "0"}} for row in exact]
        return {
            "phase": place.phase,
            "layout": place.layout,
            "differences": differences,
            "facts": [{"form": _text(fact.form), "strict": fact.strict} for fact in place.facts],
            "potential": str(potential),
        }


def _row(form: Form) -> dict[str, float]:
    return {name: float(slope) for name, slope in form.slopes.items()} | {CONSTANT: float(form.at_zero)}


def _times(shift: Mapping[str, tuple[int, int]], factor: float) -> dict[str, Unknown]:
    return {atom: {plus: factor, minus: -factor} for atom, (plus, minus) in shift.items()}


def _add(out: dict[str, Unknown], name: str, column: int, value: float) -> None:
    row = out.setdefault(name, {})
    row[column] = row.get(column, 0.0) + value


def _near(value: float) -> Fraction:
    return Fraction(value).limit_denominator(DENOMINATORS)


def _text(form: Form) -> dict[str, str]:
    terms = {name: str(slope) for name, slope in sorted(form.slopes.items())}
    return terms | ({CONSTANT: str(form.at_zero)} if form.at_zero else {})
