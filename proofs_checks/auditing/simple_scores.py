"""Simple scores that learn: a linear discriminant, log odds of a number's bin or an exact value; and which to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .layout import Layout
from .outputs import Outputs, join
from .scores import Coordinate, Interval, Score, Scorer, column_of, either, finite, none_of, one_of

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

    name: str = "linear discriminant of the output"
    learns: bool = True

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


def applicable(dataset: Outputs, neighbour: Outputs) -> tuple[Score, ...]:
    """The simple scores that are worth trying on outputs of this kind (looked at on exploration trials).

    LowBits is not among them: it refutes all noise that is added in floating point, textbook-correct or not,
    so it is for those who ask that question (method = "low-bits"). Where these fail: classifiers.learned.
    """
    rows = join((dataset, neighbour)).rows
    width, repeats = rows.shape[1], _repeats(dataset, neighbour)
    found: list[Score] = []
    if width == 1:
        found += [Coordinate(), Histogram()]
    elif width <= 8:
        found += [Coordinate(column) for column in range(width)]
    if width > 1:  # the columns first: of events that show as much the first one is told, and theirs are shorter
        found += [Values(column) for column in range(min(width, 8)) if _repeated(rows[:, column])]
    if repeats:
        found.append(Values())
    if width > 1:  # last: of a weighted sum a reader makes less than of values
        found.append(Linear())
    return tuple(found)


def _repeats(dataset: Outputs, neighbour: Outputs) -> bool:
    keys = join((dataset, neighbour)).keys()[:4096]
    return len(np.unique(keys)) < 0.9 * len(keys)


def _repeated(column: Floats) -> bool:
    some = column[:4096]
    return 1 < len(np.unique(some)) < 0.9 * len(some)
