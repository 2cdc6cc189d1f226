"""What a test runner says about the calls of assert_private in one test; imports nothing heavy, as plugins must not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .auditing import AuditResult

DEFAULT_ALPHA = 1e-6
DEFAULT_TRIALS = 2_000


class Calls:
    """Counts the calls of assert_private in one test. total: all of them."""

    def __init__(self) -> None:
        self.total = 0
        self._example: object = None
        self._within = 0

    def next(self) -> int:
        """The number of a new call within its example, counted from 1."""
        example = _example()
        if example is not self._example:
            self._example, self._within = example, 0
        self.total, self._within = self.total + 1, self._within + 1
        return self._within


def _example() -> object:
    """What Hypothesis makes anew for each example; None outside of its tests."""
    if "hypothesis" not in sys.modules:
        return None
    from hypothesis import currently_in_test_context
    from hypothesis.control import current_build_context

    return current_build_context() if currently_in_test_context() else None


@dataclass(frozen=True)
class Context:
    """trials: calls of the mechanism a side. epsilon, delta: the test's claim. replay: the command that runs the test.

    alpha: error probability of one example (or test), which its calls share; without a count of them each call's.
    """

    alpha: float = DEFAULT_ALPHA
    trials: int = DEFAULT_TRIALS
    epsilon: float | None = None
    delta: float = 0.0
    record: Callable[[AuditResult], None] = lambda result: None
    replay: str | None = None
    calls: Calls | None = None

    def spend(self) -> float:
        """The error probability of the next call: of k calls the parts 1/2, 1/6, ..., 1/(k (k + 1)), 1 in all."""
        if self.calls is None:
            return self.alpha
        number = self.calls.next()
        return self.alpha / (number * (number + 1))


_OUTSIDE = Context()
_CONTEXT: ContextVar[Context] = ContextVar("dpcert_assertion")


def current() -> Context:
    """The innermost context, or the one for calls without a test runner."""
    return _CONTEXT.get(_OUTSIDE)


@contextmanager
def assertions(context: Context) -> Iterator[None]:
    """Use this context for the calls made inside."""
    token = _CONTEXT.set(context)
    try:
        yield
    finally:
        _CONTEXT.reset(token)
