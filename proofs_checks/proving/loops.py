"""What the steps of a function's loops can do, as the search is told it: questions and answers are plain JSON.

Who answers is the checker (checker/told.py), but nothing here knows that: what is told may be anything, and what the
search makes of it is a suggestion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from .exact import Number, exact
from .linear import Condition, Linear
from .space import Space
from .work import Work

Ask = Callable[[dict[str, Any]], dict[str, Any]]
Layout = Any
REAL, WHOLE = "real", "whole"
NEXT, BREAK = "next", "break"
"""How a way ends: at the next step, or after the loop; another one is at the output."""


class NoInduction(Exception):
    """There is no induction of this form; the text says why."""


@dataclass(frozen=True)
class Way:
    """One way through a step.

    tests: with their names, under which `cell` has those on the entries alone. label: what both runs must agree on.
    released: the numbers put out or appended; after: those of the next state.
    """

    tests: tuple[tuple[str, Condition], ...]
    cell: frozenset[str]
    draws: tuple[tuple[str, str], ...]
    label: str
    control: str
    layout: Layout
    released: tuple[Linear, ...]
    after: tuple[Linear, ...]
    event: bool
    appends: bool

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The tests."""
        return tuple(condition for _, condition in self.tests)


@dataclass(frozen=True)
class Said:
    """What the author says of a state: facts, and how much is spent."""

    facts: tuple[Condition, ...]
    spent: Linear | None


@dataclass(frozen=True)
class Loops:
    """A function's loops (stage 0 is the first).

    wide: places of numbers of the state that may be any; whole: those of them that are whole numbers. appended: lists
    that are only appended to. event: a stage, and the name whose setting there is the event; or None. said: by the
    author, in all steps so far.
    """

    ask: Ask
    work: Work
    wide: frozenset[str] = frozenset()
    appended: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    event: tuple[int, str] | None = None
    stage: int = 0
    names: tuple[tuple[str, ...], ...] = ()
    said: list[Said] = field(default_factory=list)

    def named(self) -> Loops:
        """With the names of the states."""
        return replace(self, names=tuple(tuple(names) for names in self._answer("start", self.space())["loops"]))

    @property
    def watched(self) -> str | None:
        """The event's name, at its stage."""
        return self.event[1] if self.event is not None and self.event[0] == self.stage else None

    @property
    def last(self) -> bool:
        """Whether no loop follows."""
        return self.stage == len(self.names) - 1

    def at(self, stage: int) -> Loops:
        """The same at another loop."""
        return replace(self, stage=stage)

    def space(self) -> Space:
        """For the variables of one step."""
        space = Space(False)
        space.work = self.work
        return space

    def start(self, space: Space) -> list[Way]:
        """The ways to the first loop's head. Raises NoInduction where the function cannot be followed."""
        return _ways(self._answer("start", space))

    def step(self, layout: Layout, numbers: Sequence[Linear], entry: Linear, space: Space) -> list[Way]:
        """The ways through one step with that entry, from the state with these numbers."""
        return _ways(self._answer("step", space, layout, numbers, entry))

    def end(self, layout: Layout, numbers: Sequence[Linear], space: Space) -> list[Way]:
        """The ways from the loop to the output, or to the next loop's head."""
        return _ways(self._answer("end", space, layout, numbers))

    def idle(self, layout: Layout, numbers: Sequence[Linear]) -> list[Way]:
        """No step at all: what a dataset does that lacks the entry."""
        return _ways(self._answer("idle", self.space(), layout, numbers))

    def _answer(
        self,
        asked: str,
        space: Space,
        layout: Layout = None,
        numbers: Sequence[Linear] = (),
        entry: Linear | None = None,
    ) -> dict[str, Any]:
        self.work.question()
        known = {name: [_text(e) for e in ends] + [name in space.whole] for name, ends in space.ranges.items()}
        told = self.ask(
            {
                "ask": asked,
                "stage": self.stage,
                "wide": sorted(self.wide),
                "appended": sorted(self.appended),
                "whole": sorted(self.whole),
                "event": None if self.event is None else list(self.event),
                "variables": known,
                "layout": layout,
                "numbers": [_told(number) for number in numbers],
                "entry": None if entry is None else _told(entry),
            }
        )
        if "refused" in told:
            raise NoInduction(told["refused"])
        for name, (low, high, whole) in told["variables"].items():
            space.variable(name, _number(low), _number(high), whole)
        self.said.extend(_said(each) for each in told["said"])
        return told


def kinds(state: Layout) -> list[str]:
    """Of the numbers in a state, in order: "real", or "whole" where they are whole."""
    return [kind for part in state for kind in _kinds(part)]


def _kinds(part: Layout) -> list[str]:
    if isinstance(part, str):
        return [part] if part in (REAL, WHOLE) else []
    return kinds(part[1:]) if isinstance(part[0], list) else []


def numbered(state: Layout, run: str = "s") -> list[Linear]:
    """The numbers of a run's state, as variables."""
    return [Linear({f"{run}{i}": 1}) for i in range(len(kinds(state)))]


def _ways(told: dict[str, Any]) -> list[Way]:
    return [
        Way(
            tuple((test["name"], _condition(test)) for test in way["tests"]),
            frozenset(way["cell"]),
            tuple((kind, scale) for kind, scale in way["draws"]),
            way["label"],
            way["control"],
            way["layout"],
            tuple(_form(form) for form in way["released"]),
            tuple(_form(form) for form in way["after"]),
            way["event"],
            way["appends"],
        )
        for way in told["ways"]
    ]


def _said(told: dict[str, Any]) -> Said:
    spent = told["spent"]
    return Said(tuple(_condition(fact) for fact in told["facts"]), None if spent is None else _form(spent))


def _condition(told: dict[str, Any]) -> Condition:
    return Condition(_form(told["form"]), told["strict"])


def _form(told: dict[str, str]) -> Linear:
    values = {name: exact(Fraction(value)) for name, value in told.items()}
    return Linear({name: value for name, value in values.items() if name}, values.get("", 0))


def _told(form: Linear) -> dict[str, str]:
    return {name: str(value) for name, value in form.terms.items()} | {"": str(form.constant)}


def _number(text: str | None) -> Number | None:
    return None if text is None else exact(Fraction(text))


def _text(number: Number | None) -> str | None:
    return None if number is None else str(number)
