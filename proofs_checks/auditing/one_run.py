"""Auditing a trainer in one run, with many canaries.

Each of m canaries is put in or left out by a fair coin of its own; afterwards every canary gets a score (large
when it seems to have been in), and the most and least conspicuous ones are guessed. The number of guesses is
fixed before anything is seen. Two analyses of the number of correct ones:

- (epsilon, delta): Steinke, Nasr, Jagielski 2023 (arXiv 2305.08846), Theorem 5.2;
- a trade-off curve: Mahloujifar, Melis, Chaudhuri 2024 (arXiv 2410.22235), Theorem 9 and Algorithm 3, re-derived
  in docs/auditing-methods.md, section "One run".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...mechanisms.validate import count, open_probability
from . import clopper_pearson
from .curve import ClaimedCurve, gdp
from .guesses import Guesses, guess, last_refuted, tail_bound

SHARES = {0.1: 0.6, 0.4: 0.25, 0.7: 0.15}
"""Part of the canaries that are guessed, where the caller chooses no number: the part of the error that each has.

A tenth is close to the best for mu from 1/2 to 2 and 300 to 5000 canaries; more serve weak privacy.
"""


def p_value(seen: Guesses, epsilon: float, delta: float = 0.0) -> float:
    """P(at least so many correct guesses) under (epsilon, delta)-DP is at most this (Theorem 5.2)."""
    rate = 1.0 / (1.0 + np.exp(-epsilon))
    tail = clopper_pearson.at_least(np.arange(seen.correct, -1, -1), seen.made, rate)
    if delta <= 0.0 or seen.correct == 0:
        return float(tail[0])
    steps = np.arange(1, seen.correct + 1)
    alpha = max(0.0, float(((tail[1:] - tail[0]) / steps).max()))
    return min(1.0, float(tail[0]) + 2 * seen.canaries * delta * alpha)


def epsilon_lower(seen: Guesses, delta: float, error: float) -> float:
    """Above the true epsilon at delta with probability at most `error`."""
    open_probability("error", error)
    return last_refuted(lambda epsilon: p_value(seen, epsilon, delta) <= error)


def curve_p_value(seen: Guesses, claim: ClaimedCurve) -> float:
    """P(at least so many correct guesses) under the claimed curve is at most this.

    Let p_k be the probability of exactly k correct guesses among r, of m canaries. Flipping one coin is a
    neighbouring change, so that for every j, with F(b) = 1 - f(b),
    sum_{k >= j} k p_k / m <= F(sum_{j-1 <= k < r} (r - k) p_k / m).
    The largest tail sum_{k >= correct} p_k that leaves enough probability for what this forces on smaller k.
    """
    if seen.correct == 0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _feasible(seen, middle, claim) else (low, middle)
    return high


def _feasible(seen: Guesses, tail: float, claim: ClaimedCurve) -> bool:
    """Whether the curve allows P(at least seen.correct correct guesses) = tail (rounded towards yes)."""
    m, r = seen.canaries, seen.made
    right = seen.correct * tail / m
    other = (r - seen.correct) * tail / m
    spent = tail
    for k in range(seen.correct - 1, -1, -1):
        # f is symmetric: the smallest b with 1 - f(b) >= right is f(1 - right).
        needed = float(claim.tradeoff(1.0 - right)) if right < 1.0 else 1.0
        mass = max(0.0, needed - other) * m / (r - k)
        spent += mass
        if spent > 1.0 + 1e-12:
            return False
        right += k * mass / m
        other += (r - k) * mass / m
    return True


def mu_lower(seen: Guesses, error: float) -> float:
    """mu-GDP for no mu below this, with probability at least 1 - error."""
    open_probability("error", error)
    return last_refuted(lambda mu: mu <= 0 or _refuted(seen, gdp(mu), error), tolerance=1e-3)


def _refuted(seen: Guesses, claim: ClaimedCurve, error: float) -> bool:
    """Whether curve_p_value is at most `error`: one tail decides, as larger ones are feasible only where it is."""
    return seen.correct > 0 and not _feasible(seen, error, claim)


def best_mu_lower(scores: ArrayLike, included: ArrayLike, error: float) -> tuple[float, Guesses]:
    """The largest of the mu_lower of several numbers of guesses, and the guesses that gave it.

    scores, included: as for `guess`. Each of the numbers (SHARES of the canaries) has its part of the error, so that
    all their bounds hold together with probability 1 - error, and the largest of them with at least that. That one is
    then sharpened by the linear programme of its count (guesses.py), at the same error.
    """
    open_probability("error", error)
    found = [(mu_lower(seen, part * error), part * error, seen) for seen, part in _guessed(scores, included)]
    mu, own, seen = max(found, key=lambda one: one[0])
    low, high = mu, 1.08 * mu  # it gains 2% to 5%
    while high - low > max(mu / 100, 1e-3):
        middle = (low + high) / 2
        low, high = (middle, high) if tail_bound(seen, gdp(middle)) <= own else (low, middle)
    return low, seen


def best_p_value(scores: ArrayLike, included: ArrayLike, claim: ClaimedCurve) -> tuple[float, Guesses]:
    """A p-value of the claimed curve: the smallest over several numbers of guesses, each over its part of the error."""
    found = [(curve_p_value(seen, claim) / part, part, seen) for seen, part in _guessed(scores, included)]
    smallest, part, best = min(found, key=lambda one: one[0])
    return min(1.0, smallest, tail_bound(best, claim) / part), best


def _guessed(scores: ArrayLike, included: ArrayLike) -> list[tuple[Guesses, float]]:
    """The guesses of SHARES of the canaries, with their parts of the error."""
    canaries = np.asarray(scores, float).size
    return [(guess(scores, included, max(1, round(share * canaries))), part) for share, part in SHARES.items()]


def coins(canaries: int, seed: int) -> NDArray[np.bool_]:
    """The fair coins that say which canaries to put in, shape (canaries,)."""
    return np.random.default_rng(seed).random(count("canaries", canaries)) < 0.5
