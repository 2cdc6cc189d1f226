"""The run that the checker follows, and how it ends where the checker cannot follow, or does not accept, something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Refused(BaseException):
    """The checker cannot follow, or does not accept, something. No `except Exception` of a mechanism stops it."""


class Raises(Refused):
    """The function itself raises an exception."""


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
    """Whether a function is being run on symbols."""
    return bool(_runs)


def tracer() -> Any:
    """That of the run under way."""
    if not _runs:
        raise Refused("a symbol was used outside of a run")
    return _runs[-1]


def refuse(reason: str) -> Refused:
    """The refusal; the run under way is spoilt, even where somebody catches it."""
    if _runs:
        _runs[-1].spoilt = reason
    return Refused(reason)
