"""Which of the simple scores are worth trying on outputs of a kind."""

from __future__ import annotations

import numpy as np

from ...mechanisms.arrays import Floats
from .linear_score import Linear
from .log_odds import Histogram, Values
from .outputs import Outputs, join
from .scores import Coordinate, Score


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
