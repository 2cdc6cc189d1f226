"""What a test runner says about the calls of assert_private in one test; imports nothing heavy, as plugins must not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .auditing import AuditResult

DEFAULT_ALPHA = 1e-6
DEFAULT_TRIALS = 2_000


@dataclass(frozen=True)
class Context:
    """alpha: error probability of one call. trials: calls of the mechanism a side. epsilon, delta: the test's claim."""

    alpha: float = DEFAULT_ALPHA
    trials: int = DEFAULT_TRIALS
    epsilon: float | None = None
    delta: float = 0.0
    record: Callable[[AuditResult], None] = lambda result: None


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
