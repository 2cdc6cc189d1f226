"""The one symbolic run that is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .exploration import Run

_runs: list[Run] = []


def active() -> bool:
    """Whether a mechanism is being run on symbols."""
    return bool(_runs)


def current() -> Run:
    """The run under way."""
    return _runs[-1]


def enter(run: Run) -> None:
    """A run begins."""
    _runs.append(run)


def leave() -> None:
    """The run ends."""
    _runs.pop()
