"""What a test runner says about the calls of assert_private in one test; imports nothing heavy, as plugins must not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .auditing import AuditResult

DEFAULT_ALPHA = 1e-6
DEFAULT_TRIALS = 2_000

CURRENCIES = ("epsilon", "rho", "mu", "curve", "renyi")
"""What a claim may be stated in, by the names of assert_private's arguments and of the dp mark's; a delta beside
epsilon only."""


SPARE = 0.1
"""Part of a test's error probability kept for more examples than were announced: assume() rejects some of them, and an
ordinary test, which counts as one example, may call functions that have examples of their own."""


NOTHING = "Nothing was checked (allow_blind=True accepts that). "


class Calls:
    """Counts the calls of assert_private in one test. total: all of them. announced: how many examples it may have."""

    def __init__(self, announced: int = 1) -> None:
        self.total = 0
        self.checked = False
        self.unchecked: list[str] = []
        self._announced = announced
        self._example: object = None
        self._examples = self._within = 0
        self._failing: tuple[float, BaseException] | None = None

    def next(self) -> float:
        """The share of a new call in its test's error probability; all shares together are at most 1.

        Of k calls in an example the parts are 1/2, 1/6, ..., 1/(k (k + 1)) of the example's.
        """
        example = _example()
        if example is not self._example or self._examples == 0:
            self._example, self._within = example, 0
            self._examples += 1
        self.total, self._within = self.total + 1, self._within + 1
        return self._share() / (self._within * (self._within + 1))

    def failed(self, error: BaseException) -> None:
        """The test fails in the present example, unless it catches the error. What Hypothesis runs again to show it
        gets the same share, at no risk."""
        self._failing = self._share(), error

    def looked(self, why_not: str) -> None:
        """A call refuted nothing; why it checked nothing either, empty where it did."""
        self.checked = self.checked or not why_not
        if why_not and why_not not in self.unchecked:
            self.unchecked.append(why_not)

    def nothing_checked(self) -> str:
        """Why no call of the test checked anything, in sentences; empty where one did, or none was made."""
        if self.checked or not self.unchecked:
            return ""
        return NOTHING + " ".join(self.unchecked[:3])

    def _share(self) -> float:
        if self._failing is not None and _in_hypothesis(self._failing[1]):
            return self._failing[0]
        beyond = self._examples - self._announced
        return (1 - SPARE) / self._announced if beyond <= 0 else SPARE / (beyond * (beyond + 1))


def _in_hypothesis(error: BaseException) -> bool:
    """Whether Hypothesis holds the error, and runs its example again; a test that catches it goes on instead."""
    held = error.__traceback__
    return held is not None and str(held.tb_frame.f_globals.get("__name__")).startswith("hypothesis.")


def _example() -> object:
    """What Hypothesis makes anew for each example; None outside of its tests."""
    if "hypothesis" not in sys.modules:
        return None
    from hypothesis import currently_in_test_context
    from hypothesis.control import current_build_context

    return current_build_context() if currently_in_test_context() else None


@dataclass(frozen=True)
class Context:
    """trials: calls of the mechanism a side. claim: the test's, as keyword arguments of assert_private; empty
    where none is stated. replay: the command that runs the test.

    alpha: error probability of the test, which its calls share; without a count of them each call's.
    """

    alpha: float = DEFAULT_ALPHA
    trials: int = DEFAULT_TRIALS
    claim: Mapping[str, Any] = field(default_factory=dict)
    record: Callable[[AuditResult], None] = lambda result: None
    replay: str | None = None
    calls: Calls | None = None

    def spend(self) -> float:
        """The error probability of the next call."""
        return self.alpha if self.calls is None else self.alpha * self.calls.next()

    def refuted(self, error: AssertionError) -> None:
        """The call fails with this error."""
        if self.calls is not None:
            self.calls.failed(error)

    def looked(self, why_not: str) -> None:
        """The call refuted nothing. Without a test runner, which looks at all calls together, it has to stand alone."""
        if self.calls is not None:
            self.calls.looked(why_not)
        elif why_not:
            raise AssertionError(NOTHING + why_not)


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
