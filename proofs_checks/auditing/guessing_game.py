"""Exact tests on the counts of a guessing game.

Each trial flips a fair coin, runs the mechanism on the dataset or on its neighbour accordingly, and a rule
guesses the coin from the output, or abstains. With E1, E2 the events in which it guesses "dataset",
"neighbour":

    c = P(a correct guess) = (P(E1) + Q(E2)) / 2,      w = P(a wrong guess) = (Q(E1) + P(E2)) / 2,

and (epsilon, delta)-DP of the pair, in both orders, implies

    c <= e^epsilon w + leak,      leak = delta * share,

where share = 1 for a rule that guesses both sides and 1/2 for one that only ever guesses one of them (add the
inequality of E1, halved, to that of E2, halved). Over M independent trials the counts (correct, wrong,
abstained) are trinomial with (c, w, 1 - c - w), so everything below is a statement about trinomials.
Proofs: docs/auditing-methods.md, section "The guessing game".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.arrays import Floats
from . import clopper_pearson

LEAK_SHARE = 0.1
"""Part of the error probability that is spent on the number of leaks in `epsilon_lower`."""

NUISANCE_ERROR = 1e-7
"""Part of a p-value that is spent on a confidence interval for the rate of wrong guesses (Berger, Boos 1994)."""

GRID = 192
"""Nuisance cells, and blocks of the number of wrong guesses, in `p_value`; more is slower and slightly sharper."""


def epsilon_lower(correct: ArrayLike, wrong: ArrayLike, trials: int, leak: float, error: float) -> Floats:
    """A lower bound on epsilon at delta = leak / share: above the truth with probability at most `error`.

    Proof: c = c' + l with c' <= e^epsilon w and l <= leak. Call a correct guess a leak with probability l/c:
    there are at most D leaks but for probability `LEAK_SHARE * error`. Among the other guesses a wrong one has
    probability w / (w + c') >= 1 / (1 + e^epsilon) whatever their number: Clopper-Pearson, conditionally.
    """
    right, bad = np.asarray(correct, float), np.asarray(wrong, float)
    leaks = clopper_pearson.most(trials, leak, LEAK_SHARE * error)
    rest = np.maximum(right - leaks, 0.0)
    spent = error if leak <= 0.0 else (1 - LEAK_SHARE) * error
    rate = clopper_pearson.upper(bad, rest + bad, spent)
    with np.errstate(divide="ignore"):
        value = np.log1p(-rate) - np.log(rate)
    return np.maximum(0.0, np.where(rest > 0, value, 0.0))


def pure_p_value(correct: ArrayLike, wrong: ArrayLike, epsilon: ArrayLike) -> Floats:
    """The exact p-value of c <= e^epsilon w: given the number of guesses, the wrong ones are binomial."""
    bad = np.asarray(wrong, float)
    rate = 1.0 / (1.0 + np.exp(np.asarray(epsilon, float)))
    return clopper_pearson.at_most(bad, np.asarray(correct, float) + bad, rate)


def total_p_value(correct: ArrayLike, trials: ArrayLike, epsilon: ArrayLike, leak: ArrayLike) -> Floats:
    """The exact p-value for a rule that never abstains: then c <= (e^epsilon + leak) / (1 + e^epsilon)."""
    odds = np.exp(np.asarray(epsilon, float))
    rate = np.minimum(1.0, (odds + np.asarray(leak, float)) / (1.0 + odds))
    return clopper_pearson.at_least(correct, trials, rate)


def p_value(
    correct: int, wrong: int, trials: int, epsilon: float, leak: float, nuisance_error: float = NUISANCE_ERROR
) -> float:
    """A valid p-value of c <= e^epsilon w + leak, exact up to the width of its nuisance grid (never below exact).

    The test orders outcomes (i, j) by the signed root of their likelihood ratio against the null hypothesis;
    the region at least as extreme as the one seen is larger for more i and smaller for more j. Its probability
    is bounded over each cell [w_lo, w_hi] of the unknown rate of wrong guesses by the one at (w_lo, c(w_hi)),
    which stochastically dominates the cell. w is confined to a confidence interval, whose error is added (it has
    to be chosen before the counts are seen).
    """
    if leak <= 0.0:
        return float(pure_p_value(correct, wrong, epsilon))
    odds = math.exp(epsilon)
    top = (1.0 - leak) / (1.0 + odds)
    if correct <= trials * leak + odds * wrong or top <= 0.0:
        return 1.0
    seen = float(_signed_root(np.array(float(correct)), np.array(float(wrong)), trials, odds, leak))
    low = min(float(clopper_pearson.lower(wrong, trials, nuisance_error / 2)), top)
    high = min(float(clopper_pearson.upper(wrong, trials, nuisance_error / 2)), top)
    edges = np.linspace(low, high, GRID + 1)
    starts = _blocks(trials, low, high)
    least = _least_extreme(starts, seen, trials, odds, leak)
    worst = _largest_probability(edges, starts, least, trials, odds, leak)
    return min(1.0, worst + nuisance_error)


def _signed_root(i: Floats, j: Floats, trials: int, odds: float, leak: float) -> Floats:
    """sqrt of the log likelihood ratio of (i, j) against the best w on the boundary; 0 inside the hypothesis."""
    rest = np.maximum(trials - i - j, 0.0)
    # On the boundary c = odds w + leak the likelihood's derivative in w is a quadratic over a product:
    # i odds w (a - b w) + j (odds w + leak)(a - b w) - rest b w (odds w + leak) = 0 with a, b as below.
    a, b = 1.0 - leak, 1.0 + odds
    square = -odds * b * (i + j + rest)
    linear = odds * a * (i + j) - j * leak * b - rest * b * leak
    constant = j * leak * a
    root = np.sqrt(np.maximum(linear * linear - 4 * square * constant, 0.0))
    w = np.clip((-linear - root) / (2 * square), 0.0, a / b)
    boundary = _xlog(i, odds * w + leak) + _xlog(j, w) + _xlog(rest, np.maximum(a - b * w, 0.0))
    free = _xlog(i, i / trials) + _xlog(j, j / trials) + _xlog(rest, rest / trials)
    inside = i <= odds * j + leak * trials
    return np.where(inside, 0.0, np.sqrt(np.maximum(free - boundary, 0.0)))


def _xlog(x: Floats, y: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, x * np.log(np.maximum(y, 1e-300)), 0.0)


def _blocks(trials: int, low: float, high: float) -> Floats:
    """First elements of blocks of the number of wrong guesses, which cover all that matters; block 0 is at 0."""
    spread = 8 * math.sqrt(trials * high * (1 - high)) + 8
    first, last = max(0, int(trials * low - spread)), min(trials, int(trials * high + spread) + 1)
    inner = np.unique(np.linspace(first, last, min(GRID + 1, last - first + 1)).astype(np.int64))
    return np.unique(np.concatenate([[0], inner])).astype(float)


def _least_extreme(j: Floats, seen: float, trials: int, odds: float, leak: float) -> Floats:
    """For each j the smallest i at least as extreme as what was seen; trials + 1 where there is none."""
    low, high = np.full(j.shape, -1.0), trials - j + 1.0
    # The root that was seen is matched up to rounding, on the safe side: what ties with it counts as extreme.
    level = seen * (1 - 1e-9)
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        extreme = _signed_root(middle, j, trials, odds, leak) >= level
        high, low = np.where(extreme, middle, high), np.where(extreme, low, middle)
    return high


def _largest_probability(edges: Floats, starts: Floats, least: Floats, trials: int, odds: float, leak: float) -> float:
    w_low, c_high = edges[:-1, None], np.minimum(odds * edges[1:, None] + leak, 1.0 - edges[:-1, None])
    ends = np.append(starts[1:], trials + 1.0)
    upto = clopper_pearson.at_most(ends[None, :] - 1, trials, w_low) / (1 + clopper_pearson.ROUNDING)
    below = np.concatenate([np.zeros_like(w_low), upto[:, :-1]], axis=1)
    mass = np.maximum(upto - below, 0.0)
    rate = np.minimum(1.0, c_high / (1.0 - w_low))
    tail = clopper_pearson.at_least(least[None, :], trials - starts[None, :], rate)
    return float((mass * tail).sum(axis=1).max() * (1 + 1e-9) + 1e-12)
