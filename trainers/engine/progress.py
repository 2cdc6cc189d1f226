"""A progress bar on stderr with the privacy spent so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, Context, Decimal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .privacy import PrivacyCost

IDLE = 20.0
"""The accountant may take one part in this many of the time."""


@contextmanager
def round_progress(name: str, rounds: int, cost: PrivacyCost, *, visible: bool) -> Iterator[Callable[[int, int], None]]:
    """To be told after every round how many are done, and how many releases are paid for.

    The epsilon is recomputed only as often as it stays cheap, says of which round it is, and is that of the last
    round at the end.
    """
    privacy, left = TextColumn("{task.fields[privacy]}"), TimeRemainingColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), privacy, left)
    bar = Progress(*columns, console=Console(stderr=True), disable=not visible)
    task, next_time, untold = bar.add_task(name, total=rounds, privacy=""), 0.0, list[tuple[int, int]]()

    def tell() -> None:
        done, spent = untold.pop()
        untold.clear()
        bracket = cost.spent(spent)
        text = "no privacy" if bracket is None else f"epsilon <= {_up(bracket.upper)} after {done}"
        bar.update(task, privacy=text)

    def step(done: int, spent: int) -> None:
        nonlocal next_time
        if visible:
            now = time.monotonic()
            untold.append((done, spent))
            if now >= next_time or done == rounds:
                tell()
                next_time = time.monotonic() + IDLE * (time.monotonic() - now) + 1.0
            bar.update(task, completed=done)

    with bar:
        yield step
        if untold:  # stopped by a budget, between two readings
            tell()


def _up(bound: float) -> str:
    """Four digits, rounded up: what is shown is a bound, too."""
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).plus(Decimal(bound))):.4g}"
