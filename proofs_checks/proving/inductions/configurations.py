"""The configurations of a loop, found by running steps until no new discrete state comes, and the steps between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..checker.cutting.cut import BREAK, NEXT
from ..checker.forms import Form, Sign
from ..checker.inductions.check import uneventful
from ..checker.inductions.comparing import tightened
from ..checker.inductions.configurations import FOLLOWING, PERSISTENT, START
from ..checker.inductions.states import WHOLE, Layout, numbers_of
from ..checker.inductions.steps import Way
from ..checker.pairs import Data
from ..domain import Domain
from ..solver import Space
from .intervals import NOTHING, Interval, free_intervals
from .loops import Loops, NoInduction, numbered

MOST_PLACES = 120


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
    space: Space
    known: list[Sign]
    to: int | None

    @property
    def key(self) -> Any:
        return self.start, self.how, self.way.cell, self.other.cell, self.way.label


@dataclass
class Search:
    """The configurations of a function's loops, and the edges between them."""

    loops: Loops
    relation: str
    domain: Domain
    places: list[Place] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    said: dict[Any, tuple[tuple[Sign, ...], Form | None]] = field(default_factory=dict)
    made_of_entries: Data = field(init=False)
    """What steps compute of the entries that differ alone."""

    def __post_init__(self) -> None:
        self.made_of_entries = Data(False, order=self.loops.order)

    @property
    def records(self) -> set[str]:
        """Those of the variables that later steps may hang on that are records."""
        return self.made_of_entries.vectors | (PERSISTENT[self.relation] if self.loops.order else set())

    def explored(self) -> Search:
        """All of them. Raises NoInduction."""
        if self.relation == "answers":
            space = self.loops.space()
            starts = self.loops.start(space)
            for phase in self._entered(0, starts):
                self._pair(START, phase, space, (), starts, starts, {NEXT: (0, phase)})
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

    @property
    def differing(self) -> set[str]:
        """The variables that later steps may hang on: the entries that differ, and what is made of these alone."""
        return PERSISTENT[self.relation] | self.made_of_entries.ends.keys()

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
        """What the author says of such a state."""
        key = stage, str(layout)
        if key not in self.said:
            space, numbers, before = self.loops.space(), numbered(layout), len(self.loops.said)
            self.loops.at(stage).step(layout, numbers, space.variable("x", None, None), space)
            heard = self.loops.said[before:]
            own = {name for number in numbers for name in number.slopes}
            facts = {f.name(): f for said in heard for f in said.facts if f.form.slopes.keys() <= own}
            good = [said.spent for said in heard if said.spent is not None and said.spent.slopes.keys() <= own]
            self.said[key] = tuple(facts.values()), good[0] if good else None
        return self.said[key]

    def _entered(self, stage: int, ways: list[Way]) -> tuple[str, ...]:
        """The phases in which runs come to a loop by these ways."""
        if self.relation != "answers":
            return ("again",)
        loops = self.loops.at(stage)
        if loops.steps.watched is None:
            return ("locked",)
        for layout, intervals in free_intervals(loops, ways):
            self.place(Place(stage, "free", layout, intervals=intervals))
        return "locked", "free"

    def _replaced(self) -> None:
        waiting = [way.layout for way in self.loops.start(self.loops.space())]
        while waiting:
            layout = waiting.pop()
            if any(place.phase == "before" and place.layout == layout for place in self.places):
                continue
            self.place(Place(0, "before", layout))
            space = self.loops.space()
            ways = self.loops.step(layout, numbered(layout), self._entry(space, "z"), space)
            waiting += [way.layout for way in ways if way.control == NEXT]

    def _entry(self, space: Space, name: str) -> Form:
        return space.entry(name, self.domain.low, self.domain.high, self.domain.whole)

    def _space(self) -> Space:
        """With the entries that differ."""
        space = self.loops.space()
        for name in sorted(PERSISTENT[self.relation]):
            self._entry(space, name)
        space.data.adopt(self.made_of_entries, PERSISTENT[self.relation])
        return space

    def _expand(self, k: int) -> None:
        place = self.places[k]
        loops = self.loops.at(place.stage)
        if place.phase in ("locked", "free", "after", "again"):
            self._alike(k, place, loops)
        if place.phase in ("before", "again"):
            self._differing(k, place, loops)
        if place.phase in ("locked", "after", "done"):
            self._end(k, place, loops)

    def _alike(self, k: int, place: Place, loops: Loops) -> None:
        """A step with an entry that both have, or an answer that moves."""
        space = self._space()
        if self.relation == "answers":
            entry = space.variable("x", None, None)
            other = entry + space.variable("d", -1, 1)
        else:
            entry = other = self._entry(space, "z")
        here, there = self._both(place, space)
        ones = loops.step(place.layout, here, entry, space)
        others = loops.step(place.layout, there, other, space)
        if place.phase == "free" and not uneventful([*ones, *others]):
            raise NoInduction("before the last event a step draws, appends or ends otherwise")
        if loops.steps.watched is not None:
            ones = [way for way in ones if way.event == (place.phase == "free")]
        how = "last" if place.phase == "free" else "entry"
        allowed = {NEXT: (place.stage, FOLLOWING[place.phase]), BREAK: (place.stage, "done")}
        self._pair(k, how, space, place.facts, ones, others, allowed)

    def _end(self, k: int, place: Place, loops: Loops) -> None:
        space = self._space()
        here, there = self._both(place, space)
        ones, others = (loops.end(place.layout, numbers, space) for numbers in (here, there))
        for phase in ("",) if loops.steps.last else self._entered(place.stage + 1, ones):
            ways = ones if phase != "free" else [way for way in ones if way.control == NEXT]
            how = "end free" if phase == "free" else "end"
            self._pair(k, how, space, place.facts, ways, others, {NEXT: (place.stage + 1, phase)})

    def _both(self, place: Place, space: Space) -> tuple[list[Form], list[Form]]:
        """The numbers of both states; the other's are variables of their own where differences are unknown."""
        here = numbered(place.layout)
        if place.phase == "before":
            return here, here
        if place.intervals is None:
            return here, numbered(place.layout, "st")
        apart = enumerate(zip(here, place.intervals, strict=True))
        return here, [s if ends == NOTHING else s + space.variable(f"e{i}", *ends) for i, (s, ends) in apart]

    def _differing(self, k: int, place: Place, loops: Loops) -> None:
        allowed = {NEXT: (place.stage, "after"), BREAK: (place.stage, "done")}
        for how in ("differs",) if self.relation == "replace-one" else ("removed", "added"):
            space = self._space()
            here, there = self._both(place, space)
            if how == "added":
                here, there = there, here
            ones = loops.step(place.layout, here, Form({"x": 1}), space)
            if how == "differs":
                others = loops.step(place.layout, there, Form({"y": 1}), space)
            else:
                others = loops.idle(place.layout, there)
            if how == "added":
                ones, others = others, ones
            self.made_of_entries.adopt(space.data, PERSISTENT[self.relation])
            self._pair(k, how, space, place.facts, ones, others, allowed, origin=True)

    def _pair(
        self,
        start: Any,
        how: str,
        space: Space,
        facts: Sequence[Sign],
        here: list[Way],
        there: list[Way],
        allowed: Mapping[str, tuple[int, str]],
        origin: bool = False,
    ) -> None:
        """An edge for every way here and every set of tests on the entries there."""
        whole = set[str]() if start == START else numbers_of(self.places[start].layout, WHOLE)
        for place, way in enumerate(here):
            for cell in {other.cell: None for other in there}:
                others = [other for other in there if other.cell == cell]
                tests = [test for test in others[0].tests if test.name() in cell]
                known = [*space.facts, *facts, *way.tests, *tests]
                known += tightened(known, whole)
                if not space.possible(*known):
                    continue
                to, came = None, self.places[start].origin if start != START else ()
                if way.control in allowed:
                    kept = [*facts, *way.tests, *tests] if origin else [*facts]
                    kept = [fact for fact in kept if fact.form.slopes.keys() <= self.differing]
                    if origin:
                        came = *came, how, tuple(sorted(way.cell)), tuple(sorted(cell))
                    to = self.place(Place(*allowed[way.control], way.layout, came, tuple(kept)))
                self.edges.append(
                    Edge(start, how, way, _alike(way, others, there[place : place + 1]), space, known, to)
                )


def _alike(way: Way, others: list[Way], twin: list[Way]) -> Way:
    """The way of the other run with the same label: of several its twin, else one with the same number of tests."""
    same = [other for other in others if other.label == way.label and other.draws == way.draws]
    if not same:
        raise NoInduction(f"the neighbour cannot do {way.label}")
    return min(
        same, key=lambda other: (abs(len(other.tests) - len(way.tests)), all(other is not each for each in twin))
    )
