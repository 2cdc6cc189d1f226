"""Weighted guesses: the lower bound on epsilon at one delta, from all levels of evidence at once.

A rule cuts a score into cells and gives each a side to guess and a weight: outputs that speak louder count more.
Given which cells were guessed in, wrong guesses are independent, each with probability at least 1/(1 + e^epsilon)
whatever its cell, so that the weighted sum of wrong ones has a known smallest law under the claim. Proof:
docs/auditing-methods.md, section "The guessing game".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...mechanisms.arrays import Floats
from . import clopper_pearson
from .guessing_game import LEAK_SHARE
from .rules import FEW, Candidates, Rule, largest_bound, log_odds, thresholds
from .scores import Interval

Counts = NDArray[np.int64]

LEVELS = 4
"""Weights are 1 to LEVELS."""
SPAN = 0.5, 1.5
"""Log odds above the target at which the largest weight begins: at least, at most."""
TARGETS = 24
MOST_CELLS = 48
DISTRUST = 2.0
"""Deviations by which the log odds of a cell are pulled towards 0 where no curve is fitted through the cells."""
BENT = 0.1
"""How far the true log odds may be from a fitted curve: cells with many counts are believed more than the curve."""
LEAST = 1.0
CAUTION = 3.0
"""Deviations by which totals on exploration trials are distrusted; less for fewer than rules.FEW wrong guesses."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """weights[k] for scores from edges[k - 1] up to below edges[k]: > 0 guesses "dataset", < 0 "neighbour"."""

    edges: tuple[float, ...]
    weights: tuple[int, ...]

    @property
    def share(self) -> float:
        """1 when both sides are guessed, 1/2 when only one is: the part of delta that can leak."""
        return 1.0 if min(self.weights) < 0 < max(self.weights) else 0.5

    def counts(self, dataset: Floats, neighbour: Floats) -> tuple[Counts, Counts]:
        """(correct, wrong) guesses by weight, 1 to LEVELS, each of shape (LEVELS,)."""
        given = np.asarray(self.weights)
        mine, other = (self._cells(side) for side in (dataset, neighbour))
        right, wrong = np.zeros(LEVELS, np.int64), np.zeros(LEVELS, np.int64)
        for side, home, away in ((1, mine, other), (-1, other, mine)):
            chosen = side * given > 0
            np.add.at(right, side * given[chosen] - 1, home[chosen])
            np.add.at(wrong, side * given[chosen] - 1, away[chosen])
        return right, wrong

    def _cells(self, scores: Floats) -> Counts:
        """How many scores there are in each cell. Rules have few edges: one pass each is quicker than a search."""
        beyond = np.array([len(scores), *(np.count_nonzero(scores >= edge) for edge in self.edges), 0], np.int64)
        return beyond[:-1] - beyond[1:]

    def intervals(self) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
        """The scores for which "dataset" is guessed, and those for which "neighbour" is; touching cells as one."""
        ends = [-math.inf, *self.edges, math.inf]
        found: tuple[list[Interval], list[Interval]] = [], []
        for low, high, weight in zip(ends[:-1], ends[1:], self.weights, strict=True):
            if weight and low < high:
                side = found[weight < 0]
                joined = bool(side) and side[-1].high == low
                side[-1:] = [Interval(side[-1].low, high)] if joined else [*side[-1:], Interval(low, high)]
        return tuple(found[0]), tuple(found[1])


def choose(
    grids: tuple[Candidates, ...], mine: Floats, other: Floats, delta: float, trials: int, error: float
) -> tuple[float, Weighted]:
    """The rule with the largest bound to be expected of `trials` fresh trials, and that bound.

    mine, other: the scores of exploration trials on either side; grids: their threshold rules. Considered are the
    rules of a likelihood ratio test against each of TARGETS epsilons, whose weights grow with the log odds above the
    target, and, for scores of few values, the best threshold rule, which pools the cells beyond it.
    """
    cells = _cells(mine, other)
    odds = np.log(cells.right) - np.log(cells.wrong)
    scale = trials / max(1, len(mine) + len(other))
    allowed = {share: _leaks(trials, share * delta, error) for share in (0.5, 1.0)}
    best = 0.0, Weighted((), (0,))
    if not cells.fitted:
        rule = of_thresholds(largest_bound(grids, delta, trials, error)[1])
        right, wrong = rule.counts(mine, other)
        wrong[0] += 1  # one more than was seen: the luckiest of many rules saw too few
        best = _expected(right, wrong, scale, *allowed[rule.share]), rule
    top = float(np.max(np.abs(odds)))
    for target in np.linspace(0.0, top, TARGETS, endpoint=False):
        above = np.abs(odds) - target
        span = min(max(top - target, SPAN[0]), SPAN[1])
        for size in (np.clip(np.round(LEVELS * above / span), 0, LEVELS), (above > 0).astype(float)):
            rule = _merged(cells.edges, np.sign(odds) * size)
            if any(rule.weights):
                seen = _by_weight(size, np.where(odds > 0, cells.right, cells.wrong))
                against = _by_weight(size, np.where(odds > 0, cells.wrong, cells.right))
                promise = _expected(seen, against, scale, *allowed[rule.share])
                best = max(best, (promise, rule), key=lambda item: item[0])
    return best


def of_thresholds(rule: Rule) -> Weighted:
    """A threshold rule, all of whose guesses weigh 1."""
    below, above = (rule.lower, rule.upper) if rule.sign > 0 else (-rule.upper, -rule.lower)
    # Cells are closed below: the guess for scores up to an end takes in the end itself.
    start = float(np.nextafter(below, np.inf)) if math.isfinite(below) else below
    ends = -rule.sign if math.isfinite(below) else 0, rule.sign if math.isfinite(above) else 0
    return Weighted((min(start, above), above), (ends[0], 0, ends[1]))


def epsilon_lower(right: Counts, wrong: Counts, trials: int, leak: float, error: float) -> float:
    """A lower bound on epsilon at delta = leak / share: above the truth with probability at most `error`.

    Tests for larger epsilons are nested, so that the search spends the error once; what it returns was tested.
    """
    leaks, error = _leaks(trials, leak, error)
    total = _without(right, leaks) + wrong
    if total.sum() == 0:
        return 0.0
    weights = np.arange(1, LEVELS + 1)
    spent = int(weights @ wrong)
    start = min(0.49, float(clopper_pearson.upper(float(wrong.sum()), float(total.sum()), error)))
    epsilon, found = math.log1p(-start) - math.log(start), 0.0
    for _ in range(12):
        if epsilon <= 0.0:
            break
        chance = 1 / (1 + math.exp(epsilon))
        tail = at_most(spent, total, chance)
        if tail <= error:
            found = max(found, epsilon)
        distance = _probit(tail) - _probit(error)
        if -2e-3 <= distance <= 0.0:
            break
        slope = float(weights @ total) * math.sqrt(chance * (1 - chance) / float(weights**2 @ total))
        epsilon -= (distance + 1e-3) / slope
    return found


def p_value(right: Counts, wrong: Counts, trials: int, epsilon: float, leak: float, error: float) -> float:
    """A valid p-value of (epsilon, delta)-DP, to be compared with `error`, which sets the share spent on leaks."""
    leaks, left = _leaks(trials, leak, error)
    spent = int(np.arange(1, LEVELS + 1) @ wrong)
    tail = at_most(spent, _without(right, leaks) + wrong, 1 / (1 + math.exp(epsilon)))
    return min(1.0, tail + (error - left))


def at_most(spent: int, total: Counts, rate: float) -> float:
    """P(sum_a a Bin(total[a - 1], rate) <= spent), rounded up."""
    levels = np.flatnonzero(total) + 1
    if len(levels) == 1:
        return float(clopper_pearson.at_most(spent // levels[0], total[levels[0] - 1], rate))
    from scipy import signal, stats  # a second to load, which commands that audit nothing are spared

    law, start, rounding = np.ones(1), 0, 0.0
    for level in levels.tolist():
        count = int(total[level - 1])
        spread = 9 * math.sqrt(count * rate * (1 - rate)) + 30
        low, high = max(0, math.floor(count * rate - spread)), min(count, math.ceil(count * rate + spread))
        outside = clopper_pearson.at_most(low - 1, count, rate) + clopper_pearson.at_least(high + 1, count, rate)
        spaced = np.zeros((high - low) * level + 1)
        spaced[::level] = stats.binom.pmf(np.arange(low, high + 1), count, rate)
        # A Fourier transform of laws errs by about 1e-15, sums of products by as much relatively.
        law = np.convolve(law, spaced) if len(law) * len(spaced) < 1e6 else signal.fftconvolve(law, spaced)
        start, rounding = start + low * level, rounding + float(outside) + 1e-13
    inside = float(law[: spent - start + 1].sum()) if spent >= start else 0.0
    return min(1.0, inside * (1 + 1e-9) + rounding)


def _leaks(trials: int, leak: float, error: float) -> tuple[int, float]:
    """The most leaks that are plausible, and what is left of the error."""
    if leak <= 0.0:
        return 0, error
    return clopper_pearson.most(trials, leak, LEAK_SHARE * error), (1 - LEAK_SHARE) * error


def _without(right: Counts, leaks: int) -> Counts:
    """The correct guesses that are left when the leaks were those of the largest weights, which is the worst case."""
    kept = right.copy()
    for level in range(LEVELS - 1, -1, -1):
        gone = min(leaks, int(kept[level]))
        kept[level] -= gone
        leaks -= gone
    return kept


def _expected(right: Floats | Counts, wrong: Floats | Counts, scale: float, leaks: int, error: float) -> float:
    """The bound that `scale` times such counts would give, by one binomial with the sums' first two moments."""
    weights = np.arange(1, LEVELS + 1)
    unit = float(weights**2 @ wrong) / float(weights @ wrong) if wrong.sum() > 0 else 1.0
    bad, good = float(weights @ wrong) / unit, float(weights @ right) / unit
    doubt = min(CAUTION, LEAST + (CAUTION - LEAST) * bad / FEW)
    bad, good = scale * (bad + doubt * math.sqrt(bad) + 0.5), scale * max(0.0, good - doubt * math.sqrt(good))
    good = max(0.0, good - leaks)
    rate = float(clopper_pearson.upper(bad, good + bad, error))
    return max(0.0, math.log1p(-rate) - math.log(rate)) if good > 0 and rate < 1 else 0.0


