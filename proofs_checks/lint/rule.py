"""A rule: what it is called, what it finds, why that matters, and an example of either side; and what it finds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from .script import Script

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


Found = Iterator[tuple[ast.AST, Slip]]
"""The nodes that make a slip, and what is to be said of each."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A known slip.

    slip: what one writes, for a table (Markdown). why: what is wrong with it, in sentences. instead: what to write.
    find yields the nodes that make the slip. bad and good: scripts of which find names a line and names nothing; the
    line is the one that ends in `# slip`. A good script may be given as the one line to stand in its place.
    """

    id: str
    slip: str
    why: str
    instead: str
    find: Callable[[Script], Found]
    bad: str
    good: str
    level: Level = "warning"

    def __post_init__(self) -> None:
        if "\n" not in self.good:
            lines = (self.good if line.endswith("# slip") else line for line in self.bad.split("\n"))
            object.__setattr__(self, "good", "\n".join(lines))

    def __str__(self) -> str:
        kind = "" if self.level == "warning" else f" ({self.level})"
        parts = (f"{self.id}{kind}: {_plain(self.slip)}", self.why, f"Instead: {_plain(self.instead)}.")
        examples = (f"Wrong:\n\n{_indented(self.bad)}", f"Right:\n\n{_indented(self.good)}")
        return "\n\n".join((*parts, *examples))

    def to_json(self) -> dict[str, str]:
        """All that is said of it."""
        told = ("id", "level", "slip", "why", "instead", "bad", "good")
        return {field: getattr(self, field) for field in told}


def as_markdown(rules: tuple[Rule, ...]) -> str:
    """The table of docs/lint.md, a row for each rule."""
    lines = ["| rule | the slip | instead |", "|---|---|---|"]
    lines += [f"| `{rule.id}` | {rule.slip} | {rule.instead} |" for rule in rules]
    return "\n".join(lines)


def _plain(markdown: str) -> str:
    return markdown.replace("`", "")


def _indented(script: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in script.strip("\n").split("\n"))
