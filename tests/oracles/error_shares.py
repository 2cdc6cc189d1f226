"""Tests that mix calls of assert_private, examples and failures that they catch; what their calls spend."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcert.proofs_checks.assertion_context import Calls, Context, assertions, current

Call = Callable[[bool], None]
"""Of assert_private: whether it refutes."""


def _with_examples(call: Call, failing: bool = False) -> None:
    @settings(max_examples=40, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 1000))
    def inner(number: int) -> None:
        call(failing and number > 10)

    inner()


def _alternating(call: Call) -> None:
    for _ in range(5):
        call(False)
        _with_examples(call)


def _caught_inside(call: Call) -> None:
    @settings(max_examples=200, database=None, deadline=None, derandomize=True)
    @given(st.integers(0, 1000))
    def inner(number: int) -> None:
        call(False)
        with suppress(AssertionError):
            call(True)

    inner()


def _caught_outside(call: Call) -> None:
    with suppress(AssertionError):
        _with_examples(call, failing=True)
    for _ in range(3):
        _with_examples(call)


SCENARIOS: dict[str, Callable[[Call], None]] = {
    "calls of its own": lambda call: [call(False) for _ in range(30)] and None,
    "calls of its own between examples": _alternating,
    "failures that are caught in an example": _caught_inside,
    "caught outside of it": _caught_outside,
}


def spent(scenario: Callable[[Call], None], calls: Calls, count_failing: bool = False) -> list:
    """The shares of all calls of a mechanism that is right; count_failing: of all calls, with whether they failed."""
    shares: list[tuple[float, bool]] = []

    def call(failing: bool) -> None:
        shares.append((current().spend(), failing))
        if failing:
            error = AssertionError("refuted")
            current().refuted(error)
            raise error

    with assertions(Context(alpha=1.0, calls=calls)):
        scenario(call)
    return shares if count_failing else [share for share, failing in shares if not failing]
