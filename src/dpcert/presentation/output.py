"""How dpcert speaks: one JSON document on stdout, or readable text there; everything else on stderr."""

from __future__ import annotations

import json
from typing import Any, Protocol

import typer
from rich.console import Console

from ..mechanisms.digits import jsonable
from ..mechanisms.text_table import width


class Result(Protocol):
    """What every result of the API can do: say itself in words, and as plain data."""

    def __str__(self) -> str: ...
    def to_json(self) -> Any: ...


def complain(message: str) -> None:
    """One line on stderr."""
    typer.echo(f"error: {message}", err=True)


def output_console() -> Console:
    """stdout for tables: as wide as the terminal, or wide enough to read where there is none."""
    return Console(width=width())


def print_json(document: Any) -> None:
    """The one document on stdout."""
    typer.echo(json.dumps(jsonable(document), indent=2, allow_nan=False, ensure_ascii=False))


def show(result: Result, as_json: bool, **more: Any) -> None:
    """A result on stdout, in words or as the one document. more: further keys of the document."""
    if as_json:
        print_json(result.to_json() | more)
    else:
        typer.echo(str(result))
