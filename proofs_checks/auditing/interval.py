"""Intervals of a score, and what they say of outputs in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .layout import Layout

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
