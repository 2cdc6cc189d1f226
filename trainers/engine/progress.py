"""A progress bar on stderr with the privacy spent so far."""

from __future__ import annotations

import time
from decimal import ROUND_CEILING, Context, Decimal
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
        self._untold: tuple[int, int] | None = None

    def __enter__(self) -> RoundProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._untold is not None:  # stopped by a budget, between two readings
            self._tell(*self._untold)
        self._bar.stop()

    def done(self, rounds: int, spent: int) -> None:
        """`rounds` are done, `spent` releases are paid for."""
        if not self._visible:
            return
        now = time.monotonic()
        self._untold = rounds, spent
        if now >= self._next_time or rounds == self._rounds:
            self._tell(rounds, spent)
            self._next_time = time.monotonic() + IDLE * (time.monotonic() - now) + 1.0
        self._bar.update(self._task, completed=rounds)

    def _tell(self, rounds: int, spent: int) -> None:
        bracket, self._untold = self._cost.spent(spent), None
        text = "no privacy" if bracket is None else f"epsilon <= {_up(bracket.upper)} after {rounds}"
        self._bar.update(self._task, privacy=text)


def _up(bound: float) -> str:
    """Four digits, rounded up: what is shown is a bound, too."""
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).plus(Decimal(bound))):.4g}"
