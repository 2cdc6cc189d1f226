"""What a calibration solves: a run as a function of the value that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ...mechanisms import InputError, Mechanism
from ..bracket import Bracket
from ..lower_end import with_lower_end
from .calibrate_risk import RiskCalibration
from .calibrate_to import TargetCalibration
from .search import Calibration
from .solve_for import SolveFor

Found = TypeVar("Found", Calibration, RiskCalibration, TargetCalibration)
"""What has a value, and one next to it that misses."""


@dataclass(frozen=True, slots=True)
class Problem:
    """build: the run at a value; least: what ran at the least then, None where nothing is known of that; most: the
    largest value; at: what was asked, with the value, for the JSON document.

    step: how many rounds the value counts together, where a run has whole epochs or blocks of them only. of: what the
    value is a part of, in words, such as " times the schedule's".
    """

    solved: SolveFor
    build: Callable[[float], Mechanism]
    least: Callable[[float], Mechanism | None]
    most: float | None
    at: Callable[[float], dict[str, Any]]
    step: int = 1
    of: str = ""

    def lowered(self, found: Bracket, value: float, ask: Callable[[Mechanism], Bracket] | None = None) -> Bracket:
        """The bracket at the value, from below of what ran at the least (ask: the bracket of that)."""
        least = self.least(value)
        if least == self.build(value):
            return found
        known = replace(found, lower=0.0) if ask is None else with_lower_end(found, least, ask)
        return replace(known, reached=False)

    def in_rounds(self, found: Found) -> Found:
        """The answer in rounds, where the value counts several together. Raises InputError where the search ended."""
        if self.solved == SolveFor.ROUNDS and found.value == self.most:
            reached = f"{found.value * self.step} rounds meet this one, and the search goes no further"
            raise InputError("solve_for", "rounds", f"a smaller target: {reached}")
        if self.step == 1:
            return found
        return replace(found, value=found.value * self.step, beyond=found.beyond and found.beyond * self.step)
