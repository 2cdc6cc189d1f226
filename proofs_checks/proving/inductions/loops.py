"""What the steps of a function's loops can do, as the checker finds out. What a search makes of it is a suggestion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..budget import Work
from ..checker.cutting.cut import Loop, cut
from ..checker.forms import Form, Sign
from ..checker.inductions.states import Layout, kinds
from ..checker.inductions.steps import Steps, Way
from ..checker.invariant import listening
from ..checker.pairs import Data
from ..checker.refusals import Refused
from ..solver import Space


class NoInduction(Exception):
    """There is no induction of this form; the text says why."""


@dataclass(frozen=True)
class Said:
    """What the author says of a state: facts, and how much is spent."""

    facts: tuple[Sign, ...]
    spent: Form | None


@dataclass(frozen=True)
class Loops:
    """A function's loops, at one of which it is (steps). said: by the author, in all steps so far. order: of records
    (pairs.Data)."""

    steps: Steps
    work: Work
    notion: str = "dp"
    order: int = 0
    said: list[Said] = field(default_factory=list)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Of the states."""
        return tuple(loop.names for loop in self.steps.cut.loops)

    def at(self, stage: int) -> Loops:
        """The same at another loop."""
        return self.knowing(stage=stage)

    def knowing(self, **more: Any) -> Loops:
        """The same with more known of the steps."""
        return replace(self, steps=replace(self.steps, **more))

    def data(self) -> Data:
        """For the variables of one step."""
        return Data(False, order=self.order)

    def space(self, data: Data | None = None) -> Space:
        """To ask about them."""
        space = Space(data or self.data())
        space.work = self.work
        return space

    def start(self, data: Data) -> list[Way]:
        """The ways to the first loop's head. Raises NoInduction where the function cannot be followed."""
        return self._ways(lambda steps: steps.start(data))

    def step(self, layout: Layout, numbers: Sequence[Form], entry: Form, data: Data) -> list[Way]:
        """The ways through one step with that entry, from the state with these numbers."""
        return self._ways(lambda steps: steps.step(layout, numbers, entry, data))

    def end(self, layout: Layout, numbers: Sequence[Form], data: Data) -> list[Way]:
        """The ways from the loop to the output, or to the next loop's head."""
        return self._ways(lambda steps: steps.end(layout, numbers, data))

    def idle(self, layout: Layout, numbers: Sequence[Form]) -> list[Way]:
        """No step at all: what a dataset does that lacks the entry."""
        return self._ways(lambda steps: steps.idle(layout, numbers))

    @property
    def loop(self) -> Loop:
        return self.steps.loop

    @property
    def watched(self) -> str | None:
        return self.steps.watched

    @property
    def last(self) -> bool:
        return self.steps.last

    def _ways(self, asked: Callable[[Steps], list[Way]]) -> list[Way]:
        self.work.question()
        try:
            with listening(lambda facts, spent: self.said.append(_said(facts, spent))):
                return asked(self.steps)
        except Refused as problem:
            raise NoInduction(str(problem)) from problem


def of_function(function: Callable[..., Any], relation: str, work: Work, notion: str = "dp") -> Loops:
    """The loops of a function. Raises Refused where it cannot be cut at them."""
    return Loops(Steps(cut(function, relation)), work, notion=notion)


def _said(facts: tuple[Any, ...], spent: Any) -> Said:
    return Said(tuple(fact for fact in facts if isinstance(fact, Sign)), spent if isinstance(spent, Form) else None)


def numbered(state: Layout, run: str = "s") -> list[Form]:
    """The numbers of a run's state, as variables."""
    return [Form({f"{run}{i}": 1}) for i in range(len(kinds(state)))]
