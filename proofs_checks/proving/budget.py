"""How much a search may do: in questions, which are the same on every machine, and in seconds."""

from __future__ import annotations

import math
import time

ROWS = 20
"""Rows of a linear program that count as one question."""


class OutOfWork(BaseException):
    """The search has asked as much as it may. Like an interrupt, no mechanism's `except Exception` swallows it."""


class Work:
    """spent: questions to z3, and linear programs by their rows. limit: as many may be asked; None is no limit.

    deadline: by time.monotonic.
    """

    def __init__(self, limit: int | None = None, deadline: float = math.inf) -> None:
        self.limit, self.deadline = limit, deadline
        self.spent = 0

    def question(self, rows: int = 0) -> None:
        """One more, about so many rows. Raises OutOfWork when there were too many, and at every one after that."""
        self.spent += 1 + rows // ROWS
        if self.limit is not None and self.spent > self.limit:
            raise OutOfWork(f"{self.limit} questions were not enough")
        if time.monotonic() > self.deadline:
            raise OutOfWork("no time is left")
