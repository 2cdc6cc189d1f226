"""How dpcert speaks: one JSON document on stdout, or readable text there; everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import typer
from rich.console import Console

from ..mechanisms.digits import jsonable

WIDTH_WITHOUT_TERMINAL = 140


def complain(message: str) -> None:
    """One line on stderr."""
    typer.echo(f"error: {message}", err=True)


def output_console() -> Console:
    """stdout for tables: as wide as the terminal, or wide enough to read where there is none."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return Console()
    return Console(width=WIDTH_WITHOUT_TERMINAL)


def print_json(document: Any) -> None:
    """The one document on stdout."""
    typer.echo(json.dumps(jsonable(document), indent=2, allow_nan=False, ensure_ascii=False))
