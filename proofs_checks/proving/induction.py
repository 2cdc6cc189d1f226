"""For every number of entries: the search for an induction over the steps of a loop, that checker/induction.py proves.

The configurations are found by running steps until no new discrete state comes; by how much the numbers of the state
differ in each, how noise is shifted and what is left to pay is one linear program. Runs, layouts and the cut of the
loop are the checker's own (nothing goes the other way), since what is found here is a suggestion only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .alignment import CONSTANT, DENOMINATORS, ONE_SIDED, TIDY, Program, Unknown
from .checker.cut import BREAK, NEXT, cut
from .checker.farkas import Prover
from .checker.forms import Form, Refused, Sign
from .checker.induction import FOLLOWING, PERSISTENT, START
from .checker.pairs import Data
from .checker.pieces import weight
from .checker.runs import support
from .checker.steps import Layout, Steps, Way, numbers_in
from .checker.surroundings import Surroundings
from .intervals import Interval, free_intervals
from .layouts import Layouts
from .noise import WHOLE
from .relations import Domain


class NoInduction(Exception):
    """There is no induction of this form; the text says why."""


@dataclass
class Place:
    """A configuration to be: its phase, its layout, where it came from, and (phase free) intervals of differences."""

    phase: str
    layout: Layout
    origin: tuple[Any, ...] = ()
    facts: tuple[Sign, ...] = ()
    intervals: tuple[Interval, ...] | None = None

    @property
    def key(self) -> Any:
        return self.phase, str(self.layout), self.origin


@dataclass
class Edge:
    """A step of both runs: from a place (None: the start) to one (None: the output)."""

    start: Any
    how: str
    way: Way
    other: Way
    data: Data
    known: list[Sign]
    to: int | None

    @property
    def key(self) -> Any:
        return self.start, self.how, self.way.cell, self.other.cell, self.way.label


def induction(
    function: Callable[..., Any], relation: str, domain: Domain, most: Fraction | None = None
) -> tuple[dict[str, Any], Fraction]:
    """A certificate's part on all numbers of entries, and its epsilon. most: no dearer one is wanted.

    Raises NoInduction with a reason.
    """
    try:
        made = cut(function)
        steps = Layouts(Steps(made, Surroundings(function)), relation, domain).settled()
        reason = ""
        for event in (None, *made.names) if relation == "answers" else (None,):
            search = Search(Steps(made, steps.around, steps.wide, steps.appended, event), relation, domain)
            try:
                found = search.found()
            except NoInduction as problem:
                reason = reason or str(problem)
                continue
            if most is None or found[1] <= most:
                return found
            reason = f"for all N it costs {float(found[1]):g}"
        raise NoInduction(reason)
    except Refused as problem:
        raise NoInduction(str(problem)) from problem


@dataclass
class Search:
    """The configurations of one loop, and the edges between them."""

    steps: Steps
    relation: str
    domain: Domain
    prover: Prover = field(default_factory=Prover)
    places: list[Place] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def found(self) -> tuple[dict[str, Any], Fraction]:
        """The document and its epsilon. Raises NoInduction or Refused."""
        if self.relation == "answers":
            self._locked()
        else:
            self._replaced()
        k = 0
        while k < len(self.places):
            self._expand(k)
            k += 1
        return Solution(self).document()

    def place(self, place: Place) -> int:
        """Its number; a new one where it is new."""
        for k, known in enumerate(self.places):
            if known.key == place.key:
                return k
        if len(self.places) >= MOST_PLACES:
            raise NoInduction("the loop has too many discrete states")
        self.places.append(place)
        return len(self.places) - 1

    def _locked(self) -> None:
        starts = self.steps.start(self.prover)
        self._pair(START, "locked", Data(False), (), starts, starts, {NEXT: "locked"})
        if self.steps.event is not None:
            for place in free_intervals(self.steps, starts, self.prover):
                self.place(Place("free", place[0], intervals=place[1]))
            self._pair(START, "free", Data(False), (), starts, starts, {NEXT: "free"})

    def _replaced(self) -> None:
        waiting = [way.layout for way in self.steps.start(self.prover)]
        while waiting:
            layout = waiting.pop()
            if any(place.phase == "before" and place.layout == layout for place in self.places):
                continue
            self.place(Place("before", layout))
            data = Data(False)
            ways = self.steps.step(layout, _numbers(layout), self._entry(data, "z"), data, self.prover)
            waiting += [way.layout for way in ways if way.control == NEXT]

    def _entry(self, data: Data, name: str) -> Form:
        low, high = self.domain.low, self.domain.high
        ends = [None if end is None else Fraction(end) for end in (low, high)]
        return data.declare(name, ends[0], ends[1], self.domain.whole)

    def data(self) -> Data:
        """With the entries that differ."""
        data = Data(False)
        for name in sorted(PERSISTENT[self.relation]):
            self._entry(data, name)
        return data

    def _expand(self, k: int) -> None:
        place = self.places[k]
        allowed = {NEXT: FOLLOWING.get(place.phase, ""), BREAK: "done"}
        if place.phase == "before":
            self._differing(k, place, allowed)
        elif place.phase != "done":
            data = self.data()
            if self.relation == "answers":
                entry = data.declare("x", None, None)
                other = entry + data.declare("d", Fraction(-1), Fraction(1))
            else:
                entry = other = self._entry(data, "z")
            here, there = self._both(place, data)
            ones = self.steps.step(place.layout, here, entry, data, self.prover)
            others = self.steps.step(place.layout, there, other, data, self.prover)
            if self.steps.event is not None:
                ones = [way for way in ones if way.event == (place.phase == "free")]
            how = "last" if place.phase == "free" else "entry"
            self._pair(k, how, data, place.facts, ones, others, allowed)
        if place.phase in ("locked", "after", "done"):
            data = self.data()
            here, there = self._both(place, data)
            ends = [self.steps.end(place.layout, numbers, data, self.prover) for numbers in (here, there)]
            self._pair(k, "end", data, place.facts, ends[0], ends[1], {})

    def _both(self, place: Place, data: Data) -> tuple[list[Form], list[Form]]:
        """The numbers of both states; the other's are variables of their own where differences are unknown."""
        here = _numbers(place.layout)
        if place.intervals is None:
            return here, [Form.variable(f"st{i}") for i in range(len(here))]
        return here, [
            s + data.declare(f"e{i}", *ends) for i, (s, ends) in enumerate(zip(here, place.intervals, strict=True))
        ]

    def _differing(self, k: int, place: Place, allowed: Mapping[str, str]) -> None:
        numbers = _numbers(place.layout)
        for how in ("entry",) if self.relation == "replace-one" else ("removed", "added"):
            data = self.data()
            here = self.steps.step(place.layout, numbers, Form.variable("x"), data, self.prover)
            if how == "entry":
                there = self.steps.step(place.layout, numbers, Form.variable("y"), data, self.prover)
            else:
                there = self.steps.idle(place.layout, numbers)
            ones, others = (there, here) if how == "added" else (here, there)
            self._pair(k, how, data, (), ones, others, allowed, origin=True)

    def _pair(
        self,
        start: Any,
        how: str,
        data: Data,
        facts: Sequence[Sign],
        here: list[Way],
        there: list[Way],
        allowed: Mapping[str, str],
        origin: bool = False,
    ) -> None:
        """An edge for every way here and every set of tests on the entries there."""
        for way in here:
            for cell in {other.cell: None for other in there}:
                others = [other for other in there if other.cell == cell]
                tests = [test for test in others[0].tests if test.name() in cell]
                known = [*data.facts, *facts, *way.tests, *tests]
                if self.prover.contradictory(known):
                    continue
                to, came = None, self.places[start].origin if start != START else ()
                if way.control in allowed:
                    kept = [*facts]
                    if origin:
                        came = how, tuple(sorted(way.cell)), tuple(sorted(cell))
                        kept += [t for t in (*way.tests, *tests) if t.form.slopes.keys() <= PERSISTENT[self.relation]]
                    to = self.place(Place(allowed[way.control], way.layout, came, tuple(kept)))
                self.edges.append(Edge(start, how, way, _alike(way, others), data, known, to))


MOST_PLACES = 120


def _numbers(layout: Layout) -> list[Form]:
    return [Form.variable(f"s{i}") for i in range(numbers_in(layout))]


def _alike(way: Way, others: list[Way]) -> Way:
    """The way of the other run with the same label, if there are several with the same number of tests."""
    same = [other for other in others if other.label == way.label and other.draws == way.draws]
    if not same:
        raise NoInduction(f"the neighbour cannot do {way.label}")
    return min(same, key=lambda other: abs(len(other.tests) - len(way.tests)))


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
