"""Numbers out of text files: one clear error, which names the file, for what cannot be read."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats

LONGEST = 76
"""Characters of a path that an error message shows; longer values are cut at the end, where a path's name is."""


def short(path: str | Path) -> str:
    """The path, or of a long one the end."""
    text = str(path)
    return text if len(text) <= LONGEST else "..." + text[3 - LONGEST :]


def lines_of(file: Path) -> list[str]:
    """The lines that are not blank, at least one."""
    try:
        lines = [line for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("path", short(file), f"a readable text file ({error})") from error
    if not lines:
        raise InputError("path", short(file), "at least one line")
    return lines


def table_of(file: Path) -> Floats:
    """Whitespace-separated numbers, as many in each line."""
    lines = lines_of(file)
    return parsed(file, lambda: np.array([line.split() for line in lines], dtype=float))


def parsed(file: Path, parse: Callable[[], Floats]) -> Floats:
    """What `parse` makes of the file: finite numbers."""
    try:
        table = parse()
    except ValueError as error:
        raise InputError("path", short(file), f"a table of numbers, all lines alike ({error})") from error
    if not np.isfinite(table).all():
        raise InputError("path", short(file), "finite numbers")
    return table


def csv_of(file: Path) -> tuple[list[str], list[list[str]]]:
    """(header, rows) of a CSV with at least one row, each as long as the header."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as handle:
            header, *rows = [row for row in csv.reader(handle) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError("path", short(file), f"a readable CSV ({error})") from error
    if not header:
        raise InputError("path", short(file), "a CSV with a header")
    if not rows or any(len(row) != len(header) for row in rows):
        raise InputError("path", short(file), f"at least one line below the header, each of {len(header)} columns")
    return header, rows


def files_in(path: str | Path, patterns: tuple[str, ...]) -> list[Path]:
    """The folder's files of these patterns; a name without leading zeros sorts by its number."""
    found = [file for pattern in patterns for file in Path(path).glob(pattern)] if Path(path).is_dir() else []
    if not found:
        raise InputError("path", short(path), "a folder with one file a task (" + ", ".join(patterns) + ")")
    return sorted(found, key=lambda file: (len(file.stem), file.stem))
