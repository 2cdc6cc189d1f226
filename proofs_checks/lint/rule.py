"""A rule: what it is called, what it finds, why that matters, and an example of either side."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .finding import Level, Slip
from .script import Script


@dataclass(frozen=True, slots=True)
class Rule:
    """A known slip.

    slip: what one writes, for a table (Markdown). why: what is wrong with it, in sentences. instead: what to write.
    find yields the nodes that make the slip. bad and good: scripts of which find names a line and names nothing; the
    line is the one that ends in `# slip`.
    """

    id: str
    slip: str
    why: str
    instead: str
    find: Callable[[Script], Iterator[tuple[ast.AST, Slip]]]
    bad: str
    good: str
    level: Level = "warning"

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
