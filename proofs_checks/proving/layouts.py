"""Which places of a loop's state are told apart: the others are numbers that may be any, or lists that only grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .checker.cut import BREAK, NEXT
from .checker.farkas import Prover
from .checker.following import Refused
from .checker.forms import Form
from .checker.invariant import listening
from .checker.pairs import Data
from .checker.states import REAL, WHOLE, Layout, numbers_in
from .checker.steps import Steps
from .relations import Domain

MOST = 16
"""Discrete states; where there are more, the number that takes most values is not told apart any longer."""


@dataclass
class Layouts:
    """Runs steps until no new discrete state comes."""

    steps: Steps
    relation: str
    domain: Domain

    def settled(self) -> Steps:
        """The steps with what is not told apart. Raises Refused."""
        while True:
            found = self._reached()
            if isinstance(found, str):
                self.steps = replace(self.steps, appended=self.steps.appended | {found})
            elif found:
                self.steps = replace(self.steps, wide=self.steps.wide | found)
            else:
                return replace(self.steps, whole=self._whole())

    def _reached(self) -> str | set[str]:
        """The name of a list that grows; or places that only begin as numbers, or take too many values; or nothing."""
        prover = Prover()
        starts = [way.layout for way in self.steps.start(Data(False), prover)]
        for stage in range(len(self.steps.cut.loops)):
            starts, told = self._of_loop(self.steps.at(stage), starts, prover)
            if told:
                return told
        return set()

    def _whole(self) -> frozenset[str]:
        """Numbers that stay whole, for functions that say something of their state (invariant.py)."""
        heard: list[Any] = []
        with listening(lambda *said: heard.append(said)):
            self._reached()
        return frozenset(place for place in self.steps.wide if heard and self._stays_whole(place))

    def _stays_whole(self, place: str) -> bool:
        try:
            Layouts(replace(self.steps, whole=frozenset({place})), self.relation, self.domain)._reached()
        except Refused:
            return False
        return True

    def _of_loop(self, steps: Steps, starts: list[Layout], prover: Prover) -> tuple[list[Layout], str | set[str]]:
        """Of one loop: the layouts at the head of the next, and what is not to be told apart."""
        waiting, found, following = list(starts), list[Layout](), list[Layout]()
        while waiting and len(found) <= MOST:
            layout = waiting.pop(0)
            if layout in found:
                continue
            for name, parts in zip(steps.loop.names, zip(layout, *found, strict=True), strict=True):
                lists = [len(part) for part in parts if part[0] == ["list"]]
                if len(set(lists)) > 1:
                    return [], name
            found.append(layout)
            if begun := {place for known in found for place in _begun(known, layout, steps.loop.names)}:
                return [], begun
            data = Data(False)
            bounds = (None, None) if self.relation == "answers" else (self.domain.low, self.domain.high)
            ends = [None if end is None else Fraction(end) for end in bounds]
            entry = data.declare("x", ends[0], ends[1], self.domain.whole)
            numbers = [Form.variable(f"s{i}") for i in range(numbers_in(layout))]
            ways = steps.step(layout, numbers, entry, data, prover)
            waiting += [way.layout for way in ways if way.control == NEXT]
            if not steps.last:
                over = [layout, *(way.layout for way in ways if way.control == BREAK)]
                for last in over:
                    left = [Form.variable(f"s{i}") for i in range(numbers_in(last))]
                    following += [
                        way.layout for way in steps.end(last, left, Data(False), prover) if way.control == NEXT
                    ]
        return following, _most_values(found, steps.loop.names) if len(found) > MOST else set()


def _most_values(found: list[Layout], names: tuple[str, ...]) -> set[str]:
    """The numbers that take most values."""
    values: dict[str, set[str]] = {}
    for layout in found:
        for name, part in zip(names, layout, strict=True):
            for place, text in _numbers_at(part, name):
                values.setdefault(place, set()).add(text)
    most = max((len(texts) for texts in values.values()), default=1)
    return {place for place, texts in values.items() if most > 1 and 3 * len(texts) > 2 * most}


def _begun(former: Layout, layout: Layout, names: tuple[str, ...]) -> set[str]:
    """Where there was a number that is known, and now is one that is not."""
    before = {place for part, name in zip(former, names, strict=True) for place, _ in _numbers_at(part, name)}
    after = {place for part, name in zip(layout, names, strict=True) for place in _reals_at(part, name)}
    return before & after


def _numbers_at(layout: Layout, place: str) -> Iterator[tuple[str, Any]]:
    """The finite numbers in a layout, by place."""
    if not isinstance(layout, list):
        return
    if isinstance(layout[0], str):
        if layout[0] in ("int", "float") and layout[1] not in ("inf", "-inf", "nan"):
            yield place, layout[1]
        return
    for i, part in enumerate(layout[1:]):
        yield from _numbers_at(part, f"{place}.{i}")


def _reals_at(layout: Layout, place: str) -> Iterator[str]:
    """The places of numbers that may be any."""
    if layout in (REAL, WHOLE):
        yield place
    elif isinstance(layout, list) and isinstance(layout[0], list):
        for i, part in enumerate(layout[1:]):
            yield from _reals_at(part, f"{place}.{i}")
