"""Which places of a loop's state are told apart: the others are numbers that may be any, or lists that only grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..checker.cutting.cut import BREAK, NEXT
from ..checker.inductions.states import REAL, WHOLE, Layout
from .loops import Loops, NoInduction, numbered

MOST = 16
"""Discrete states; where there are more, the number that takes most values is not told apart any longer."""


@dataclass
class Layouts:
    """Runs steps until no new discrete state comes."""

    loops: Loops

    def settled(self) -> Loops:
        """The loops with what is not told apart. Raises NoInduction."""
        while True:
            found = self._reached()
            if isinstance(found, str):
                self.loops = replace(self.loops, appended=self.loops.appended | {found})
            elif found:
                self.loops = replace(self.loops, wide=self.loops.wide | found)
            else:
                return replace(self.loops, whole=self._whole())

    def _reached(self) -> str | set[str]:
        """The name of a list that grows; or places that only begin as numbers, or take too many values; or nothing."""
        starts = [way.layout for way in self.loops.start(self.loops.setting.data())]
        for stage in range(len(self.loops.names)):
            starts, told = self._of_loop(self.loops.at(stage), starts)
            if told:
                return told
        return set()

    def _whole(self) -> frozenset[str]:
        """Numbers that stay whole, for functions whose authors say something of their state."""
        return frozenset(place for place in self.loops.wide if self.loops.said and self._stays_whole(place))

    def _stays_whole(self, place: str) -> bool:
        try:
            Layouts(replace(self.loops, whole=frozenset({place})))._reached()
        except NoInduction:
            return False
        return True

    def _of_loop(self, loops: Loops, starts: list[Layout]) -> tuple[list[Layout], str | set[str]]:
        """Of one loop: the layouts at the head of the next, and what is not to be told apart."""
        names = loops.names[loops.stage]
        waiting, found, following = list(starts), list[Layout](), list[Layout]()
        while waiting and len(found) <= MOST:
            layout = waiting.pop(0)
            if layout in found:
                continue
            for name, parts in zip(names, zip(layout, *found, strict=True), strict=True):
                lists = [len(part) for part in parts if part[0] == ["list"]]
                if len(set(lists)) > 1:
                    return [], name
            found.append(layout)
            if begun := {place for known in found for place in _begun(known, layout, names)}:
                return [], begun
            data, setting = loops.setting.data(), loops.setting
            entry = setting.answer(data)[0] if setting.relation == "answers" else setting.entry(data, "x")
            ways = loops.step(layout, numbered(layout), entry, data)
            waiting += [way.layout for way in ways if way.control == NEXT]
            if not loops.last:
                for last in [layout, *(way.layout for way in ways if way.control == BREAK)]:
                    ended = loops.end(last, numbered(last), loops.setting.data())
                    following += [way.layout for way in ended if way.control == NEXT]
        return following, _most_values(found, names) if len(found) > MOST else set()


def _most_values(found: list[Layout], names: tuple[str, ...]) -> set[str]:
    """The numbers that take most values."""
    values: dict[str, set[str]] = {}
    for layout in found:
        for name, part in zip(names, layout, strict=True):
            for place, text in _numbers_at(part, name):
                if text is not None:
                    values.setdefault(place, set()).add(text)
    most = max((len(texts) for texts in values.values()), default=1)
    return {place for place, texts in values.items() if most > 1 and 3 * len(texts) > 2 * most}


def _begun(former: Layout, layout: Layout, names: tuple[str, ...]) -> set[str]:
    """Where there was a number that is known, and now is one that is not."""
    before, after = ([each for part, name in zip(state, names, strict=True) for each in _numbers_at(part, name)]
                     for state in (former, layout))  # fmt: skip
    return {place for place, text in before if text is not None} & {place for place, text in after if text is None}


def _numbers_at(layout: Layout, place: str) -> Iterator[tuple[str, str | None]]:
    """The finite numbers in a layout, by place: as text, or None where they may be any."""
    if layout in (REAL, WHOLE):
        yield place, None
    elif isinstance(layout, list) and isinstance(layout[0], str):
        if layout[0] in ("int", "float") and layout[1] not in ("inf", "-inf", "nan"):
            yield place, layout[1]
    elif isinstance(layout, list):
        for i, part in enumerate(layout[1:]):
            yield from _numbers_at(part, f"{place}.{i}")
