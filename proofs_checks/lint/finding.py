"""One slip at one place, and what to do about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

Level = Literal["warning", "note"]
"""A warning says that the printed epsilon is not that of the run; a note, what no epsilon says."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A slip in a script. line and column count from 1, columns in characters.

    cell: the notebook's cell (from 1, all cells counted) in which line and column are; None for scripts.
    """

    path: str
    line: int
    column: int
    rule: str
    problem: str
    remedy: str
    cell: int | None = None
    level: Level = "warning"

    @property
    def sentence(self) -> str:
        """The problem and the remedy, as two sentences."""
        word = self.problem.partition(" ")[0]
        problem = self.problem[:1].upper() + self.problem[1:] if word.isalpha() else self.problem
        return f"{problem}. Fix: {self.remedy}."

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        note = "note: " if self.level == "note" else ""
        return f"{self.path}:{cell}{self.line}:{self.column}: {self.rule}: {note}{self.sentence}"

    def to_json(self) -> dict[str, str | int | None]:
        """Plain data, under the names of the fields."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Slip:
    """What a rule says of a node: the problem and the remedy, as clauses without a full stop."""

    problem: str
    remedy: str
