"""Ctrl-C in a long command: what is known by then is said, with the exit code that Ctrl-C has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from ..presentation.output import Result, show
from . import INTERRUPTED


@contextmanager
def said_when_stopped(known: Callable[[], Result], as_json: bool, by: bool = True) -> Iterator[None]:
    """known: what is said, as text or as the one JSON document; by: whether this process is the one that says it.
    Leaves with typer.Exit."""
    try:
        yield
    except KeyboardInterrupt:
        if by:
            show(known(), as_json)
        raise typer.Exit(INTERRUPTED) from None
