"""The one symbolic run that is under way, and what symbols ask of it."""

from __future__ import annotations

from typing import Any, Protocol


class UnderWay(Protocol):
    """dataset: its symbols. space: what is known of the data. draws: the kind and scale of each noise so far.
    failure: why the run cannot go on, once it cannot.
    """

    dataset: list[Any]
    draws: list[Any]
    failure: Any

    @property
    def space(self) -> Any: ...

    def draw(self, kind: str, scale: Any) -> Any:
        """A new noise variable."""

    def decide(self, condition: Any) -> bool:
        """The answer to a test."""

    def choose(self, options: Any) -> int:
        """Which of several lists of conditions holds."""

    def on_arrays(self, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What numpy is to do with a symbol."""


_runs: list[UnderWay] = []


def active() -> bool:
    """Whether a mechanism is being run on symbols."""
    return bool(_runs)


def current() -> UnderWay:
    """The run under way."""
    return _runs[-1]


def enter(run: UnderWay) -> None:
    """A run begins."""
    _runs.append(run)


def leave() -> None:
    """The run ends."""
    _runs.pop()
