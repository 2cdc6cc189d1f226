"""The configurations of a loop, found by running steps until no new discrete state comes, and the steps between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..checker.forms import Form, Sign
from ..checker.inductions.comparing import tightened
from ..checker.inductions.configurations import PERSISTENT, START
from ..checker.inductions.states import WHOLE, Layout, numbers_of
from ..checker.inductions.steps import Way
from ..checker.inductions.walk import BothRuns, Walk
from ..checker.pairs import Data
from ..solver import Space
from .intervals import NOTHING, Interval, free_intervals
from .loops import NoInduction, numbered

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
class Search(Walk):
    """The configurations of a function's loops, and the edges between them."""

    places: list[Place] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    said: dict[Any, tuple[tuple[Sign, ...], Form | None]] = field(default_factory=dict)

    @property
    def records(self) -> set[str]:
        """Those of the variables that later steps may hang on that are records."""
        return self.made_of_entries.vectors | (PERSISTENT[self.setting.relation] if self.setting.order else set())

    def explored(self) -> Search:
        """All of them. Raises NoInduction."""
        self.start()
        k = 0
        while k < len(self.places):
            self.configuration(k, self.places[k])
            k += 1
        return self

    @property
    def scaled(self) -> bool:
        """Whether costs are counted N times: some noise has a scale that is proportional to N."""
        return any("*N" in scale for edge in self.edges for _, scale in edge.way.draws)

    @property
    def differing(self) -> set[str]:
        """The variables that later steps may hang on: the entries that differ, and what is made of these alone."""
        return PERSISTENT[self.setting.relation] | self.made_of_entries.ends.keys()

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
            data, numbers, before = self.setting.data(), numbered(layout), len(self.steps.said)
            self.steps.at(stage).step(layout, numbers, data.declare("x", None, None), data)
            heard = self.steps.said[before:]
            own = {name for number in numbers for name in number.slopes}
            facts = {f.name(): f for said in heard for f in said.facts if f.form.slopes.keys() <= own}
            good = [said.spent for said in heard if said.spent is not None and said.spent.slopes.keys() <= own]
            self.said[key] = tuple(facts.values()), good[0] if good else None
        return self.said[key]

    def entered(self, stage: int, ways: Sequence[Way]) -> tuple[str, ...]:
        """With places of the free phase, of which each has its intervals."""
        phases = super().entered(stage, ways)
        loops = self.steps.at(stage)
        for layout, intervals in free_intervals(loops, ways) if "free" in phases else ():
            self.place(Place(stage, "free", layout, intervals=intervals))
        return phases

    def listed(self, ways: Sequence[Way], known: Sequence[Sign]) -> None:
        for way in ways:
            self.place(Place(0, "before", way.layout))

    def again(self, at: Place, ones: Sequence[Way], others: Sequence[Way], data: Data) -> None:
        """That is what the intervals say."""

    def numbers(self, at: Place, data: Data) -> tuple[list[Form], list[Form]]:
        """The other's are variables of their own where differences are unknown."""
        here = numbered(at.layout)
        if at.phase == "before":
            return here, here
        if at.intervals is None:
            return here, numbered(at.layout, "st")
        apart = enumerate(zip(here, at.intervals, strict=True))
        return here, [s if ends == NOTHING else s + data.declare(f"e{i}", *ends) for i, (s, ends) in apart]

    def pair(self, both: BothRuns) -> None:
        """An edge for every way here and every set of tests on the entries there."""
        origin, start = both.how in ("differs", "removed", "added"), both.k == START
        if origin:
            self.made_of_entries.adopt(both.data, PERSISTENT[self.setting.relation])
        space, facts = self.steps.space(both.data), () if start else self.places[both.k].facts
        whole = set[str]() if start else numbers_of(self.places[both.k].layout, WHOLE)
        for place, way in enumerate(both.meant):
            for cell in {other.cell: None for other in both.there}:
                others = [other for other in both.there if other.cell == cell]
                tests = [test for test in others[0].tests if test.name() in cell]
                known = [*space.data.facts, *facts, *way.tests, *tests]
                known += tightened(known, whole)
                if not space.possible(*known):
                    continue
                to, came = None, () if start else self.places[both.k].origin
                if way.control in both.allowed:
                    kept = [*facts, *way.tests, *tests] if origin else [*facts]
                    kept = [fact for fact in kept if fact.form.slopes.keys() <= self.differing]
                    if origin:
                        came = *came, both.how, tuple(sorted(way.cell)), tuple(sorted(cell))
                    to = self.place(Place(*both.allowed[way.control], way.layout, came, tuple(kept)))
                other = _alike(way, others, both.there[place : place + 1])
                self.edges.append(Edge(both.k, both.how, way, other, space, known, to))


def _alike(way: Way, others: Sequence[Way], twin: Sequence[Way]) -> Way:
    """The way of the other run with the same label: of several its twin, else one with the same number of tests."""
    same = [other for other in others if other.label == way.label and other.draws == way.draws]
    if not same:
        raise NoInduction(f"the neighbour cannot do {way.label}")
    return min(
        same, key=lambda other: (abs(len(other.tests) - len(way.tests)), all(other is not each for each in twin))
    )
