"""Jupyter notebooks as scripts: the code of all cells in order, and which cell each line came from.

IPython's own lines (%magic, !shell, name?) become `pass`; cells of another language (%%bash) are left out, and so are
cells that are no Python at all, which are named.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from dataclasses import dataclass

from ...mechanisms import InputError
from .script import Script

MAGIC = re.compile(r"^(?P<indent>\s*)(?:[%!]|\?{1,2}\s*\w|[\w.]+\?{1,2}\s*$)")
ASSIGNED = re.compile(r"^(?P<target>\s*[\w.,\s]+=\s*)[%!](?!=)")
PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "pypy"})
"""Cell magics after which Python follows."""


@dataclass(frozen=True, slots=True)
class Cell:
    """number: from 1, all cells counted, as notebooks show them from the top. lines: Python, one a line of the cell."""

    number: int
    lines: tuple[str, ...]

    @property
    def fault(self) -> str | None:
        """Why this is not Python; None where it is."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse("\n".join(self.lines))
        except SyntaxError as problem:
            return f"{problem.msg}, line {problem.lineno}"
        except (ValueError, RecursionError, MemoryError) as problem:
            return " ".join(str(problem).split())[:160] or type(problem).__name__
        return None


def notebook(path: str, source: bytes) -> Script:
    """The notebook's code as one script, whose positions are within cells; script.unread names cells left out.

    Raises InputError where it is not a notebook.
    """
    document = _document(path, source)
    cells = [] if _other_language(document) else list(_cells(document))
    faults = {cell.number: fault for cell in cells if (fault := cell.fault) is not None}
    read = [cell for cell in cells if cell.number not in faults]
    places = [(cell.number, line) for cell in read for line in range(1, len(cell.lines) + 1)]
    text = "\n".join(line for cell in read for line in cell.lines)
    unread = tuple(f"cell {number} is not Python and was not read ({fault})" for number, fault in faults.items())
    return Script(path, _utf8(path, text), places, unread)


def _utf8(path: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("path", path, "text in its cells (it has half a character)") from None


def _document(path: str, source: bytes) -> dict[str, object]:
    try:
        document = json.loads(source.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        raise InputError(
            "path", path, f"a Jupyter notebook (not JSON: {' '.join(str(problem).split())[:80]})"
        ) from None
    if not isinstance(document, dict) or not isinstance(_raw_cells(document), list):
        raise InputError("path", path, "a Jupyter notebook (it has no cells)")
    return document


def _raw_cells(document: dict[str, object]) -> object:
    """Format 4 lists cells at the top, format 3 on worksheets."""
    sheets = document.get("worksheets")
    if "cells" in document or not isinstance(sheets, list):
        return document.get("cells")
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or []]


def _other_language(document: dict[str, object]) -> bool:
    metadata = document.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        named = about.get(key)
        if isinstance(named, dict) and isinstance(named.get(field), str):
            return "python" not in str(named[field]).lower()
    return False


def _cells(document: dict[str, object]) -> list[Cell]:
    raw = _raw_cells(document)
    assert isinstance(raw, list)
    found = []
    for number, cell in enumerate(raw, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        found.append(Cell(number, tuple(_python(re.split(r"\r\n|\r|\n", text)))))
    return found


def _python(lines: list[str]) -> list[str]:
    """The cell's lines with IPython's replaced, so that numbers of lines stay."""
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and first[2:].split(maxsplit=1)[:1] and first[2:].split()[0] not in PYTHON_CELLS:
        return [""] * len(lines)
    kept: list[str] = []
    continued = False
    for line in lines:
        magic, assigned = MAGIC.match(line), ASSIGNED.match(line)
        if continued:
            kept.append("")
        elif (magic or assigned) and not _open(kept):
            kept.append(f"{magic['indent']}pass" if magic else f"{assigned['target']}None" if assigned else "")
        else:
            kept.append(line)
            continue
        continued = line.rstrip().endswith("\\")
    return kept


def _open(lines: list[str]) -> bool:
    """Whether the last line is in the middle of a statement or a string: then % is Python's."""
    if lines and lines[-1].rstrip().endswith("\\"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:  # the parser will say what is wrong
        return False
    return False
