"""What the steps of a function's loops can do, as the checker finds out. What a search makes of it is a suggestion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .checker.cut import BREAK, NEXT, Cut, cut
from .checker.farkas import Prover
from .checker.following import Refused
from .checker.forms import Form, Sign
from .checker.invariant import listening
from .checker.pairs import Data
from .checker.states import REAL, VECTOR, WHOLE, Layout
from .checker.steps import Steps, Way
from .space import Space
from .work import Work

__all__ = [
    "BREAK",
    "NEXT",
    "REAL",
    "VECTOR",
    "WHOLE",
    "Layout",
    "Loops",
    "NoInduction",
    "Way",
    "kinds",
    "numbered",
    "of_function",
]


class NoInduction(Exception):
    """There is no induction of this form; the text says why."""


@dataclass(frozen=True)
class Said:
    """What the author says of a state: facts, and how much is spent."""

    facts: tuple[Sign, ...]
    spent: Form | None


@dataclass(frozen=True)
class Loops:
    """A function's loops (stage 0 is the first).

    wide: places of numbers of the state that may be any; whole: those of them that are whole numbers. appended: lists
    that are only appended to. event: a stage, and the name whose setting there is the event; or None. said: by the
    author, in all steps so far. order: of records (pairs.Data).
    """

    cut: Cut
    work: Work
    prover: Prover
    wide: frozenset[str] = frozenset()
    appended: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    event: tuple[int, str] | None = None
    stage: int = 0
    notion: str = "dp"
    order: int = 0
    said: list[Said] = field(default_factory=list)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Of the states."""
        return tuple(loop.names for loop in self.cut.loops)

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
        space = Space(Data(False, order=self.order))
        space.work = self.work
        return space

    def start(self, space: Space) -> list[Way]:
        """The ways to the first loop's head. Raises NoInduction where the function cannot be followed."""
        return self._ways(lambda steps: steps.start(space.data, self.prover))

    def step(self, layout: Layout, numbers: Sequence[Form], entry: Form, space: Space) -> list[Way]:
        """The ways through one step with that entry, from the state with these numbers."""
        return self._ways(lambda steps: steps.step(layout, numbers, entry, space.data, self.prover))

    def end(self, layout: Layout, numbers: Sequence[Form], space: Space) -> list[Way]:
        """The ways from the loop to the output, or to the next loop's head."""
        return self._ways(lambda steps: steps.end(layout, numbers, space.data, self.prover))

    def idle(self, layout: Layout, numbers: Sequence[Form]) -> list[Way]:
        """No step at all: what a dataset does that lacks the entry."""
        return self._ways(lambda steps: steps.idle(layout, numbers))

    def _ways(self, asked: Callable[[Steps], list[Way]]) -> list[Way]:
        self.work.question()
        steps = Steps(self.cut, self.wide, self.appended, self.whole, self.event, self.stage)
        try:
            with listening(lambda facts, spent: self.said.append(_said(facts, spent))):
                return asked(steps)
        except Refused as problem:
            raise NoInduction(str(problem)) from problem


def of_function(function: Callable[..., Any], relation: str, work: Work, notion: str = "dp") -> Loops:
    """The loops of a function. Raises Refused where it cannot be cut at them."""
    return Loops(cut(function, relation), work, Prover(), notion=notion)


def _said(facts: tuple[Any, ...], spent: Any) -> Said:
    return Said(tuple(fact for fact in facts if isinstance(fact, Sign)), spent if isinstance(spent, Form) else None)


def kinds(state: Layout) -> list[str]:
    """Of the numbers in a state, in order: "real", "whole" where they are whole, "vector" where they are records."""
    return [kind for part in state for kind in _kinds(part)]


def _kinds(part: Layout) -> list[str]:
    if isinstance(part, str):
        return [part] if part in (REAL, WHOLE, VECTOR) else []
    return kinds(part[1:]) if isinstance(part[0], list) else []


def numbered(state: Layout, run: str = "s") -> list[Form]:
    """The numbers of a run's state, as variables."""
    return [Form({f"{run}{i}": 1}) for i in range(len(kinds(state)))]
