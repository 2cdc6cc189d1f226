"""Progress on stderr: a bar with what is done, of how many, for how long, and what is at work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Steps = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much, and a note on what is at work."""


@contextmanager
def bar(doing: str, *, quiet: bool = False) -> Iterator[Steps]:
    """A bar that is told how far the work is; it stands on stderr from its first step on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), disable=quiet)
    with progress:
        task = progress.add_task(doing, total=None, note="")

        def step(done: int, total: int | None, note: str = "") -> None:
            progress.update(task, completed=done, total=total, note=note)

        yield step