def _by_weight(size: Floats, counts: Floats) -> Floats:
    return np.asarray(np.bincount(size.astype(int), weights=counts, minlength=LEVELS + 1)[1:], float)


@dataclass(frozen=True, slots=True)
class _Cells:
    """right, wrong: smoothed counts of the dataset's and the neighbour's scores in each cell, all positive."""

    edges: Floats
    right: Floats
    wrong: Floats
    fitted: bool


def _cells(mine: Floats, other: Floats) -> _Cells:
    mine, other = np.sort(mine), np.sort(other)
    pooled = np.sort(np.concatenate([mine, other]), kind="stable")  # quick on two sorted runs
    edges = thresholds(pooled, MOST_CELLS)
    right, wrong = (
        np.diff(np.concatenate([[0], np.searchsorted(side, edges), [len(side)]])).astype(float)
        for side in (mine, other)
    )
    counted = np.log(right + 0.5) - np.log(wrong + 0.5)
    doubt = np.sqrt(1 / (right + 0.5) + 1 / (wrong + 0.5))
    smooth = len(edges) > 8 and bool(np.count_nonzero(np.diff(pooled)) > 2 * MOST_CELLS)
    if smooth:
        fitted = log_odds(pooled, np.append(edges, np.inf), mine, other)
        part = BENT**2 / (BENT**2 + doubt**2)
        odds = part * counted + (1 - part) * fitted
    else:
        odds = np.sign(counted) * np.maximum(0.0, np.abs(counted) - DISTRUST * doubt)
    chance, total = special.expit(odds), right + wrong + 1.0
    return _Cells(edges, total * chance, total * (1 - chance), smooth)


def _merged(edges: Floats, weights: Floats) -> Weighted:
    """The rule with neighbouring cells of one weight as one cell."""
    kept = np.flatnonzero(np.diff(weights))
    chosen = weights[np.append(kept, len(weights) - 1)]
    return Weighted(tuple(edges[kept].tolist()), tuple(chosen.astype(int).tolist()))


def _probit(chance: float) -> float:
    return float(special.ndtri(min(max(chance, 1e-300), 1 - 1e-15)))
