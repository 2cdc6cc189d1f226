"""What the prover cannot follow: one sentence that names the user's line."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from . import state

HERE = str(Path(__file__).parent)
NUMPY = str(Path(np.__file__).parent)


class Unsupported(BaseException):
    """Something that the symbolic run cannot follow. Not an Exception: a mechanism's `except` must not swallow it."""


class Raises(Unsupported):
    """The function itself raises an exception."""


class TooManyPaths(Unsupported):
    """There are more ways through the function than can be followed."""


def unsupported(what: str) -> Unsupported:
    """The error for `what`, with the innermost line of the user's code that led to it; the run cannot outlive it."""
    problem = Unsupported(f"{where(sys._getframe(1))}{what}")
    if state.active():
        state.current().failure = problem
    return problem


def refused(name: str) -> Callable[..., Any]:
    """What raises Unsupported, whatever it is called with."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise unsupported(f"{name}() is not supported")

    return refuse


def where(frame: FrameType | None) -> str:
    """'file.py, line 12 (`return float(x)`): ' of the innermost frame outside this room and installed packages."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((HERE, "<")) and "site-packages" not in name and "/lib/python" not in name:
            line = linecache.getline(name, frame.f_lineno).strip()
            shown = f" (`{line[:80]}`)" if line else ""
            return f"{Path(name).name}, line {frame.f_lineno}{shown}: "
        frame = frame.f_back
    return ""
