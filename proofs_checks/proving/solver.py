"""What a search knows of the variables of one relation, and asks z3 about them, as often as it may. Nothing rests on
the answers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import z3

from .checker.farkas import Prover
from .checker.forms import Form, Sign
from .checker.inequalities import term
from .checker.pairs import Data, Neighbours, Setting

ROWS = 20
"""Rows of a linear program that count as one question."""


class OutOfWork(BaseException):
    """The search has asked as much as it may. Like an interrupt, no mechanism's `except Exception` swallows it."""


class Work:
    """spent: questions to z3, and linear programs by their rows. limit: as many may be asked; None is no limit.

    deadline: by time.monotonic.
    """

    def __init__(self, limit: int | None = None, deadline: float = math.inf) -> None:
        self.limit, self.deadline = limit, deadline
        self.spent = 0

    def question(self, rows: int = 0) -> None:
        """One more, about so many rows. Raises OutOfWork when there were too many, and at every one after that."""
        self.spent += 1 + rows // ROWS
        if self.limit is not None and self.spent > self.limit:
            raise OutOfWork(f"{self.limit} questions were not enough")
        if time.monotonic() > self.deadline:
            raise OutOfWork("no time is left")


class Space:
    """Data variables, their ranges, and the facts that hold of every pair of neighbours.

    differing: the variables in which the two datasets differ.
    """

    def __init__(self, data: Data, differing: Iterable[str] = (), work: Work | None = None) -> None:
        self.data, self.differing, self.work, self._prover = data, set(differing), work or Work(), Prover()

    @property
    def touched(self) -> set[str]:
        """The variables in which the two datasets differ, and those that are made of them."""
        found = set(self.differing)
        for name, made in self.data.merged.items():
            if any(not found.isdisjoint(form.slopes) for form in made.forms):
                found.add(name)
        return found

    def atoms(self) -> list[str]:
        """What shifts are linear in: touched variables that are bounded, or records."""
        return sorted(name for name in self.touched if None not in self.data.ends[name] or name in self.data.vectors)

    def possible(self, *signs: Sign) -> bool:
        """Whether the facts and signs may hold together: one question. Raises OutOfWork."""
        self.work.question()
        return self._prover.possible([*self.data.facts, *signs])

    def covered(self, known: Sequence[Sign], parts: Sequence[Sequence[Sign]]) -> bool:
        """Whether one of the parts holds wherever the facts and the known signs do: one question."""
        self.work.question()
        return self._prover.covered([*self.data.facts, *known], parts)

    def point(self, signs: Sequence[Sign]) -> dict[str, Fraction] | None:
        """A point at which the facts and signs hold."""
        return self._prover.point([*self.data.facts, *signs])


@dataclass(frozen=True)
class Pair:
    """A case of neighbours, and the space of its variables."""

    case: Neighbours
    space: Space

    @property
    def name(self) -> str:
        return self.case.name


def pairs(setting: Setting, entries: int, merging: bool) -> Iterator[Pair]:
    """The cases of the relation for datasets of that many entries (add-remove: the larger one)."""
    for case in setting.cases(entries, merging):
        here, there = ({name for form in dataset for name in form.slopes} for dataset in (case.dataset, case.neighbour))
        yield Pair(case, Space(case.data, here ^ there))


def largest(form: Form, known: Iterable[Sign]) -> Fraction | None:
    """The supremum of a form where the signs hold (somewhere they do); None where there is none."""
    if not form.slopes:
        return form.at_zero
    known = list(known)
    corner = _corner(form, known)
    if corner is not None and all(sign.form.value(corner) >= 0 for sign in known):
        return form.value(corner)
    optimizer = z3.Optimize()
    optimizer.set("ctrl_c", False)  # as in checker/farkas.py
    optimizer.add(*[term(sign.form) >= 0 for sign in known])
    goal = optimizer.maximize(term(form))
    optimizer.check()
    found = str(optimizer.upper(goal))
    return None if "oo" in found else Fraction(found)


def _corner(form: Form, known: Sequence[Sign]) -> dict[str, Fraction] | None:
    """Where each variable of the form is at the end that signs of it alone set, and the others are at one of theirs."""
    ends: dict[str, dict[bool, Fraction]] = {}
    for sign in known:
        for name, slope in sign.form.slopes.items() if len(sign.form.slopes) == 1 else ():
            end, lower = -sign.form.at_zero / slope, slope > 0
            own = ends.setdefault(name, {})
            own[lower] = max(own.get(lower, end), end) if lower else min(own.get(lower, end), end)
    names = {name for each in (form, *(sign.form for sign in known)) for name in each.slopes}
    sides = {name: form.slopes[name] < 0 if name in form.slopes else True for name in names}
    if any(lower not in ends.get(name, {}) for name, lower in sides.items()):
        return None
    return {name: ends[name][lower] for name, lower in sides.items()}
