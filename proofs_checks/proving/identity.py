"""Identity: the truth value of symbols is another object than True, so that `is` does not tell what it seems to."""

from __future__ import annotations

import dis
import linecache
import types
from pathlib import Path

from .unsupported import Unsupported


def no_identity(code: types.CodeType) -> None:
    """Raises Unsupported where the code compares by identity with anything but None, or matches by type."""
    before: dis.Instruction | None = None
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        line = (step.positions.lineno if step.positions else None) or line
        if step.opname == "MATCH_CLASS" or (step.opname == "IS_OP" and not _none(before)):
            text = linecache.getline(code.co_filename, line).strip()[:80]
            what = "a match by type" if step.opname == "MATCH_CLASS" else "`is` other than with None (compare by ==)"
            raise Unsupported(f"{Path(code.co_filename).name}, line {line} (`{text}`): {what} is not supported")
        before = step


def _none(step: dis.Instruction | None) -> bool:
    return step is not None and step.opname == "LOAD_CONST" and step.argval is None
