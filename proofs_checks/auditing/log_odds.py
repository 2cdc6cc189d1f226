"""Scores that are log odds of categories: of a number's bin, or of an exact value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .interval import Interval, either, none_of, one_of
from .layout import Layout
from .outputs import Outputs
from .scores import Scorer, column_of


@dataclass(frozen=True, slots=True)
class Histogram:
    """Log odds by quantile bin of one number: finds differences in spread, or in the middle, that no tail shows."""

    column: int = 0
    bins: int = 40
    learns: bool = True

    @property
    def name(self) -> str:
        return f"log odds of output[{self.column}]'s bin"

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        mine, other = column_of(dataset, self.column), column_of(neighbour, self.column)
        pooled = np.concatenate([mine, other])
        if len(pooled) == 0:
            return lambda outputs: np.zeros(len(outputs))
        edges = np.unique(np.quantile(pooled, np.linspace(0, 1, min(self.bins, len(pooled) // 8 + 2))[1:-1]))
        odds = _log_odds(np.searchsorted(edges, mine), np.searchsorted(edges, other), len(edges) + 1)
        return _InBins(self.column, edges, odds)


@dataclass(frozen=True, slots=True)
class _InBins:
    """odds[k]: of numbers above edges[k - 1] and up to edges[k]."""

    column: int
    edges: Floats
    odds: Floats

    def __call__(self, outputs: Outputs) -> Floats:
        return _looked_up(self.odds, self.edges, column_of(outputs, self.column))

    def says(self, interval: Interval, layout: Layout) -> str:
        """The ranges of the number whose bins have such odds; touching ones as one."""
        ends, name = [-np.inf, *self.edges.tolist(), np.inf], layout.name(self.column)
        ranges: list[list[float]] = []
        for number in np.flatnonzero(interval.holds(self.odds)).tolist():
            if ranges and ranges[-1][1] == ends[number]:
                ranges[-1][1] = ends[number + 1]
            else:
                ranges.append([ends[number], ends[number + 1]])
        return either([_above_up_to(name, *some) for some in ranges]) or f"no {name}"


@dataclass(frozen=True, slots=True)
class Values:
    """Log odds of the exact value: of one column, or (None) of the whole output. For whatever repeats itself."""

    column: int | None = None
    learns: bool = True

    @property
    def name(self) -> str:
        return "log odds of the output's exact value" + ("" if self.column is None else f" in column {self.column}")

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        width = max(dataset.width, neighbour.width)
        mine, other = self.part(dataset, width).keys(), self.part(neighbour, width).keys()
        known, codes = np.unique(np.concatenate([mine, other]), return_inverse=True)
        odds = _log_odds(codes[: len(mine)], codes[len(mine) :], len(known))
        rows = np.concatenate([self.part(dataset, width).rows, self.part(neighbour, width).rows])
        first = np.full(len(known), len(codes))
        np.minimum.at(first, codes, np.arange(len(codes)))
        return AmongValues(self, width, known, odds, rows[first])

    def part(self, outputs: Outputs, width: int) -> Outputs:
        """The column, or the whole output."""
        if self.column is None:
            return outputs.of_width(width)
        return Outputs(outputs.of_width(self.column + 1).rows[:, self.column :])


@dataclass(frozen=True, slots=True)
class AmongValues:
    """odds[k]: of the value with the key known[k], which was rows[k]; 0 for values that were not seen."""

    of: Values
    width: int
    known: NDArray[np.uint64]
    odds: Floats
    rows: Floats

    def __call__(self, outputs: Outputs) -> Floats:
        keys = self.of.part(outputs, self.width).keys()
        if len(self.known) == 0:
            return np.zeros(len(keys))
        place = np.minimum(np.searchsorted(self.known, keys), len(self.known) - 1)
        return np.where(self.known[place] == keys, self.odds[place], 0.0)

    def says(self, interval: Interval, layout: Layout) -> str:
        """The values with such odds; or, where unseen values are among them, those that are not."""
        inside = interval.holds(self.odds)
        rest = bool(interval.holds(np.zeros(1))[0])
        listed = [self._shown(row, layout) for row in self.rows[~inside if rest else inside]]
        name = "output" if self.of.column is None else layout.name(self.of.column)
        if rest:
            return none_of(name, listed) if listed else f"any {name}"
        return one_of(name, listed) if listed else f"no {name}"

    def _shown(self, row: Floats, layout: Layout) -> str:
        return layout.row(row.tolist()) if self.of.column is None else layout.value(float(row[0]), self.of.column)


def _looked_up(table: Floats, edges: Floats, values: Floats) -> Floats:
    """table[np.searchsorted(edges, values)]; counting is quicker for few edges, in blocks that stay cached."""
    found, block = np.empty(len(values)), 1 << 14
    for start in range(0, len(values), block):
        some = values[start : start + block]
        place = np.zeros(len(some), np.min_scalar_type(len(edges)))
        for edge in edges:
            place += some > edge
        found[start : start + block] = table[place]
    return found


def _log_odds(mine: Any, other: Any, size: int) -> Floats:
    """Smoothed log odds by category; each score is finite and rare categories are drawn towards 0."""
    a = np.bincount(mine, minlength=size) + 0.5
    b = np.bincount(other, minlength=size) + 0.5
    return np.asarray(np.log(a) - np.log(b), float)


def _above_up_to(name: str, low: float, high: float) -> str:
    if low == -np.inf:
        return f"{name} <= {high:.6g}" if high < np.inf else f"any {name}"
    return f"{low:.6g} < {name} <= {high:.6g}" if high < np.inf else f"{name} > {low:.6g}"
