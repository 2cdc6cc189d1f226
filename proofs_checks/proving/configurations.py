"""The configurations of a loop, found by running steps until no new discrete state comes, and the steps between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .checker.configurations import FOLLOWING, PERSISTENT, START
from .checker.cut import BREAK, NEXT
from .checker.farkas import Prover
from .checker.forms import Form, Sign
from .checker.pairs import Data
from .checker.steps import Layout, Steps, Way, numbers_in
from .intervals import Interval, free_intervals
from .relations import Domain

MOST_PLACES = 120


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


@dataclass
class Search:
    """The configurations of one loop, and the edges between them."""

    steps: Steps
    relation: str
    domain: Domain
    prover: Prover = field(default_factory=Prover)
    places: list[Place] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def explored(self) -> Search:
        """All of them. Raises NoInduction or Refused."""
        if self.relation == "answers":
            self._locked()
        else:
            self._replaced()
        k = 0
        while k < len(self.places):
            self._expand(k)
            k += 1
        return self

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


def _numbers(layout: Layout) -> list[Form]:
    return [Form.variable(f"s{i}") for i in range(numbers_in(layout))]


def _alike(way: Way, others: list[Way]) -> Way:
    """The way of the other run with the same label, if there are several with the same number of tests."""
    same = [other for other in others if other.label == way.label and other.draws == way.draws]
    if not same:
        raise NoInduction(f"the neighbour cannot do {way.label}")
    return min(same, key=lambda other: abs(len(other.tests) - len(way.tests)))
