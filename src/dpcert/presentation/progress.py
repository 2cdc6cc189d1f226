"""Progress on stderr: a bar with what is done, of how many, for how long, and what is at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Steps(Protocol):
    """Called with how much is done, of how much, and a note on what is at work."""

    def __call__(self, done: int, total: int | None, note: str = "") -> None: ...


@contextmanager
def bars(*works: str, quiet: bool = False) -> Iterator[list[Steps]]:
    """A bar for each work, that is told how far it is; it stands on stderr from its first step on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), disable=quiet)

    def steps(work: str) -> Steps:
        task = progress.add_task(work, total=None, visible=False, note="")

        def step(done: int, total: int | None, note: str = "") -> None:
            progress.start()
            progress.update(task, completed=done, total=total, note=note, visible=True)

        return step

    try:
        yield [steps(work) for work in works]
    finally:
        if progress.live.is_started:  # else stopping it would write an empty line
            progress.stop()


@contextmanager
def bar(work: str, *, quiet: bool = False) -> Iterator[Steps]:
    """One of them."""
    with bars(work, quiet=quiet) as (steps,):
        yield steps
