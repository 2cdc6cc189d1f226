"""Which canaries were in: guesses from scores, their number fixed in advance, and the p-value of how many are right.

The p-value under a curve is that of a linear programme; any multipliers give a bound. Let p_k be the probability of k
right guesses among r, of m canaries. Flipping the coin of canary i turns "i right, k right" into "i wrong, k - 1
right". So for sets S, T of numbers and every line (epsilon, delta) of the claim, averaged over i, with a_k = k p_k / m
and b_k = (r - k + 1) p_{k-1} / m (docs/auditing-methods.md, "One run"),

    sum_{k in S} (a_k - e^epsilon b_k) + sum_{k in T} (b_k - e^epsilon a_k) <= delta.

Mixtures of such sums, with weights y_k and w_k in [0, lambda] for a line of weight lambda, are at most lambda delta.
With c_k the coefficient of p_k in all of them, P(at least v) <= sum lambda delta + max_k (1{k >= v} - c_k), whatever
the weights: a linear programme finds good ones, and nothing rests on its solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count
from .curve import ClaimedCurve


@dataclass(frozen=True, slots=True)
class Guesses:
    """canaries: how many coins there were. made: guesses, fixed in advance. correct: how many were right."""

    canaries: int
    made: int
    correct: int


def scored(scores: ArrayLike, included: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """Both as arrays, shape (canaries,). Raises InputError for shapes that differ."""
    value, truth = np.asarray(scores, float), np.asarray(included, bool)
    if value.ndim != 1 or value.shape != truth.shape:
        raise InputError("included", truth.shape, f"one coin for each score, shape {value.shape}")
    return value, truth


def last_refuted(refuted: Callable[[float], bool], first: float = 1e-6, tolerance: float = 1e-6) -> float:
    """The end of the refuted values, from below; 0 when not even the first is. p-values have to grow with the claim."""
    low, high = 0.0, first
    while high < 64 and refuted(high):
        low, high = high, max(2 * high, 0.125)
    while high - low > tolerance:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def guess(scores: ArrayLike, included: ArrayLike, made: int) -> Guesses:
    """Guesses "in" for the made/2 largest scores and "out" for the smallest (ties by position).

    scores, included: shape (canaries,). Raises InputError when there are fewer canaries than guesses.
    """
    value, truth = scored(scores, included)
    guesses = count("made", made, least=1)
    if guesses > len(value):
        raise InputError("made", made, f"at most the number of canaries, {len(value)}")
    order = np.argsort(value, kind="stable")
    low, high = guesses // 2, guesses - guesses // 2
    correct = np.count_nonzero(~truth[order[:low]]) + np.count_nonzero(truth[order[len(order) - high :]])
    return Guesses(len(value), guesses, int(correct))


LINES = 28
"""Of the claim's, with a delta of at least SMALLEST where there are any: fewer lines only make the bound larger."""
SMALLEST = 1e-6


@dataclass(frozen=True)
class Weights:
    """lines: lambda, shape (lines,). right, wrong: y and w for k = first, first + 1, ..., shape (lines, numbers)."""

    epsilons: Floats
    deltas: Floats
    lines: Floats
    right: Floats
    wrong: Floats
    first: int


def tail_bound(seen: Guesses, claim: ClaimedCurve) -> float:
    """P(at least so many correct guesses) under the claimed curve is at most this."""
    if seen.correct == 0:
        return 1.0
    weights = found(seen, claim)
    return 1.0 if weights is None else bound(seen, weights)


