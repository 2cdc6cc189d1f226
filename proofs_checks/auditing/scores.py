"""Scores: what turns an output into one number that orders outputs by how much they speak for the dataset.

A score is fitted on exploration trials only, so a bad one costs power and never validity. Your own: any object
with a `name` and `fit(dataset, neighbour, seed) -> function of Outputs` (torch_score.py is one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from ...mechanisms import InputError
from .clopper_pearson import Floats
from .outputs import Outputs, join
from .rules import LARGEST, MISSING

Scorer = Callable[[Outputs], Floats]

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
        return lambda outputs: _column(outputs, self.column)


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
        return lambda outputs: _looked_up(odds, edges, _column(outputs, self.column))


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
        mine, other = self._part(dataset, width).keys(), self._part(neighbour, width).keys()
        known, codes = np.unique(np.concatenate([mine, other]), return_inverse=True)
        odds = _log_odds(codes[: len(mine)], codes[len(mine) :], len(known))

        def score(outputs: Outputs) -> Floats:
            keys = self._part(outputs, width).keys()
            if len(known) == 0:
                return np.zeros(len(keys))
            place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
            return np.where(known[place] == keys, odds[place], 0.0)

        return score

    def _part(self, outputs: Outputs, width: int) -> Outputs:
        if self.column is None:
            return outputs.of_width(width)
        return Outputs(outputs.of_width(self.column + 1).rows[:, self.column :])


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
        return lambda outputs: _lowest_bit(outputs.rows)


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
        weights = np.linalg.solve(gram, x.T @ y)
        return lambda outputs: finite(prepare(outputs) @ weights)


@dataclass(frozen=True, slots=True)
class Classifier:
    """Decision values of a scikit-learn classifier. make: seed below 2^32 -> unfitted classifier."""

    name: str
    make: Callable[[int], Any]
    learns: bool = True

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        prepare = features(dataset, neighbour)
        model = self.make(seed % 2**32)  # all that scikit-learn takes
        y = np.concatenate([np.ones(len(dataset)), np.zeros(len(neighbour))])
        model.fit(np.concatenate([prepare(dataset), prepare(neighbour)]), y)

        def score(outputs: Outputs) -> Floats:
            x = prepare(outputs)
            if len(x) == 0:
                return np.empty(0)
            if hasattr(model, "decision_function"):
                return finite(np.asarray(model.decision_function(x), float))
            chance = np.clip(np.asarray(model.predict_proba(x), float)[:, 1], 1e-12, 1 - 1e-12)
            return np.asarray(np.log(chance) - np.log1p(-chance), float)

        return score


def _sklearn(module: str, name: str) -> Any:
    """A scikit-learn class, imported when it is first used; InputError when the [audit] extra is missing."""
    if find_spec("sklearn") is None:
        raise InputError("scores", name, "scikit-learn for this score: pip install dpcert[audit]")
    return getattr(import_module(f"sklearn.{module}"), name)


def logistic() -> Classifier:
    """Logistic regression (scikit-learn, the [audit] extra)."""

    def make(seed: int) -> Any:
        return _sklearn("linear_model", "LogisticRegression")(max_iter=300, random_state=seed)

    return Classifier("logistic regression on the output", make)


def boosted_trees() -> Classifier:
    """Gradient-boosted trees (scikit-learn, the [audit] extra)."""

    def make(seed: int) -> Any:
        return _sklearn("ensemble", "HistGradientBoostingClassifier")(max_iter=60, max_leaf_nodes=15, random_state=seed)

    return Classifier("gradient-boosted trees on the output", make)


def network() -> Classifier:
    """A small neural network (scikit-learn's, one hidden layer of 32; the [audit] extra)."""

    def make(seed: int) -> Any:
        return _sklearn("neural_network", "MLPClassifier")((32,), early_stopping=True, max_iter=60, random_state=seed)

    return Classifier("neural network on the output", make)


def applicable(dataset: Outputs, neighbour: Outputs) -> tuple[Score, ...]:
    """The scores that are worth trying on outputs of this kind (looked at on exploration trials).

    LowBits is not among them: it refutes all noise that is added in floating point, textbook-correct or not,
    so it is for those who ask that question (method = "low-bits").
    """
    rows = join((dataset, neighbour)).rows
    width, repeats = rows.shape[1], _repeats(dataset, neighbour)
    found: list[Score] = []
    if width == 1:
        found += [Coordinate(), Histogram()]
    elif width <= 8:
        found += [Coordinate(column) for column in range(width)]
    if repeats:
        found.append(Values())
    if width > 1:
        found += [Values(column) for column in range(min(width, 8)) if _repeated(rows[:, column])]
        found.append(Linear())
        if find_spec("sklearn") is not None and len(rows) >= 400 and width <= 512:
            found.append(boosted_trees())
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


def features(dataset: Outputs, neighbour: Outputs) -> Callable[[Outputs], Floats]:
    """Standardised columns, a constant, and an indicator for each column with missing or infinite numbers."""
    rows = join((dataset, neighbour)).rows
    odd = ~np.isfinite(rows)
    tame = np.where(odd, 0.0, rows)
    middle, spread = np.median(tame, axis=0), np.std(np.clip(tame, -1e100, 1e100), axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    flagged = np.flatnonzero(odd.any(axis=0))

    def prepare(outputs: Outputs) -> Floats:
        seen = outputs.of_width(rows.shape[1]).rows
        bad = ~np.isfinite(seen)
        x = np.clip((np.where(bad, middle, seen) - middle) / spread, -1e6, 1e6)
        return np.column_stack([x, np.ones(len(outputs)), bad[:, flagged].astype(float)])

    return prepare


def _lowest_bit(rows: Floats) -> Floats:
    """min over the columns of the exponent of the lowest set bit; 1100 for 0, NaN and infinities."""
    bits = np.ascontiguousarray(rows).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    lowest = (mantissa & -mantissa).astype(np.float64)
    place = np.log2(np.maximum(lowest, 1.0)) + np.maximum(exponent, 1) - 1075
    return np.asarray(np.where((exponent == 0x7FF) | (mantissa == 0), 1100.0, place).min(axis=1, initial=1100.0), float)
