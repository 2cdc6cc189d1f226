"""Faults that several inversions can have in the same way, for the tests that plant them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def errors_subtracted_from_the_upper_end(inversion: type[Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """Plants in an inversion's log_delta: the width goes off the lower end, and the upper end is the true lower one."""
    right = inversion.log_delta

    def wrong(self: Any, at: float) -> tuple[float, float, float]:
        low, high, slope = right(self, at)
        return low - (high - low), low, slope

    def errors_subtracted_from_the_upper_end(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(inversion, "log_delta", wrong)

    return errors_subtracted_from_the_upper_end
