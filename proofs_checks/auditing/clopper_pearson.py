"""Exact binomial tails and confidence bounds (Clopper, Pearson 1934), vectorised.

Float rounding of the incomplete beta function is far below the statistics; probabilities that are bounds are
still widened by ROUNDING, away from the claim that they would support.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms.arrays import Floats

ROUNDING = 1e-11
"""Relative widening of computed tails; scipy's betainc is good to about 1e-13."""


def at_most(successes: ArrayLike, trials: ArrayLike, rate: ArrayLike) -> Floats:
    """P(Bin(trials, rate) <= successes), rounded up. 0 below no success, 1 from `trials` successes on."""
    k, n, p = np.broadcast_arrays(
        np.asarray(successes, float), np.asarray(trials, float), np.clip(np.asarray(rate, float), 0.0, 1.0)
    )
    inside = (k >= 0) & (k < n)
    value = special.betainc(np.where(inside, n - k, 1.0), np.where(inside, k + 1, 1.0), 1 - p)
    return np.minimum(1.0, np.where(inside, value * (1 + ROUNDING), np.where(k < 0, 0.0, 1.0)))


def at_least(successes: ArrayLike, trials: ArrayLike, rate: ArrayLike) -> Floats:
    """P(Bin(trials, rate) >= successes), rounded up. 1 for no success or fewer, 0 for more than `trials`."""
    k, n, p = np.broadcast_arrays(
        np.asarray(successes, float), np.asarray(trials, float), np.clip(np.asarray(rate, float), 0.0, 1.0)
    )
    inside = (k > 0) & (k <= n)
    value = special.betainc(np.where(inside, k, 1.0), np.where(inside, n - k + 1, 1.0), p)
    return np.minimum(1.0, np.where(inside, value * (1 + ROUNDING), np.where(k <= 0, 1.0, 0.0)))


def upper(successes: ArrayLike, trials: ArrayLike, error: float) -> Floats:
    """The rate that is exceeded with probability at most `error`: sup{p : P(Bin(n, p) <= k) > error}, rounded up."""
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    inside = k < n
    value = special.betaincinv(np.where(inside, k + 1, 1.0), np.where(inside, n - k, 1.0), 1 - error)
    return np.where(inside, np.minimum(1.0, value * (1 + 1e-9)), 1.0)


def lower(successes: ArrayLike, trials: ArrayLike, error: float) -> Floats:
    """The rate that is undercut with probability at most `error`: inf{p : P(Bin(n, p) >= k) > error}, rounded down."""
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    inside = k > 0
    value = special.betaincinv(np.where(inside, k, 1.0), np.where(inside, n - k + 1, 1.0), error)
    return np.where(inside, value * (1 - 1e-9), 0.0)


def most(trials: int, rate: float, error: float) -> int:
    """The smallest m with P(Bin(trials, rate) > m) <= error."""
    if rate <= 0.0:
        return 0
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at_least(middle + 1, trials, rate) <= error else (middle, high)
    return high
