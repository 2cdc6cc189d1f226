"""The linear discriminant of an output, and the standardised features that learned scores share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .interval import Interval
from .layout import Layout
from .outputs import Outputs, join
from .scores import Scorer, finite

LEADING = 3
"""Numbers of an output that are named where a score adds many."""


@dataclass(frozen=True, slots=True)
class Features:
    """Standardised columns, a constant, and an indicator for each column with missing or infinite numbers."""

    middle: Floats
    spread: Floats
    flagged: NDArray[np.int64]

    @property
    def width(self) -> int:
        """How many columns the outputs have."""
        return len(self.middle)

    def __call__(self, outputs: Outputs) -> Floats:
        seen = outputs.of_width(self.width).rows
        bad = ~np.isfinite(seen)
        with np.errstate(over="ignore"):  # clipped
            x = np.clip((np.where(bad, self.middle, seen) - self.middle) / self.spread, -1e6, 1e6)
        return np.column_stack([x, np.ones(len(outputs)), bad[:, self.flagged].astype(float)])


def features(dataset: Outputs, neighbour: Outputs) -> Features:
    """The features of outputs like these."""
    rows = join((dataset, neighbour)).rows
    odd = ~np.isfinite(rows)
    tame = np.clip(np.where(odd, 0.0, rows), -1e300, 1e300)
    middle, spread = np.median(tame, axis=0), np.std(np.clip(tame, -1e100, 1e100), axis=0)
    return Features(middle, np.where(spread > 0, spread, 1.0), np.flatnonzero(odd.any(axis=0)))


@dataclass(frozen=True, slots=True)
class Linear:
    """The ridge-regularised linear discriminant: nearly optimal for Gaussian noise around two vectors."""

    learns: bool = True

    @property
    def name(self) -> str:
        return "linear discriminant of the output"

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        prepare = features(dataset, neighbour)
        x = np.concatenate([prepare(dataset), prepare(neighbour)])
        y = np.concatenate([np.ones(len(dataset)), -np.ones(len(neighbour))])
        gram = x.T @ x + 1e-3 * max(1.0, float(len(x)) ** 0.5) * np.eye(x.shape[1])
        return _AlongALine(prepare, np.linalg.solve(gram, x.T @ y))


@dataclass(frozen=True, slots=True)
class _AlongALine:
    """weights: of the features, the standardised columns first."""

    prepare: Features
    weights: Floats

    def __call__(self, outputs: Outputs) -> Floats:
        return finite(self.prepare(outputs) @ self.weights)

    def says(self, interval: Interval, layout: Layout) -> str:
        """The sum's leading numbers, with their weights in units of each number's own spread."""
        columns = self.weights[: self.prepare.width]
        leading = np.argsort(-np.abs(columns))[:LEADING]
        told = ", ".join(f"{columns[k] / (np.abs(columns).max() or 1.0):+.2f} x {layout.name(int(k))}" for k in leading)
        others = len(columns) - len(leading)
        more = f" and {others} others" if others else ""
        return interval.told(f"the fitted sum led by {told}{more}")
