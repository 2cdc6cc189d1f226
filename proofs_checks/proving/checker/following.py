"""The run that the checker follows, and how it ends where the checker cannot follow, or does not accept, something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self


class Refused(BaseException):
    """The checker cannot follow, or does not accept, something: one sentence, which names the line if there is one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, ""

    def at(self, place: str) -> Self:
        """The same, with the place in the code that it is about; the innermost place is kept."""
        self.place = self.place or place
        return self

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason


class Raises(Refused):
    """The function itself raises an exception."""


class TooManyWays(Refused):
    """There are more ways through the function than are followed."""


class UsedTwice(Refused):
    """A uniform number that was taken for a coin is used once more."""


_runs: list[Any] = []
"""The tracer of the run under way: answers tests, makes merged values."""


@contextmanager
def followed(tracer: Any) -> Iterator[None]:
    """Inside, this tracer's run is under way."""
    _runs.append(tracer)
    try:
        yield
    finally:
        _runs.pop()


def under_way() -> bool:
    """Whether a function is being followed."""
    return bool(_runs)


def tracer() -> Any:
    """That of the run under way."""
    if not _runs:
        raise Refused("a symbol was used outside of a run")
    return _runs[-1]
