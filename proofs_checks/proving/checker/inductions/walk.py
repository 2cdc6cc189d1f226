"""How the runs on two neighbours go through a function's loops: to the first one, entry by entry, to the output.

Who walks says what the numbers of two states are, and what becomes of the ways from there on: the checker compares them
(check.py), a search notes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..cutting.cut import BREAK, NEXT
from ..forms import Form, Sign
from ..pairs import Data, Setting
from ..refusals import Refused
from .configurations import FOLLOWING, PERSISTENT, START
from .steps import Way, uneventful


@dataclass(frozen=True)
class BothRuns:
    """What the two runs do from a configuration, or the start (k), and how they get on: the ways of each.

    allowed: to which loop and phase each control leads. event: only ways with or without it are meant.
    """

    k: Any
    how: str
    data: Data
    here: Sequence[Way]
    there: Sequence[Way]
    allowed: Mapping[str, tuple[int, str]]
    event: bool | None = None

    @property
    def meant(self) -> list[Way]:
        """The ways here that are."""
        return [way for way in self.here if self.event is None or way.event == self.event]


@dataclass
class Walk:
    """steps: the function's, at one of its loops. made_of_entries: what steps compute of the entries that differ alone:
    later ones may hang on that, too."""

    steps: Any
    setting: Setting
    made_of_entries: Data

    def numbers(self, at: Any, data: Data) -> tuple[list[Form], list[Form]]:
        """Those of both states."""
        raise NotImplementedError

    def pair(self, both: BothRuns) -> None:
        """A step of both runs, or what comes before or after a loop."""
        raise NotImplementedError

    def listed(self, ways: Sequence[Way], known: Sequence[Sign]) -> None:
        """States before the entry that differs, in which both runs are."""
        raise NotImplementedError

    def again(self, at: Any, ones: Sequence[Way], others: Sequence[Way], data: Data) -> None:
        """Steps before the last event, of runs that need not do the same."""
        raise NotImplementedError

    def entered(self, stage: int, ways: Sequence[Way]) -> tuple[str, ...]:
        """The phases in which runs come to a loop, by these ways."""
        if self.setting.relation != "answers":
            return ("again",)
        return ("locked", "free") if self.steps.at(stage).watched else ("locked",)

    def data(self, left: int) -> Data:
        """With the entries that differ, which later steps may hang on; at least so many are left."""
        data, names = self.setting.data(), PERSISTENT[self.setting.relation]
        for name in sorted(names):
            self.setting.entry(data, name)
        data.adopt(self.made_of_entries, names)
        return data

    def start(self) -> None:
        """Before the first loop both runs do the same, with moved noise; with an event, also towards the free phase."""
        data = self.setting.data()
        ways = self.steps.start(data)
        if self.setting.relation != "answers":
            self.listed(ways, data.facts)
            return
        for phase in self.entered(0, ways):
            self.pair(BothRuns(START, phase, data, ways, ways, {NEXT: (0, phase)}))

    def configuration(self, k: int, at: Any) -> None:
        """Every step from it, and the end."""
        steps = self.steps.at(at.stage)
        if at.phase == "before":
            self._before(at, steps)
        elif at.phase == "free":
            self._free(k, at, steps)
        elif at.phase != "done":
            data = self.data(1)
            entry, moved = self._entries(data)
            here, there = self.numbers(at, data)
            self._step(k, "entry", at, data, (steps, here, entry), (steps, there, moved))
        if at.phase in ("before", "again"):
            self._differing(k, at, steps)
        if at.phase in ("after", "locked", "done"):
            self._end(k, at, steps)

    def _entries(self, data: Data) -> tuple[Form, Form]:
        """One that both have, or an answer that moves."""
        if self.setting.relation == "answers":
            return self.setting.answer(data)
        entry = self.setting.entry(data, "z")
        return entry, entry

    def _end(self, k: int, at: Any, steps: Any) -> None:
        """From the loop to the output, or to the next loop."""
        data = self.data(0)
        ones, others = (steps.end(at.layout, numbers, data) for numbers in self.numbers(at, data))
        for phase in ("",) if steps.last else self.entered(at.stage + 1, ones):
            ways = ones if phase != "free" else [way for way in ones if way.control == NEXT]
            how = "end free" if phase == "free" else "end"
            self.pair(BothRuns(k, how, data, ways, others, {NEXT: (at.stage + 1, phase)}))

    def _before(self, at: Any, steps: Any) -> None:
        """Entries that both have lead from such states to such states; then comes the one that differs."""
        data = self.data(1)
        here, _ = self.numbers(at, data)
        ways = steps.step(at.layout, here, self.setting.entry(data, "z"), data)
        self.listed([way for way in ways if way.control == NEXT], [*data.facts, *at.facts])
        if not steps.last and any(way.control == BREAK for way in ways):
            raise Refused("a loop that may end before the entry that differs, with another loop after it")

    def _differing(self, k: int, at: Any, steps: Any) -> None:
        """The entry that differs: one is another, or there is one in one run only."""
        data = self.data(1)
        here, there = self.numbers(at, data)
        x, y = Form.variable("x"), Form.variable("y")
        if self.setting.relation == "replace-one":
            self._step(k, "differs", at, data, (steps, here, x), (steps, there, y), "after")
            return
        if steps.loop.indexed:
            raise Refused("the index of an entry, of which there may be one fewer before")
        for how in ("removed", "added"):
            numbers, others = (here, there) if how == "removed" else (there, here)
            stepped, idle = steps.step(at.layout, numbers, x, data), steps.idle(at.layout, others)
            pair = (stepped, idle) if how == "removed" else (idle, stepped)
            self.pair(BothRuns(k, how, data, *pair, {NEXT: (at.stage, "after"), BREAK: (at.stage, "done")}))

    def _step(self, k: int, how: str, at: Any, data: Data, here: Any, there: Any, phase: str = "") -> None:
        ones, others = (steps.step(at.layout, numbers, entry, data) for steps, numbers, entry in (here, there))
        allowed = {NEXT: (at.stage, phase or FOLLOWING[at.phase]), BREAK: (at.stage, "done")}
        event = None if here[0].watched is None else at.phase == "free"
        self.pair(BothRuns(k, how, data, ones, others, allowed, event))

    def _free(self, k: int, at: Any, steps: Any) -> None:
        """Either the event happens for the last time, or the step leads to such a state again, with nothing moved."""
        data = self.data(1)
        x, moved = self._entries(data)
        here, there = self.numbers(at, data)
        self._step(k, "last", at, data, (steps, here, x), (steps, there, moved))
        ones = steps.step(at.layout, here, x, data)
        others = steps.step(at.layout, there, moved, data)
        if not uneventful([*ones, *others]):
            raise Refused("before the last event a step draws, appends or ends otherwise")
        self.again(at, ones, others, data)
