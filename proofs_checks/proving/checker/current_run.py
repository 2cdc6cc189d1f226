"""The run that the checker follows: whoever computes with symbols asks its tracer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .refusals import Refused

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
