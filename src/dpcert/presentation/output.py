"""How dpcert speaks: one JSON document on stdout, or readable text there; everything else on stderr."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, Protocol

import typer

from ..mechanisms.digits import jsonable
from ..mechanisms.text_table import in_colour


class Result(Protocol):
    """What every result of the API can do: say itself in words, and as plain data."""

    def __str__(self) -> str: ...
    def to_json(self) -> Any: ...


def say(text: str, err: bool = False) -> None:
    """Text on stdout or stderr, folded between words where a terminal, or COLUMNS, says how wide it is.

    Otherwise a sentence stays a line, which is easier to search. A command that is to be repeated is folded so that a
    shell takes it as one.
    """
    shown = (sys.stderr if err else sys.stdout).isatty() or "COLUMNS" in os.environ
    columns = get_terminal_size().columns
    lines = text.splitlines() if shown else [text]
    typer.echo("\n".join(part for line in lines for part in (_folded(line, columns) if shown else [line])), err=err)


def _folded(line: str, columns: int) -> list[str]:
    if len(line) <= columns or "\x1b" in line:  # what has colours was set in lines before
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    label, known, command = line.partition(": dpcert ")
    if known and label.startswith("replay"):
        words = [shlex.quote(word) for word in shlex.split(f"dpcert {command}")]
        return [f"{label}:", *_joined(words, columns - 4)]
    return wrap(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _joined(words: list[str], columns: int) -> list[str]:
    """A shell's words in lines that it takes as one."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [f"  {line} \\" for line in lines[:-1]] + [f"  {lines[-1]}"]


def complain(message: str) -> None:
    """What is wrong, on stderr."""
    say(f"error: {message}", err=True)


def show(result: Result, as_json: bool, **more: Any) -> None:
    """A result on stdout, in words or as the one document. more: further keys of the document."""
    if as_json:
        document = jsonable(result.to_json() | more)
        return typer.echo(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))
    with in_colour(sys.stdout.isatty()):
        text = str(result)
    if text:
        say(text)


@contextmanager
def warnings_on_stderr() -> Iterator[None]:
    """One line on stderr for each warning."""

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        say(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show_warning
        yield
