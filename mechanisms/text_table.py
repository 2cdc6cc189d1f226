"""Tables and paragraphs as text, as wide as the terminal, or wide enough to read where there is none."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

WIDTH_WITHOUT_TERMINAL = 100


def width() -> int:
    """Columns to write in."""
    shown = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if shown else WIDTH_WITHOUT_TERMINAL


def paragraph(text: str) -> str:
    """The text in lines."""
    return "\n".join(wrap(text, width()))


def text_table(columns: Sequence[str | dict[str, Any]], rows: Sequence[Sequence[str]], title: str | None = None) -> str:
    """Between two empty lines. columns: the headings of columns of numbers, set to the right; or what rich's
    `add_column` is to be told."""
    from rich import box  # here: who only accounts never loads it
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title)
    for column in columns:
        table.add_column(**({"header": column, "justify": "right"} if isinstance(column, str) else column))
    for row in rows:
        table.add_row(*map(escape, row))
    console = Console(file=io.StringIO(), width=width())
    console.print(table, highlight=False)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]
