"""Scores: what turns an output into one number that orders outputs by how much they speak for the dataset.

A score is fitted on exploration trials only, so a bad one costs power and never validity. Your own: any object
with a `name` and `fit(dataset, neighbour, seed) -> function of Outputs` (torch_score.py is one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .interval import LARGEST, MISSING, Interval, column_said, either, one_of
from .layout import Layout
from .outputs import Outputs, join

Scorer = Callable[[Outputs], Floats]


@runtime_checkable
class Telling(Protocol):
    """A scorer that can say which outputs have scores in an interval."""

    def says(self, interval: Interval, layout: Layout) -> str: ...


def said(scorer: Scorer, name: str, interval: Interval, layout: Layout) -> str:
    """Which outputs have scores in an interval, in words."""
    return scorer.says(interval, layout) if isinstance(scorer, Telling) else interval.told(name)


LEADING = 3
"""Numbers of an output that are named where a score adds many."""

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
        return _column(outputs, self.column)

    def says(self, interval: Interval, layout: Layout) -> str:
        return column_said(interval, self.column, layout)


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
        mine, other = _column(dataset, self.column), _column(neighbour, self.column)
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
        return _looked_up(self.odds, self.edges, _column(outputs, self.column))

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
        return _AmongValues(self, width, known, odds, rows[first])

    def part(self, outputs: Outputs, width: int) -> Outputs:
        """The column, or the whole output."""
        if self.column is None:
            return outputs.of_width(width)
        return Outputs(outputs.of_width(self.column + 1).rows[:, self.column :])


@dataclass(frozen=True, slots=True)
class _AmongValues:
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
            return f"not ({one_of(name, listed)})" if listed else f"any {name}"
        return one_of(name, listed) if listed else f"no {name}"

    def _shown(self, row: Floats, layout: Layout) -> str:
        return layout.row(row.tolist()) if self.of.column is None else layout.value(float(row[0]), self.of.column)


@dataclass(frozen=True, slots=True)
class LowBits:
    """The exponent of the lowest set bit, the smallest over the columns.

    x = k 2^e with k odd has score e. A sum that is rounded at one magnitude cannot have lower bits than noise that
    is drawn at another: the attack of Mironov 2012 (CCS) on textbook Laplace, without its table of reachable
    values; it also finds the grids that rounding leaves.
    """

    learns: bool = False

    @property
    def name(self) -> str:
        return "exponent of the output's lowest set bit"

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        return _OfLowBits()


@dataclass(frozen=True, slots=True)
class _OfLowBits:
    def __call__(self, outputs: Outputs) -> Floats:
        return _lowest_bit(outputs.rows)

    def says(self, interval: Interval, layout: Layout) -> str:
        """A float is a whole number times 2^e; the largest such e says on which grid it lies."""
        return interval.told("the exponent e of the output's lowest set bit (it is an odd number times 2^e)")


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
        found.append(Linear())
    if repeats:
        found.append(Values())
    return tuple(found)


def _repeats(dataset: Outputs, neighbour: Outputs) -> bool:
    keys = join((dataset, neighbour)).keys()[:4096]
    return len(np.unique(keys)) < 0.9 * len(keys)


def _repeated(column: Floats) -> bool:
    some = column[:4096]
    return 1 < len(np.unique(some)) < 0.9 * len(some)


def _column(outputs: Outputs, column: int) -> Floats:
    return finite(outputs.of_width(column + 1).rows[:, column] if outputs.width <= column else outputs.rows[:, column])


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


def _above_up_to(name: str, low: float, high: float) -> str:
    if low == -np.inf:
        return f"{name} <= {high:.6g}" if high < np.inf else f"any {name}"
    return f"{low:.6g} < {name} <= {high:.6g}" if high < np.inf else f"{name} > {low:.6g}"


def _lowest_bit(rows: Floats) -> Floats:
    """min over the columns of the exponent of the lowest set bit; 1100 for 0, NaN and infinities."""
    bits = np.ascontiguousarray(rows).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    lowest = (mantissa & -mantissa).astype(np.float64)
    place = np.log2(np.maximum(lowest, 1.0)) + np.maximum(exponent, 1) - 1075
    return np.asarray(np.where((exponent == 0x7FF) | (mantissa == 0), 1100.0, place).min(axis=1, initial=1100.0), float)
