"""Scores: what turns an output into one number that orders outputs by how much they speak for the dataset.

A score is fitted on exploration trials only, so a bad one costs power and never validity. Your own: any object
with a `name` and `fit(dataset, neighbour, seed) -> function of Outputs` (torch_score.py is one). What an interval of a
score says of outputs is told in words. Here: one number of the output, and its lowest set bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .layout import Layout
from .outputs import Outputs

LARGEST = float(np.finfo(np.float64).max) / 4
"""Where infinite scores are put."""
MISSING = 2 * LARGEST
"""Where NaN scores are put."""
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Interval:
    """Scores of at least low, and below high (closed: up to high). Infinite ends leave a side open."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = False

    def holds(self, scores: Floats) -> NDArray[np.bool_]:
        """Which scores lie in it."""
        return (scores >= self.low) & (scores <= self.high if self.closed else scores < self.high)

    def told(self, name: str) -> str:
        """As a condition on what is called `name`."""
        if self.low >= LARGEST:
            return f"{name} is NaN" if self.low >= MISSING else f"{name} is infinite or NaN"
        if self.closed and self.high <= -LARGEST:
            return f"{name} is -infinity"
        if self.low == self.high:
            return f"{name} = {shown(self.low)}"
        below = f"{name} {'<=' if self.closed else '<'} {shown(self.high)}"
        if self.low == -math.inf:
            return below if self.high < math.inf else f"any {name}"
        if self.high == math.inf:
            return f"{name} >= {shown(self.low)}"
        return f"{shown(self.low)} <= {below}"


def shown(threshold: float) -> str:
    """A threshold in words; scores.finite puts NaN above, and infinities at, the ends of the other scores."""
    for end, name in ((MISSING, "NaN"), (LARGEST, "infinity")):
        if abs(threshold) >= end:
            return name if threshold > 0 else f"-{name}"
    return f"{threshold:.9g}"


def column_said(interval: Interval, column: int, layout: Layout) -> str:
    """A condition on one number of the output; on what it stands for, where it is a code."""
    name, texts = layout.name(column), layout.texts.get(column)
    if not texts:
        return interval.told(name)
    codes = np.array(sorted(texts))
    return one_of(name, [texts[code] for code in codes[interval.holds(codes)].tolist()])


def one_of(name: str, values: list[str]) -> str:
    """name is one of the values, of which a few are written out."""
    return f"{name} is {values[0]}" if len(values) == 1 else f"{name} is one of {_listed(values)}"


def none_of(name: str, values: list[str]) -> str:
    """name is anything but the values."""
    return f"{name} is not {values[0]}" if len(values) == 1 else f"{name} is none of {_listed(values)}"


def _listed(values: list[str]) -> str:
    more = f", ... ({len(values)} values)" if len(values) > MOST_SHOWN else ""
    return ", ".join(values[:MOST_SHOWN]) + more


def either(conditions: list[str]) -> str:
    """One of the conditions holds; a few of them are written out."""
    more = f", or {len(conditions) - MOST_SHOWN} more such ranges" if len(conditions) > MOST_SHOWN else ""
    return " or ".join(conditions[:MOST_SHOWN]) + more


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
        return self

    def __call__(self, outputs: Outputs) -> Floats:
        return column_of(outputs, self.column)

    def says(self, interval: Interval, layout: Layout) -> str:
        return column_said(interval, self.column, layout)


def column_of(outputs: Outputs, column: int) -> Floats:
    return finite(outputs.of_width(column + 1).rows[:, column] if outputs.width <= column else outputs.rows[:, column])


@dataclass(frozen=True, slots=True)
class LowBits:
    """The exponent of the lowest set bit, the smallest over the columns.

    x = k 2^e with k odd has score e. A sum that is rounded at one magnitude cannot have lower bits than noise that
    is drawn at another: the attack of Mironov 2012 (CCS) on textbook Laplace, without its table of reachable
    values; it also finds the grids that rounding leaves.
    """

    name: str = "exponent of the output's lowest set bit"
    learns: bool = False

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        return self

    def __call__(self, outputs: Outputs) -> Floats:
        return _lowest_bit(outputs.rows)

    def says(self, interval: Interval, layout: Layout) -> str:
        """A float is a whole number times 2^e; the largest such e says on which grid it lies."""
        return interval.told("the exponent e of the output's lowest set bit (it is an odd number times 2^e)")


def _lowest_bit(rows: Floats) -> Floats:
    """min over the columns of the exponent of the lowest set bit; 1100 for 0, NaN and infinities."""
    bits = np.ascontiguousarray(rows).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    lowest = (mantissa & -mantissa).astype(np.float64)
    place = np.log2(np.maximum(lowest, 1.0)) + np.maximum(exponent, 1) - 1075
    return np.asarray(np.where((exponent == 0x7FF) | (mantissa == 0), 1100.0, place).min(axis=1, initial=1100.0), float)
