"""What the steps of a function's loops can do, as the checker finds out. What a search makes of it is a suggestion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..checker.cutting.cut import cut
from ..checker.forms import Form, Sign
from ..checker.inductions.states import Layout, kinds
from ..checker.inductions.steps import Steps, Way
from ..checker.invariant import listening
from ..checker.pairs import Data, Setting
from ..checker.refusals import Refused
from ..solver import Space, Work


class NoInduction(Exception):
    """There is no induction of this form; the text says why."""


@dataclass(frozen=True)
class Said:
    """What the author says of a state: facts, and how much is spent."""

    facts: tuple[Sign, ...]
    spent: Form | None


@dataclass
class Loops(Steps):
    """A function's loops, at one of which it is. said: by the author, in all steps so far."""

    setting: Setting = field(default_factory=Setting)
    work: Work = field(default_factory=Work)
    said: list[Said] = field(default_factory=list)

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Of the states."""
        return tuple(loop.names for loop in self.cut.loops)

    def at(self, stage: int) -> Loops:
        """The same at another loop."""
        return replace(self, stage=stage)

    def space(self, data: Data | None = None) -> Space:
        """To ask about the variables of one step."""
        return Space(data or self.setting.data(), work=self.work)

    def _ways(self, run: Any, data: Data, names: tuple[str, ...], came: Any = None) -> list[Way]:
        """Raises NoInduction where the function cannot be followed."""
        self.work.question()
        try:
            with listening(lambda facts, spent: self.said.append(_said(facts, spent))):
                return super()._ways(run, data, names, came)
        except Refused as problem:
            raise NoInduction(str(problem)) from problem


def of_function(function: Callable[..., Any], setting: Setting, work: Work) -> Loops:
    """The loops of a function. Raises Refused where it cannot be cut at them."""
    return Loops(cut(function, setting.relation, setting.container), setting=setting, work=work)


def _said(facts: tuple[Any, ...], spent: Any) -> Said:
    return Said(tuple(fact for fact in facts if isinstance(fact, Sign)), spent if isinstance(spent, Form) else None)


def numbered(state: Layout, run: str = "s") -> list[Form]:
    """The numbers of a run's state, as variables."""
    return [Form({f"{run}{i}": 1}) for i in range(len(kinds(state)))]
