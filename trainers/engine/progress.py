"""A progress bar on stderr with the privacy spent so far."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .privacy import PrivacyCost

IDLE = 20.0
"""The accountant may take one part in this many of the time."""


class RoundProgress:
    """Use as a context; `done` after every round.

    The epsilon is recomputed only as often as it stays cheap, says of which round it is, and is that of the last
    round at the end.
    """

    def __init__(self, name: str, rounds: int, cost: PrivacyCost, *, visible: bool) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[privacy]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not visible,
        )
        self._task = self._bar.add_task(name, total=rounds, privacy="")
        self._cost = cost
        self._rounds = rounds
        self._visible = visible
        self._next_time = 0.0

    def __enter__(self) -> RoundProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def done(self, rounds: int, spent: int) -> None:
        """`rounds` are done, `spent` releases are paid for."""
        if not self._visible:
            return
        now = time.monotonic()
        if now >= self._next_time or rounds == self._rounds:
            bracket = self._cost.spent(spent)
            self._next_time = time.monotonic() + IDLE * (time.monotonic() - now) + 1.0
            text = "no privacy" if bracket is None else f"epsilon <= {bracket.upper:.4g} after {rounds}"
            self._bar.update(self._task, privacy=text)
        self._bar.update(self._task, completed=rounds)