def bound(seen: Guesses, weights: Weights) -> float:
    """What the weights prove, rounded up; weights outside of their range are moved into it."""
    lines = np.maximum(weights.lines, 0.0)
    right, wrong = (np.clip(part, 0.0, lines[:, None]) for part in (weights.right, weights.wrong))
    odds = np.exp(weights.epsilons)[:, None]
    numbers = np.arange(weights.first, weights.first + right.shape[1])
    numbers, right, wrong = (part[..., numbers <= seen.made] for part in (numbers, right, wrong))
    mine, other = numbers / seen.canaries, (seen.made - numbers + 1) / seen.canaries
    coefficients, sizes = np.zeros((2, seen.made + 1))
    for out, sign in ((coefficients, -1.0), (sizes, 1.0)):
        out[numbers] += (right + sign * odds * wrong).sum(axis=0) * mine
        out[numbers - 1] += (wrong + sign * odds * right).sum(axis=0) * other
    left = (np.arange(seen.made + 1) >= seen.correct) - coefficients
    rounding = 1e-12 * (1.0 + float(sizes.max()))  # thousands of terms, each to 1e-16 of its size
    return min(1.0, float(lines @ weights.deltas) + max(0.0, float(left.max())) + rounding)


def found(seen: Guesses, claim: ClaimedCurve) -> Weights | None:
    """Good weights: the multipliers of the programme for the largest tail, in a window of numbers around the seen one.

    Numbers below the window are one, of which nothing is asked, and so are those above it, with the least a and the
    largest b that they may have.
    """
    epsilons, deltas = _telling_lines(claim)
    reach = math.ceil(math.sqrt(seen.made)) + 5
    first, last = max(1, seen.correct - 3 * reach), min(seen.made, seen.correct + reach)
    numbers = np.arange(first, last + 1)
    above = last < seen.made
    size = len(numbers)
    # unknowns: p of first - 1, ..., last, then all below, then all above
    mine, other = sparse.lil_array((size + above, size + 3)), sparse.lil_array((size + above, size + 3))
    for row, number in enumerate(numbers):
        mine[row, row + 1] = number / seen.canaries
        other[row, row] = (seen.made - number + 1) / seen.canaries
    if above:
        mine[size, size + 2] = (last + 1) / seen.canaries
        other[size, size] = other[size, size + 2] = (seen.made - last) / seen.canaries
    mine, other = mine.tocsr(), other.tocsr()
    parts = [part for odds in np.exp(epsilons) for part in (mine - odds * other, other - odds * mine)]
    excesses = len(parts) * (size + above)
    rows = sparse.hstack([sparse.vstack(parts), -sparse.eye_array(excesses)])
    of_lines = sparse.kron(sparse.eye_array(len(epsilons)), np.ones((1, 2 * (size + above))))
    sums = sparse.hstack([sparse.csr_array((len(epsilons), size + 3)), of_lines])
    cost = np.zeros(size + 3 + excesses)
    cost[1 : size + 1] = -(numbers >= seen.correct).astype(float)
    cost[size + 2] = -float(above)
    total = sparse.csr_array((np.arange(size + 3 + excesses) < size + 3).astype(float)[None])
    solved = linprog(
        cost,
        A_ub=sparse.vstack([rows, sums]).tocsr(),
        b_ub=np.concatenate([np.zeros(excesses), deltas]),
        A_eq=total,
        b_eq=[1.0],
        method="highs",
    )
    if solved.status != 0:
        return None
    multipliers = -solved.ineqlin.marginals
    weights = multipliers[:excesses].reshape(len(epsilons), 2, size + above)
    right, wrong = weights[:, 0], weights[:, 1]
    if above:  # the weight of all above is the weight of each
        more = seen.made - last
        right, wrong = (np.hstack([part[:, :-1], np.repeat(part[:, -1:], more, axis=1)]) for part in (right, wrong))
    return Weights(epsilons, deltas, multipliers[excesses:], right, wrong, first)


def _telling_lines(claim: ClaimedCurve) -> tuple[Floats, Floats]:
    epsilons, deltas = np.array(claim.epsilons), np.array(claim.deltas)
    telling = np.flatnonzero(deltas >= SMALLEST)
    telling = telling if len(telling) else np.arange(len(deltas))
    chosen = telling[np.unique(np.linspace(0, len(telling) - 1, LINES).round().astype(int))]
    return epsilons[chosen], deltas[chosen]
