"""Re-proving an induction over the loop's steps: a certificate for every number of entries.

The loop's head is in one of finitely many configurations. Each says what of the state is discrete, and by how much the
numbers of the state differ between the two runs (the second one with moved noise): exactly, as a form in the entry
that differs, or (phase "free") by something in an interval. Every step moves its noise by a shift that hangs on the
data, the configuration and the step's label: how the step ends, what it draws, appends and puts out, and the discrete
part of the next state. It is shown that the second run has the same label, the same numbers in what is released, and
the differences of the next configuration. Labels and earlier noise being equal, earlier shifts are, so the map of the
noise is injective with determinant 1 (triangular, unit diagonal), whatever the number of steps. Potentials bound what
is still to be paid: cost of the step + potential afterwards <= potential before; at the start at most epsilon.

Phases. "answers": "locked". replace-one and add-remove: "before" the entry that differs both runs are the same;
"after" it entries are. "done": after a break. With an event (a name of the state is set) runs are told apart by
the last step at which it happens: before it ("free") nothing is moved and the runs need not do the same; at it both
set the name; after it ("locked") neither does. So both runs have the same last step, and the map stays injective.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .configurations import (
    FOLLOWING,
    PERSISTENT,
    START,
    Configuration,
    Key,
    Move,
    read_configuration,
    read_key,
    read_move,
)
from .costs import step_cost
from .cut import BREAK, NEXT, cut
from .farkas import Prover
from .following import Refused
from .forms import Form, Sign
from .pairs import Data
from .pieces import Piece
from .steps import Layout, Steps, Way
from .surroundings import Surroundings
from .trials import same_outputs


def check_induction(
    document: Mapping[str, Any],
    function: Callable[..., Any],
    relation: str,
    ends: tuple[Fraction | None, Fraction | None, bool],
    budget: Fraction,
) -> tuple[int, int]:
    """Steps shown and runs compared. Raises Refused with the first thing that is not proved."""
    prover = Prover()
    names = PERSISTENT[relation]
    steps = Steps(
        cut(function),
        Surroundings(function),
        frozenset(document["wide"]),
        frozenset(document["appended"]),
        document["event"],
    )
    if steps.event is not None and (relation != "answers" or steps.event not in steps.cut.names):
        raise Refused("an event that the function does not have")
    configurations = [read_configuration(entry, names) for entry in document["configurations"]]
    moves = {read_key(entry): read_move(entry) for entry in document["moves"]}
    checking = _Checking(steps, prover, relation, ends, configurations, moves, budget)
    checking.start()
    for k in range(len(configurations)):
        checking.configuration(k)
    runs = same_outputs(function, relation, ends)
    return prover.steps, runs


@dataclass
class _Checking:
    steps: Steps
    prover: Prover
    relation: str
    ends: tuple[Fraction | None, Fraction | None, bool]
    configurations: list[Configuration]
    moves: Mapping[Key, Move]
    budget: Fraction

    def start(self) -> None:
        """Before the loop both runs do the same, with moved noise; with an event, also towards the free phase."""
        ways = self.steps.start(self.prover)
        if self.relation != "answers":
            self._listed("before", [way.layout for way in ways])
            return
        for phase in ("locked", "free") if self.steps.event else ("locked",):
            self._compared(Data(False), (START, phase), self.budget, (), ways, ways, {NEXT: phase})

    def configuration(self, k: int) -> None:
        """Every step from it, and the end."""
        at = self.configurations[k]
        phases = ("locked", "free", "done") if self.relation == "answers" else ("before", "after", "done")
        if at.phase not in phases or (at.phase == "free" and self.steps.event is None):
            raise Refused(f"a configuration of phase {at.phase!r}")
        if at.phase == "before":
            self._before(k, at)
        elif at.phase == "free":
            self._free(k, at)
        elif at.phase != "done":
            data = self._data()
            entry = data.declare("x", None, None) if self.relation == "answers" else self._entry(data, "z")
            moved = entry + data.declare("d", Fraction(-1), Fraction(1)) if self.relation == "answers" else entry
            here, there = self._numbers(at, data)
            self._step(k, "entry", at.potential, data, (at, here, entry), (at, there, moved))
        if at.phase in ("after", "locked", "done"):
            data = self._data()
            here, there = self._numbers(at, data)
            ones, others = (self.steps.end(at.layout, numbers, data, self.prover) for numbers in (here, there))
            self._compared(data, (k, "end"), at.potential, at.facts, ones, others, {})

    def _data(self) -> Data:
        """With the entries that differ, which later steps may hang on."""
        data = Data(False)
        for name in sorted(PERSISTENT[self.relation]):
            self._entry(data, name)
        return data

    def _entry(self, data: Data, name: str) -> Form:
        return data.declare(name, *self.ends)

    def _numbers(self, at: Configuration, data: Data) -> tuple[list[Form], list[Form]]:
        """The numbers of both states."""
        here = [Form.variable(f"s{i}") for i in range(len(at.differences))]
        there = []
        for i, (number, difference) in enumerate(zip(here, at.differences, strict=True)):
            between = difference if isinstance(difference, Form) else data.declare(f"e{i}", *difference)
            there.append(number + between)
        return here, there

    def _listed(self, phase: str, layouts: Iterable[Layout]) -> None:
        known = [at.layout for at in self.configurations if at.phase == phase]
        if any(layout not in known for layout in layouts):
            raise Refused(f"a state of the loop that no configuration of phase {phase!r} describes")

    def _before(self, k: int, at: Configuration) -> None:
        """Entries that both have lead from such states to such states; then comes the one that differs."""
        data = Data(False)
        numbers = [Form.variable(f"s{i}") for i in range(len(at.differences))]
        ways = self.steps.step(at.layout, numbers, self._entry(data, "z"), data, self.prover)
        self._listed("before", [way.layout for way in ways if way.control == NEXT])
        if self.relation == "replace-one":
            data = self._data()
            x, y = (Form.variable(name) for name in ("x", "y"))
            self._step(k, "entry", self.budget, data, (at, numbers, x), (at, numbers, y))
            return
        if self.steps.cut.indexed:
            raise Refused("the index of an entry, of which there may be one fewer before")
        for how in ("removed", "added"):
            data = self._data()
            stepped = self.steps.step(at.layout, numbers, Form.variable("x"), data, self.prover)
            idle = self.steps.idle(at.layout, numbers)
            ones, others = (stepped, idle) if how == "removed" else (idle, stepped)
            self._compared(data, (k, how), self.budget, (), ones, others, {NEXT: "after", BREAK: "done"})

    def _step(self, k: int, how: str, potential: Fraction, data: Data, here: Any, there: Any) -> None:
        ones, others = (
            self.steps.step(at.layout, numbers, entry, data, self.prover) for at, numbers, entry in (here, there)
        )
        phase = self.configurations[k].phase
        allowed = {NEXT: FOLLOWING[phase], BREAK: "done"}
        wanted = None if self.steps.event is None else phase == "free"
        self._compared(data, (k, how), potential, self.configurations[k].facts, ones, others, allowed, wanted)

    def _free(self, k: int, at: Configuration) -> None:
        """Either the event happens for the last time, or the step leads to such a state again, with nothing moved."""
        data = self._data()
        x, d = data.declare("x", None, None), data.declare("d", Fraction(-1), Fraction(1))
        here, there = self._numbers(at, data)
        self._step(k, "last", at.potential, data, (at, here, x), (at, there, x + d))
        ones = self.steps.step(at.layout, here, x, data, self.prover)
        others = self.steps.step(at.layout, there, x + d, data, self.prover)
        for way in (*ones, *others):
            if way.draws != ones[0].draws or way.control != NEXT or way.released or _appends(way):
                raise Refused("before the last event a step draws, appends or ends otherwise")
        for one in ones:
            for other in others:
                known = [*data.facts, *at.facts, *_opened(one, one.tests), *_opened(other, other.tests)]
                if not self.prover.contradictory(known):
                    self._again(at, one, other, known)

    def _again(self, at: Configuration, one: Way, other: Way, known: list[Sign]) -> None:
        following = [c for c in self.configurations if c.phase == "free" and c.layout == one.layout == other.layout]
        if not following or following[0].potential > at.potential:
            raise Refused("a free state that no configuration describes, or that may cost more")
        self._differ(following[0], one.after, other.after, known)

    def _compared(
        self,
        data: Data,
        place: tuple[Any, str],
        potential: Fraction,
        facts: Sequence[Sign],
        here: list[Way],
        there: list[Way],
        phases: Mapping[str, str],
        event: bool | None = None,
    ) -> None:
        """Every way of the one run is followed by the other, with the shift that the certificate states for it.

        phases: to which phase each control leads. event: only ways with or without it are meant.
        """
        cells = {way.cell: [test for test in way.tests if test.name() in way.cell] for way in there}
        for way in here:
            if event is not None and way.event != event:
                continue
            known = [*data.facts, *facts, *_opened(way, way.tests)]
            for cell, tests in cells.items():
                if self.prover.contradictory([*known, *tests]):
                    continue
                move = self.moves.get((*place, way.cell, cell, way.label))
                if move is None:
                    raise Refused(f"no move for the label {way.label}")
                others = [other for other in there if other.cell == cell]
                self._moved(data, [*known, *tests], potential, way, others, move, phases)

    def _moved(
        self,
        data: Data,
        known: list[Sign],
        potential: Fraction,
        way: Way,
        others: list[Way],
        move: Move,
        phases: Mapping[str, str],
    ) -> None:
        piece = Piece(way.label, way.draws, (), (), move.shifts, ())
        to = self._target(way, move, phases)
        self._affordable(data, known, piece, move, potential - (to.potential if to else 0))
        if to is not None and not all(self.prover.entails(known, fact) for fact in to.facts):
            raise Refused("a fact of the next configuration that need not be one")
        for other in others:
            tests = [Sign(piece.moved(test.form), test.strict) for test in other.tests]
            both = [*known, *_opened(way, tests)]
            if self.prover.contradictory(both):
                continue
            if other.label != way.label or other.draws != way.draws:
                raise Refused(f"the other run may do {other.label} instead of {way.label}")
            self._equal(way.released, [piece.moved(form) for form in other.released], both)
            if to is not None:
                self._differ(to, way.after, [piece.moved(form) for form in other.after], both)

    def _target(self, way: Way, move: Move, phases: Mapping[str, str]) -> Configuration | None:
        """The configuration that the move leads to, if it is one that fits."""
        if way.control not in phases:
            if move.to is not None:
                raise Refused("a move beyond the output")
            return None
        if type(move.to) is not int or not 0 <= move.to < len(self.configurations):
            raise Refused("a move to nowhere")
        to = self.configurations[move.to]
        if to.phase != phases[way.control] or to.layout != way.layout:
            raise Refused("a move to a configuration that describes another state")
        return to

    def _affordable(self, data: Data, known: list[Sign], piece: Piece, move: Move, most: Fraction) -> None:
        """Shifted noise is possible noise, and costs at most this."""
        paid = step_cost(self.prover, data, known, piece, move.bounds)
        if paid > most:
            raise Refused(f"a step that costs {paid}, where {most} is left")

    def _equal(self, ones: Sequence[Form], others: Sequence[Form], known: list[Sign]) -> None:
        for one, other in zip(ones, others, strict=True):
            if not all(self.prover.entails(known, Sign(side, False)) for side in (one - other, other - one)):
                raise Refused("a released number changes")

    def _differ(self, to: Configuration, ones: Sequence[Form], others: Sequence[Form], known: list[Sign]) -> None:
        """The states' numbers differ as the configuration says."""
        for one, other, difference in zip(ones, others, to.differences, strict=True):
            gap = other - one
            low, high = (difference, difference) if isinstance(difference, Form) else difference
            sides = ([] if low is None else [gap - low]) + ([] if high is None else [-gap + high])
            if not all(self.prover.entails(known, Sign(side, False)) for side in sides):
                raise Refused("states that differ otherwise than their configuration says")


def _opened(way: Way, tests: Iterable[Sign]) -> list[Sign]:
    """Tests on continuous noise as strict ones: equality is a null set, and shifting keeps null sets."""
    piece = Piece("", way.draws, (), (), (), ())
    return [Sign(test.form, test.strict or piece.continuous(test.form)) for test in tests]


def _appends(way: Way) -> bool:
    return any(len(part[1]) > 1 or part[1][0] is None for part in json.loads(way.label)[1])
