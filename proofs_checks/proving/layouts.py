"""Which places of a loop's state are told apart: the others are numbers that may be any, or lists that only grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .checker.cut import NEXT
from .checker.farkas import Prover
from .checker.forms import Form
from .checker.pairs import Data
from .checker.steps import REAL, Layout, Steps, numbers_in
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
            elif isinstance(found, set):
                self.steps = replace(self.steps, wide=self.steps.wide | found)
            elif len(found) > MOST and (wide := self._most_values(found)):
                self.steps = replace(self.steps, wide=self.steps.wide | wide)
            else:
                return self.steps

    def _reached(self) -> list[Layout] | str | set[str]:
        """The layouts at the loop's head; or the name of a list that grows; or places that only begin as numbers."""
        prover = Prover()
        waiting = [way.layout for way in self.steps.start(prover)]
        found: list[Layout] = []
        while waiting and len(found) <= MOST:
            layout = waiting.pop(0)
            if layout in found:
                continue
            for name, parts in zip(self.steps.cut.names, zip(layout, *found, strict=True), strict=True):
                lists = [len(part) for part in parts if part[0] == ["list"]]
                if len(set(lists)) > 1:
                    return name
            found.append(layout)
            if begun := {place for known in found for place in self._begun(known, layout)}:
                return begun
            data = Data(False)
            bounds = (None, None) if self.relation == "answers" else (self.domain.low, self.domain.high)
            ends = [None if end is None else Fraction(end) for end in bounds]
            entry = data.declare("x", ends[0], ends[1], self.domain.whole)
            numbers = [Form.variable(f"s{i}") for i in range(numbers_in(layout))]
            waiting += [
                way.layout for way in self.steps.step(layout, numbers, entry, data, prover) if way.control == NEXT
            ]
        return found

    def _begun(self, former: Layout, layout: Layout) -> set[str]:
        """Where there was a number that is known, and now is one that is not."""
        names = self.steps.cut.names
        before = {place for part, name in zip(former, names, strict=True) for place, _ in _numbers_at(part, name)}
        after = {place for part, name in zip(layout, names, strict=True) for place in _reals_at(part, name)}
        return before & after

    def _most_values(self, found: list[Layout]) -> set[str]:
        values: dict[str, set[str]] = {}
        for layout in found:
            for name, part in zip(self.steps.cut.names, layout, strict=True):
                for place, text in _numbers_at(part, name):
                    values.setdefault(place, set()).add(text)
        most = max((len(texts) for texts in values.values()), default=1)
        return {place for place, texts in values.items() if most > 1 and 3 * len(texts) > 2 * most}


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
    if layout == REAL:
        yield place
    elif isinstance(layout, list) and isinstance(layout[0], list):
        for i, part in enumerate(layout[1:]):
            yield from _reals_at(part, f"{place}.{i}")
