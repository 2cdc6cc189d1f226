"""Guessing rules on a scalar score, and how one is chosen on trials that are used for nothing else.

A rule guesses "dataset" when the score is at least `upper`, "neighbour" when it is at most `lower`, and abstains
in between. Whatever the choice does with the exploration trials, the tests on the other trials stay exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from . import guessing_game
from .scores import Interval

FEW = 15
"""Exploration counts below this are smoothed before a rule is chosen."""
NEVER = math.inf
"""Threshold of a guess that is never made: scores are finite."""


@dataclass(frozen=True, slots=True)
class Rule:
    """sign: +1 when large scores speak for the dataset, -1 when small ones do (thresholds apply to sign * score)."""

    sign: int
    upper: float
    lower: float

    @property
    def share(self) -> float:
        """1 when both sides are guessed, 1/2 when only one is: the part of delta that can leak."""
        return 1.0 if self.upper < NEVER and self.lower > -NEVER else 0.5

    @property
    def total(self) -> bool:
        """Whether the rule never abstains."""
        return self.share == 1.0 and self.lower >= np.nextafter(self.upper, -np.inf)

    def counts(self, dataset: Floats, neighbour: Floats) -> tuple[int, int]:
        """(correct, wrong) guesses over the trials whose scores are given."""
        right = self._up(dataset) + self._down(neighbour)
        wrong = self._up(neighbour) + self._down(dataset)
        return right, wrong

    def _up(self, score: Floats) -> int:
        """How many guesses "dataset"; no copy with the sign changed, as scores may be millions."""
        if self.upper == NEVER:
            return 0
        return int(np.count_nonzero(score >= self.upper if self.sign > 0 else score <= -self.upper))

    def _down(self, score: Floats) -> int:
        if self.lower == -NEVER:
            return 0
        return int(np.count_nonzero(score <= self.lower if self.sign > 0 else score >= -self.lower))

    def intervals(self) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
        """The scores for which "dataset" is guessed, and those for which "neighbour" is."""
        up = Interval(low=self.upper) if self.sign > 0 else Interval(high=-self.upper, closed=True)
        down = Interval(high=self.lower, closed=True) if self.sign > 0 else Interval(low=-self.lower)
        return (up,) if self.upper < NEVER else (), (down,) if self.lower > -NEVER else ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """All rules with thresholds on a grid, and their counts on the exploration trials.

    correct, wrong: shape (uppers, lowers); the last upper and the first lower are NEVER. Cells where the lower
    threshold is not below the upper one have correct = 0 and wrong = trials, so that no objective wants them.
    """

    sign: int
    uppers: Floats
    lowers: Floats
    correct: Floats
    wrong: Floats
    trials: int

    @property
    def share(self) -> Floats:
        """Rule.share of every cell."""
        both = np.isfinite(self.uppers)[:, None] & np.isfinite(self.lowers)[None, :]
        return np.where(both, 1.0, 0.5)

    def rule(self, cell: int) -> Rule:
        """The rule of a cell, counted along the rows."""
        row, column = divmod(cell, len(self.lowers))
        return Rule(self.sign, float(self.uppers[row]), float(self.lowers[column]))


def candidates(dataset: Floats, neighbour: Floats, most: int = 48) -> tuple[Candidates, Candidates]:
    """The rules worth considering for scores on either side, for both signs. Scores may come in any order."""
    mine, other = np.sort(dataset), np.sort(neighbour)
    pooled = np.sort(np.concatenate([mine, other]), kind="stable")  # quick on two sorted runs
    return _grid(mine, other, pooled, 1, most), _grid(-mine[::-1], -other[::-1], -pooled[::-1], -1, most)


def _grid(mine: Floats, other: Floats, pooled: Floats, sign: int, most: int) -> Candidates:
    uppers = np.append(thresholds(pooled, most), NEVER)
    lowers = np.concatenate([[-NEVER], np.nextafter(uppers[:-1], -np.inf)])
    right_up = len(mine) - np.searchsorted(mine, uppers, "left")
    wrong_up = (len(other) - np.searchsorted(other, uppers, "left")).astype(float)
    right_low = np.searchsorted(other, lowers, "right")
    wrong_low = np.searchsorted(mine, lowers, "right").astype(float)
    # Scores with few values have no shape to fit.
    if len(uppers) > 8 and np.count_nonzero(np.diff(pooled)) > 2 * most:
        odds = log_odds(pooled, uppers, mine, other)
        total = np.diff(np.searchsorted(pooled, np.concatenate([[-np.inf], uppers])))
        below = np.cumsum(total / (1 + np.exp(-odds)))
        above = np.cumsum((total / (1 + np.exp(odds)))[::-1])[::-1]
        wrong_low = _fitted(wrong_low, np.concatenate([[0.0], below[:-1]]))
        wrong_up = _fitted(wrong_up, np.append(above[1:], 0.0))
    correct = (right_up[:, None] + right_low[None, :]).astype(float)
    wrong = np.maximum(0.0, wrong_up[:, None] + wrong_low[None, :]).astype(float)
    bad = lowers[None, :] >= uppers[:, None]
    trials = len(mine) + len(other)
    return Candidates(sign, uppers, lowers, np.where(bad, 0.0, correct), np.where(bad, trials, wrong), trials)


def thresholds(pooled: Floats, most: int) -> Floats:
    """Finite scores at ranks that get denser, geometrically, towards both ends; every value if there are few."""
    if len(pooled) == 0:
        return np.zeros(1)
    tails = np.geomspace(1, max(2.0, len(pooled) / 2), max(2, most // 2))
    ranks = np.unique(np.concatenate([tails, len(pooled) - tails]).astype(np.int64).clip(0, len(pooled) - 1))
    chosen = np.unique(pooled[ranks])
    if len(chosen) < len(ranks) // 2:
        values = np.unique(pooled)
        chosen = values if len(values) <= most else chosen
    return np.asarray(chosen, float)


def log_odds(pooled: Floats, uppers: Floats, mine: Floats, other: Floats) -> Floats:
    """Fitted log odds (dataset over neighbour) in each cell between consecutive thresholds.

    A binomial regression on the score, its square, and hinges at the outer fifths, so that odds may grow in the
    tails (Gaussian noise) or level off (Laplace noise).
    """
    edges = np.concatenate([[-np.inf], uppers])
    ranks = np.searchsorted(pooled, edges)
    centre = pooled[np.clip((ranks[:-1] + ranks[1:]) // 2, 0, len(pooled) - 1)]
    right = np.diff(np.searchsorted(mine, edges)).astype(float)
    wrong = np.diff(np.searchsorted(other, edges)).astype(float)
    low, middle, high = pooled[[len(pooled) // 5, len(pooled) // 2, (4 * len(pooled)) // 5]]
    width = (high - low) or 1.0
    x = np.clip((centre - middle) / width, -50, 50)
    hinges = [np.maximum(0.0, (centre - high) / width), np.maximum(0.0, (low - centre) / width)]
    design = np.column_stack([np.ones_like(x), x, x * x, *np.clip(hinges, 0, 50)])
    weights = np.zeros(design.shape[1])
    total = right + wrong
    for _ in range(8):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        curvature = total * chance * (1 - chance)
        gram = design.T @ (curvature[:, None] * design) + 0.5 * np.eye(len(weights))
        weights = weights + np.linalg.solve(gram, design.T @ (right - total * chance) - 0.5 * weights)
    return np.asarray(np.clip(design @ weights, -30, 30))


def _fitted(raw: Floats, fitted: Floats) -> Floats:
    """Wrong guesses to be expected: as counted where there are many, as fitted where there are few.

    Only choices depend on it. Of many tails the luckiest has too few wrong guesses; a fit has less luck. It is
    kept within two deviations of the count, for the score whose odds are of another shape.
    """
    few = raw < FEW
    room = 2 * np.sqrt(raw + 1)
    return np.where(few, np.clip(fitted, raw - room, raw + room), raw)


Objective = Callable[[Candidates], Floats]
"""How much each cell promises, on any scale, larger is better; shape (uppers, lowers)."""


def best(grids: tuple[Candidates, ...], objective: Objective) -> tuple[float, Rule]:
    """The most promising rule of several grids, with what it promises."""
    top: tuple[float, Rule] | None = None
    for grid in grids:
        values = objective(grid)
        cell = int(np.argmax(values))
        value = float(values.flat[cell])
        if top is None or value > top[0]:
            top = value, grid.rule(cell)
    assert top is not None
    return top


def rates(grid: Candidates) -> tuple[Floats, Floats]:
    """Smoothed rates of correct and wrong guesses; one wrong guess is added, so that none is never "impossible"."""
    size = grid.trials + 2.0
    return (grid.correct + 0.5) / size, (grid.wrong + 1.0) / size


def separation(grid: Candidates) -> Floats:
    """Correct less wrong guesses of the rules that never abstain: an estimate of the total variation distance."""
    total = np.nextafter(grid.uppers, -np.inf)[:, None] <= grid.lowers[None, :]
    return np.where(total & (grid.lowers[None, :] < grid.uppers[:, None]), grid.correct - grid.wrong, -1.0)


CAUTION = 2.0
"""Standard deviations by which exploration counts are distrusted: the luckiest of many rules looks too good.

Less for fewer than rules.FEW wrong guesses, whose number is fitted rather than counted.
"""


def largest_bound(grids: tuple[Candidates, ...], delta: float, trials: int, error: float) -> tuple[float, Rule]:
    """The rule with the largest bound to be expected of `trials` fresh trials, and that bound."""

    def expected(grid: Candidates) -> Floats:
        scale = trials / grid.trials
        doubt = CAUTION * np.minimum(1.0, grid.wrong / FEW)
        # Half a wrong guess is added where there are few, a little more for guessing the second side for nothing.
        wrong = grid.wrong + 0.4 + 0.2 * grid.share
        correct = np.floor(scale * np.maximum(0.0, grid.correct - doubt * np.sqrt(grid.correct)))
        wrong = np.ceil(scale * (wrong + doubt * np.sqrt(wrong)))
        bound = np.empty_like(correct)
        for share in (0.5, 1.0):
            some = grid.share == share
            bound[some] = guessing_game.epsilon_lower(correct[some], wrong[some], trials, share * delta, error)
        return bound

    return best(grids, expected)
