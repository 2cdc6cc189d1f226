"""Scores: what turns an output into one number that orders outputs by how much they speak for the dataset.

A score is fitted on exploration trials only, so a bad one costs power and never validity. Your own: any object
with a `name` and `fit(dataset, neighbour, seed) -> function of Outputs` (torch_score.py is one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ...mechanisms.arrays import Floats
from .interval import LARGEST, MISSING, Interval, column_said
from .layout import Layout
from .outputs import Outputs

Scorer = Callable[[Outputs], Floats]


@runtime_checkable
class Telling(Protocol):
    """A scorer that can say which outputs have scores in an interval."""

    def says(self, interval: Interval, layout: Layout) -> str: ...


def said(scorer: Scorer, name: str, interval: Interval, layout: Layout) -> str:
    """Which outputs have scores in an interval, in words."""
    return scorer.says(interval, layout) if isinstance(scorer, Telling) else interval.told(name)


HANDICAP = 0.75
"""What learned scores promise is discounted by: they saw half of the exploration trials, so that luck weighs more."""


class Score(Protocol):
    """name: as it appears in witnesses. learns: False when fit ignores the trials (they serve the rules instead)."""

    @property
    def name(self) -> str: ...

    @property
    def learns(self) -> bool: ...

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        """A function from outputs to finite scores, shape (trials,)."""
        ...


def finite(values: Floats) -> Floats:
    """Scores on which thresholds work: infinities at the ends of the floats, NaN above everything."""
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum()):
            return values
    return np.where(np.isnan(values), MISSING, np.clip(values, -LARGEST, LARGEST))


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One number of the output itself."""

    column: int = 0
    learns: bool = False

    @property
    def name(self) -> str:
        return "output" if self.column == 0 else f"output[{self.column}]"

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        return _InColumn(self.column)


@dataclass(frozen=True, slots=True)
class _InColumn:
    column: int

    def __call__(self, outputs: Outputs) -> Floats:
        return column_of(outputs, self.column)

    def says(self, interval: Interval, layout: Layout) -> str:
        return column_said(interval, self.column, layout)


def column_of(outputs: Outputs, column: int) -> Floats:
    return finite(outputs.of_width(column + 1).rows[:, column] if outputs.width <= column else outputs.rows[:, column])
