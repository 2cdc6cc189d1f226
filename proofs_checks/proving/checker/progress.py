"""How far a check is, for somebody who waits for it, and when it has to end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field


class OutOfTime(BaseException):
    """The check has to end. No `except Exception` of a mechanism stops it."""


@dataclass
class Watch:
    """told: called with the cases that are checked and their number. deadline: by time.monotonic.

    sizes: the numbers of entries of which everything is shown; steps, runs: what was done for them.
    """

    told: Callable[[int, int], None] = lambda done, total: None
    deadline: float = math.inf
    sizes: list[int] = field(default_factory=list)
    steps: int = 0
    runs: int = 0

    def go_on(self) -> None:
        """Raises OutOfTime after the deadline."""
        if time.monotonic() > self.deadline:
            raise OutOfTime
