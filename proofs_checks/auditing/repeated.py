"""Outputs that come again: the counts of every value on either side, without a trial spent on choosing among them.

Which values are looked at depends on all outputs together, and on no coin. Given the outputs the coins are independent,
and under epsilon-DP each is the dataset's with probability at most p = e^epsilon/(1 + e^epsilon), and so is each the
neighbour's. So of the N times that a value came, those on the dataset are stochastically below Bin(N, p), however the
value was chosen from the outputs: Clopper-Pearson, shared evenly by both directions of all values looked at.

delta > 0: with q the coin's chance given the output, call a coin of the guessed side a leak with probability
(q - p)_+/q. The others have chance p at most, given the outputs. Leaks come with probability at most
delta/(2 (1 + e^epsilon)) <= delta/4 per trial, independently: there are more than D with probability LEAK_SHARE of the
error, half of it for each direction, and D coins are counted as wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from . import clopper_pearson
from .against_curve import lines
from .evidence import Evidence, Found, Line
from .guessing_game import LEAK_SHARE
from .outputs import aligned
from .result import LowerBound, Test
from .rules import NEVER, Rule
from .simple_scores import AmongValues, Values
from .witness import AuditWitness

NAME = "repeated outputs"
COLUMNS = 8
"""So many numbers of an output are looked at one by one, beside the output as a whole."""
MOST_VALUES = 256
MOST_LINES = 4
"""Lines of a claimed curve that are tested."""


@dataclass(frozen=True, slots=True)
class _Values:
    """Values that came often: where (None: the whole output), their keys and rows, and how often on either side."""

    columns: tuple[int | None, ...]
    keys: NDArray[np.uint64]
    rows: tuple[Floats, ...]
    mine: Floats
    other: Floats

    def __len__(self) -> int:
        return len(self.keys)


def repeated_outputs(samples: Evidence, error: float) -> Found:
    """Tests the claim, and bounds epsilon, by the values that come again."""
    claimed = lines(samples.claim) if samples.claim is not None else []
    claimed = claimed[:: max(1, math.ceil(len(claimed) / MOST_LINES))]
    deltas = sorted({samples.delta, *(delta for _, delta in claimed)})
    share = error / len(deltas)
    values = _often(samples, share, min([epsilon for epsilon, _ in claimed], default=0.0))
    trials = samples.samples.trials
    if not len(values):
        return Found(tests=(Test(NAME, 1.0, error, trials),) if claimed else ())
    counted = {delta: _Counted(values, delta, trials, share) for delta in deltas}
    bound = LowerBound("epsilon", counted[samples.delta].epsilon(), samples.delta, error, NAME)
    p_values = {line: min(1.0, len(deltas) * counted[line[1]].p_value(line[0])) for line in claimed}
    test = (Test(NAME, min(p_values.values()), error, trials),) if claimed else ()
    if not test or not test[0].refutes:
        return Found(test, (bound,))
    line = min(claimed, key=p_values.__getitem__)
    return Found(test, (bound,), (_witness(samples, values, counted[line[1]], line, p_values[line]),))


class _Counted:
    """The counts of all values at one delta, each direction of each at an equal part of the error."""

    def __init__(self, values: _Values, delta: float, trials: int, error: float) -> None:
        leaked = LEAK_SHARE * error if delta > 0 else 0.0
        self.error, self.each = error, (error - leaked) / (2 * len(values))
        leaks = clopper_pearson.most(trials, delta / 4, leaked / 2) if delta > 0 else 0
        self.total = values.mine + values.other
        self.for_dataset = values.mine >= values.other
        self.right = np.maximum(0.0, np.maximum(values.mine, values.other) - leaks)
        self.below = clopper_pearson.lower(self.right, self.total, self.each)

    def most_telling(self) -> int:
        return int(np.argmax(self.below))

    def epsilon(self) -> float:
        rate = float(self.below.max())
        return max(0.0, math.log(rate) - math.log1p(-rate)) if rate > 0.5 else 0.0

    def p_value(self, epsilon: float) -> float:
        """Scaled so that it is to be compared with `error`."""
        tails = clopper_pearson.at_least(self.right, self.total, 1 / (1 + math.exp(-epsilon)))
        return float(tails.min()) * self.error / self.each


def _often(samples: Evidence, error: float, epsilon: float) -> _Values:
    """The values that came often enough to contradict `epsilon` were all of them on one side, most frequent first."""
    mine, other = aligned(samples.samples.dataset, samples.samples.neighbour)
    width, total = mine.width, len(mine) + len(other)
    columns: list[int | None] = [None, *(range(min(width, COLUMNS)) if width > 1 else ())]
    found: list[tuple[int, int, int | None, int, Floats]] = []
    for column in columns:
        of = Values(column)
        sides = of.part(mine, width), of.part(other, width)
        keys = np.concatenate([side.keys() for side in sides])
        known, first, times = np.unique(keys, return_index=True, return_counts=True)
        some = np.flatnonzero((times > 1) & (times < total))
        some = some[np.argsort(-times[some], kind="stable")][:MOST_VALUES]
        on_mine = _times(sides[0].keys(), known[some])
        rows = np.concatenate([side.rows for side in sides])[first[some]]
        found += [
            (int(times[k]), int(here), column, int(known[k]), row)
            for k, here, row in zip(some, on_mine, rows, strict=True)
        ]
    found.sort(key=lambda item: -item[0])
    kept = _enough([item[0] for item in found[:MOST_VALUES]], error, epsilon)
    here = np.array([item[1] for item in found[:kept]], float)
    return _Values(
        tuple(item[2] for item in found[:kept]),
        np.array([item[3] for item in found[:kept]], np.uint64),
        tuple(item[4] for item in found[:kept]),
        here,
        np.array([item[0] for item in found[:kept]], float) - here,
    )


def _times(keys: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How often each of the wanted keys is among the keys."""
    some = np.sort(keys)
    return np.searchsorted(some, wanted, "right") - np.searchsorted(some, wanted, "left")


def _enough(times: list[int], error: float, epsilon: float) -> int:
    """How many of the most frequent values could still refute when all of so many share the error."""
    log_rate = -math.log1p(math.exp(-epsilon))
    able = [many for many, often in enumerate(times, 1) if often * log_rate <= math.log(error / (2 * many))]
    return max(able, default=0)


def _witness(samples: Evidence, values: _Values, counted: _Counted, line: Line, p_value: float) -> AuditWitness:
    place = counted.most_telling()
    mine, other = aligned(samples.samples.dataset, samples.samples.neighbour)
    scorer = AmongValues(
        Values(values.columns[place]), mine.width, values.keys[place : place + 1], np.ones(1), values.rows[place][None]
    )
    rule = Rule(1, 1.0, -NEVER) if counted.for_dataset[place] else Rule(-1, NEVER, -1.0)
    scores = scorer(mine), scorer(other)
    return samples.question.witness(scorer, NAME, rule, scores, rule.counts(*scores), line, p_value, NAME)
