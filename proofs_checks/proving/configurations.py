"""The configurations of a loop, found by running steps until no new discrete state comes, and the steps between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .checker.comparing import tightened
from .checker.configurations import FOLLOWING, PERSISTENT, START
from .checker.cut import BREAK, NEXT
from .checker.farkas import Prover
from .checker.forms import Form, Sign
from .checker.induction import uneventful
from .checker.invariant import listening
from .checker.pairs import Data
from .checker.states import Layout, numbers_in, whole_numbers
from .checker.steps import Steps, Way
from .intervals import NOTHING, Interval, free_intervals
from .relations import Domain

MOST_PLACES = 120


class NoInduction(Exception):
    """There is no induction of this form; the text says why."""


@dataclass
class Place:
    """A configuration to be: its loop, phase, layout, where it came from, and (phase free) intervals of differences.

    spent: how much its author says is spent there.
    """

    stage: int
    phase: str
    layout: Layout
    origin: tuple[Any, ...] = ()
    facts: tuple[Sign, ...] = ()
    intervals: tuple[Interval, ...] | None = None
    spent: Form | None = None

    @property
    def key(self) -> Any:
        return self.stage, self.phase, str(self.layout), self.origin


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
    """The configurations of a function's loops, and the edges between them."""

    steps: Steps
    relation: str
    domain: Domain
    prover: Prover = field(default_factory=Prover)
    places: list[Place] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    said: dict[Any, tuple[tuple[Sign, ...], Form | None]] = field(default_factory=dict)

    def explored(self) -> Search:
        """All of them. Raises NoInduction or Refused."""
        if self.relation == "answers":
            data = Data(False)
            starts = self.steps.start(data, self.prover)
            for phase in self._entered(0, starts):
                self._pair(START, phase, data, (), starts, starts, {NEXT: (0, phase)})
        else:
            self._replaced()
        k = 0
        while k < len(self.places):
            self._expand(k)
            k += 1
        return self

    @property
    def scaled(self) -> bool:
        """Whether costs are counted N times: some noise has a scale that is proportional to N."""
        return any("*N" in scale for edge in self.edges for _, scale in edge.way.draws)

    def begins(self, edge: Edge) -> bool:
        """Whether nothing is spent before the edge: until the entry that differs comes everything is left."""
        return bool(edge.start == START or self.places[edge.start].phase == "before")

    def place(self, place: Place) -> int:
        """Its number; a new one where it is new."""
        for k, known in enumerate(self.places):
            if known.key == place.key:
                return k
        if len(self.places) >= MOST_PLACES:
            raise NoInduction("the loop has too many discrete states")
        if place.phase not in ("free", "done"):
            facts, place.spent = self._seeds(place.stage, place.layout)
            place.facts += facts
        self.places.append(place)
        return len(self.places) - 1

    def _seeds(self, stage: int, layout: Layout) -> tuple[tuple[Sign, ...], Form | None]:
        """What the author says of such a state (invariant.py)."""
        key = stage, str(layout)
        if key not in self.said:
            heard: list[tuple[tuple[Any, ...], Any]] = []
            data, numbers = Data(False), _numbers(layout)
            with listening(lambda facts, spent: heard.append((facts, spent))):
                entry = data.declare("x", None, None)
                self.steps.at(stage).step(layout, numbers, entry, data, self.prover)
            own = {name for number in numbers for name in number.slopes}
            facts = {
                f.name(): f for said, _ in heard for f in said if isinstance(f, Sign) and f.form.slopes.keys() <= own
            }
            spent = [Form.lift(each) for _, each in heard if each is not None]
            good = [form for form in spent if form.slopes.keys() <= own]
            self.said[key] = tuple(facts.values()), good[0] if good else None
        return self.said[key]

    def _entered(self, stage: int, ways: list[Way]) -> tuple[str, ...]:
        """The phases in which runs come to a loop by these ways."""
        if self.relation != "answers":
            return ("again",)
        steps = self.steps.at(stage)
        if steps.watched is None:
            return ("locked",)
        for layout, intervals in free_intervals(steps, ways, self.prover):
            self.place(Place(stage, "free", layout, intervals=intervals))
        return "locked", "free"

    def _replaced(self) -> None:
        waiting = [way.layout for way in self.steps.start(Data(False), self.prover)]
        while waiting:
            layout = waiting.pop()
            if any(place.phase == "before" and place.layout == layout for place in self.places):
                continue
            self.place(Place(0, "before", layout))
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
        steps = self.steps.at(place.stage)
        if place.phase in ("locked", "free", "after", "again"):
            self._alike(k, place, steps)
        if place.phase in ("before", "again"):
            self._differing(k, place, steps)
        if place.phase in ("locked", "after", "done"):
            self._end(k, place, steps)

    def _alike(self, k: int, place: Place, steps: Steps) -> None:
        """A step with an entry that both have, or an answer that moves."""
        data = self.data()
        if self.relation == "answers":
            entry = data.declare("x", None, None)
            other = entry + data.declare("d", Fraction(-1), Fraction(1))
        else:
            entry = other = self._entry(data, "z")
        here, there = self._both(place, data)
        ones = steps.step(place.layout, here, entry, data, self.prover)
        others = steps.step(place.layout, there, other, data, self.prover)
        if place.phase == "free" and not uneventful([*ones, *others]):
            raise NoInduction("before the last event a step draws, appends or ends otherwise")
        if steps.watched is not None:
            ones = [way for way in ones if way.event == (place.phase == "free")]
        how = "last" if place.phase == "free" else "entry"
        allowed = {NEXT: (place.stage, FOLLOWING[place.phase]), BREAK: (place.stage, "done")}
        self._pair(k, how, data, place.facts, ones, others, allowed)

    def _end(self, k: int, place: Place, steps: Steps) -> None:
        data = self.data()
        here, there = self._both(place, data)
        ones, others = (steps.end(place.layout, numbers, data, self.prover) for numbers in (here, there))
        for phase in ("",) if steps.last else self._entered(place.stage + 1, ones):
            ways = ones if phase != "free" else [way for way in ones if way.control == NEXT]
            how = "end free" if phase == "free" else "end"
            self._pair(k, how, data, place.facts, ways, others, {NEXT: (place.stage + 1, phase)})

    def _both(self, place: Place, data: Data) -> tuple[list[Form], list[Form]]:
        """The numbers of both states; the other's are variables of their own where differences are unknown."""
        here = _numbers(place.layout)
        if place.phase == "before":
            return here, here
        if place.intervals is None:
            return here, [Form.variable(f"st{i}") for i in range(len(here))]
        apart = enumerate(zip(here, place.intervals, strict=True))
        return here, [s if ends == NOTHING else s + data.declare(f"e{i}", *ends) for i, (s, ends) in apart]

    def _differing(self, k: int, place: Place, steps: Steps) -> None:
        allowed = {NEXT: (place.stage, "after"), BREAK: (place.stage, "done")}
        for how in ("differs",) if self.relation == "replace-one" else ("removed", "added"):
            data = self.data()
            here, there = self._both(place, data)
            if how == "added":
                here, there = there, here
            ones = steps.step(place.layout, here, Form.variable("x"), data, self.prover)
            if how == "differs":
                others = steps.step(place.layout, there, Form.variable("y"), data, self.prover)
            else:
                others = steps.idle(place.layout, there)
            if how == "added":
                ones, others = others, ones
            self._pair(k, how, data, place.facts, ones, others, allowed, origin=True)

    def _pair(
        self,
        start: Any,
        how: str,
        data: Data,
        facts: Sequence[Sign],
        here: list[Way],
        there: list[Way],
        allowed: Mapping[str, tuple[int, str]],
        origin: bool = False,
    ) -> None:
        """An edge for every way here and every set of tests on the entries there."""
        whole = set[str]() if start == START else whole_numbers(self.places[start].layout)
        for place, way in enumerate(here):
            for cell in {other.cell: None for other in there}:
                others = [other for other in there if other.cell == cell]
                tests = [test for test in others[0].tests if test.name() in cell]
                known = [*data.facts, *facts, *way.tests, *tests]
                known += tightened(known, whole)
                if self.prover.contradictory(known):
                    continue
                to, came = None, self.places[start].origin if start != START else ()
                if way.control in allowed:
                    kept = [*facts, *way.tests, *tests] if origin else [*facts]
                    kept = [fact for fact in kept if fact.form.slopes.keys() <= PERSISTENT[self.relation]]
                    if origin:
                        came = *came, how, tuple(sorted(way.cell)), tuple(sorted(cell))
                    to = self.place(Place(*allowed[way.control], way.layout, came, tuple(kept)))
                self.edges.append(Edge(start, how, way, _alike(way, others, there[place : place + 1]), data, known, to))


def _numbers(layout: Layout) -> list[Form]:
    return [Form.variable(f"s{i}") for i in range(numbers_in(layout))]


def _alike(way: Way, others: list[Way], twin: list[Way]) -> Way:
    """The way of the other run with the same label: of several its twin, else one with the same number of tests."""
    same = [other for other in others if other.label == way.label and other.draws == way.draws]
    if not same:
        raise NoInduction(f"the neighbour cannot do {way.label}")
    return min(
        same, key=lambda other: (abs(len(other.tests) - len(way.tests)), all(other is not each for each in twin))
    )
