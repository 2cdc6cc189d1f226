"""Tables and paragraphs as text, as wide as the terminal, or wide enough to read where there is none."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import wrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 100
NARROW = 110
"""Below so many columns a table of sentences would have columns that are a word wide."""

_MARGINS, _GAP = 2, 3
"""Blanks around a table, and between its columns."""

_COLOURED: ContextVar[bool] = ContextVar("_COLOURED", default=False)


@contextmanager
def in_colour(shown: bool) -> Iterator[None]:
    """Within it text has the colours of a terminal, if it is shown on one; a result's own words never have them."""
    before = _COLOURED.set(shown)
    try:
        yield
    finally:
        _COLOURED.reset(before)


def width() -> int:
    """Columns to write in."""
    shown = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if shown else WIDTH_WITHOUT_TERMINAL


def paragraph(text: str) -> str:
    """The text in lines."""
    return "\n".join(wrap(text, width()))


def rendered(*parts: RenderableType) -> str:
    """What rich makes of them, as text: in a notebook too, where rich would show it itself."""
    from rich.console import Console  # here: who only accounts never loads it

    console = Console(file=io.StringIO(), width=width(), force_terminal=_COLOURED.get(), force_jupyter=False)
    for part in parts:
        console.print(part, markup=False, highlight=False)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]


def text_table(
    columns: Sequence[str | dict[str, Any]], rows: Sequence[Sequence[str | Text]], title: str | None = None
) -> str:
    """Between two empty lines. columns: the headings of columns of numbers, set to the right; or what rich's
    `add_column` is to be told. rows: a cell with a style is rich's Text. A word that is too long is folded, never cut.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title)
    for column in columns:
        told = {"header": column, "justify": "right"} if isinstance(column, str) else column
        table.add_column(**({"overflow": "ellipsis" if told.get("no_wrap") else "fold"} | told))
    for row in rows:
        table.add_row(*(escape(cell) if isinstance(cell, str) else cell for cell in row))
    return rendered(table)


def number_tables(first: str | dict[str, Any], others: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of numbers; several below each other, each with the first column, where one would be too wide.

    first, others: the headings, as `text_table` takes them.
    """
    headings = [first if isinstance(first, str) else first["header"], *others]
    widths = [max(map(len, cells)) for cells in zip(headings, *rows, strict=True)]
    groups: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        together = [*groups[-1], column]
        needed = _MARGINS + widths[0] + sum(_GAP + widths[each] for each in together)
        if groups[-1] and needed > width():
            groups.append([])
        groups[-1].append(column)
    return "".join(
        text_table([first, *(headings[each] for each in group)], [[row[each] for each in (0, *group)] for row in rows])
        for group in groups
    )
