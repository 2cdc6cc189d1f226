"""How many random cases a test has, which cases of a sweep run every time, and which only at night."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases, of which only the first, and each `every`-th after it, belong to the quick tests."""
    return [case if i % every == 0 else at_night(case) for i, case in enumerate(cases)]


def at_night(case: Any) -> Any:
    """The case with the nightly marker; a tuple is several arguments."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)


def many(usual: int) -> int:
    """So many random examples as usual, times DPCERT_TEST_MULTIPLIER; at least one.

    For tests that look for a counterexample among drawn cases. Those that state an error probability keep their size.
    """
    return max(1, round(usual * float(os.environ.get("DPCERT_TEST_MULTIPLIER", "1"))))
