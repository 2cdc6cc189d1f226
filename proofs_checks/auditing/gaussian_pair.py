"""One run, if canaries are independent and their scores normal, of one law when in and of another when out.

Two means and two standard deviations, unlike `independent_canaries.if_gaussian` (one deviation): canaries of subsampled
steps vary more when they are in. Each of the four is known up to its exact confidence interval, and the bound is the
least epsilon in the box: the method of Agrawal et al. 2026 (arXiv 2606.12733; we read abstract, beginning and their
published programme). Theirs seeks that least value numerically; here it is bounded from below:

- Two densities shifted against each other have less in common the farther apart they are: {p > t} and {c q > t} are
  intervals about the means, so that the integral of min(p, c q) falls with the distance. Only the least one counts.
- For standard deviations s in [a, b], a normal density is at most b/a times that of deviation b with the same mean, and
  at least a/b times that of deviation a: one of the two bounds each direction over a cell of deviations, and thin cells
  lose little.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import delta_below_one, open_probability
from .result import LowerBound

CELLS = 200


def bound(scores: ArrayLike, included: ArrayLike, delta: float, error: float) -> LowerBound:
    """A lower bound on epsilon at delta, above the truth with probability at most `error` under the assumption.

    scores, included: shape (canaries,). Raises InputError for bad shapes, delta or error.

    >>> coins = np.random.default_rng(1).random(1000) < 0.5
    >>> noisy = coins + np.random.default_rng(2).normal(0.0, 1.0, 1000)  # epsilon is 4.38
    >>> found = bound(noisy, coins, 1e-5, 0.05)
    >>> round(found.value, 1), found.assumes
    (3.0, 'gaussian')
    """
    value, truth = np.asarray(scores, float), np.asarray(included, bool)
    if value.ndim != 1 or value.shape != truth.shape:
        raise InputError("included", truth.shape, f"one coin for each score, shape {value.shape}")
    delta_below_one("delta", delta)
    distance, least, most = _box(value[truth], value[~truth], open_probability("error", error))
    found = _least_epsilon(distance, least, most, delta) if most > 0 else 0.0
    return LowerBound("epsilon", found, delta, error, "two normal laws", "gaussian")


def _box(inside: Floats, outside: Floats, error: float) -> tuple[float, float, float]:
    """The least distance of the means over the deviation outside, and the ends of the deviations' ratio.

    A quarter of the error each: the two means (one-sided, t), the deviation (chi-square), the ratio (F, two-sided).
    """
    n, k = len(inside), len(outside)
    if min(n, k) < 3 or min(inside.std(), outside.std()) <= 0:
        return 0.0, 0.0, 0.0
    part = error / 4
    own, other = float(inside.std(ddof=1)), float(outside.std(ddof=1))
    apart = float(inside.mean() - outside.mean())
    apart -= own * stats.t.isf(part, n - 1) / math.sqrt(n) + other * stats.t.isf(part, k - 1) / math.sqrt(k)
    widest = other * math.sqrt((k - 1) / stats.chi2.ppf(part, k - 1))
    ratio = own * own / (other * other)
    ends = [math.sqrt(ratio / stats.f.ppf(level, n - 1, k - 1)) for level in (1 - part / 2, part / 2)]
    return max(0.0, apart / widest), ends[0], ends[1]


def _least_epsilon(distance: float, least: float, most: float, delta: float) -> float:
    """The largest epsilon with delta(epsilon) > delta for every pair of the box, from below."""
    edges = np.geomspace(least, most, CELLS + 1)

    def leaks(epsilon: float) -> bool:
        return all(_leak(distance, a, b, math.exp(epsilon)) > delta for a, b in itertools.pairwise(edges))

    low, high = 0.0, 1.0
    if not leaks(0.0):
        return 0.0
    while high < 64 and leaks(high):
        low, high = high, 2 * high
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if leaks(middle) else (low, middle)
    return low


def _leak(distance: float, a: float, b: float, odds: float) -> float:
    """At most delta(log odds) of N(distance, s^2) and N(0, 1), in the worse direction, for every s in [a, b]."""
    grown = b / a
    inward = hockey_stick(distance, a, odds * grown) / grown
    outward = hockey_stick_back(distance, b, odds * grown)
    return max(inward, outward) * (1 - 1e-9) - 1e-12


def hockey_stick(mean: float, deviation: float, odds: float) -> float:
    """The integral of (p - odds q)_+ for p = N(mean, deviation^2) and q = N(0, 1)."""
    return _over(mean, deviation, odds, 1.0)


def hockey_stick_back(mean: float, deviation: float, odds: float) -> float:
    """The integral of (q - odds p)_+ for the same two."""
    return _over(mean, deviation, 1 / odds, -odds)


def _over(mean: float, deviation: float, odds: float, sign: float) -> float:
    """|sign| times the integral of (p - odds q) over where it is positive; negative sign: of (odds q - p), positive."""
    # log p - log(odds q) = a x^2 + b x + c
    a = (1 - 1 / deviation**2) / 2
    b = mean / deviation**2
    c = -(mean**2) / (2 * deviation**2) - math.log(deviation) - math.log(odds)
    difference = sum(
        side * (_mass(low, high, mean, deviation) - odds * _mass(low, high, 0.0, 1.0))
        for side, low, high in _positive(a, b, c, sign)
    )
    return float(abs(sign) * max(0.0, difference if sign > 0 else -difference))


def _positive(a: float, b: float, c: float, sign: float) -> list[tuple[float, float, float]]:
    """Intervals (1, low, high) on which sign * (a x^2 + b x + c) is positive."""
    a, b, c = (math.copysign(1.0, sign) * value for value in (a, b, c))
    if abs(a) < 1e-12:
        if b == 0:
            return [(1.0, -math.inf, math.inf)] if c > 0 else []
        return [(1.0, -c / b, math.inf)] if b > 0 else [(1.0, -math.inf, -c / b)]
    inside = b * b - 4 * a * c
    if inside <= 0:
        return [(1.0, -math.inf, math.inf)] if a > 0 else []
    far = -(b + math.copysign(math.sqrt(inside), b)) / 2
    first, last = sorted((far / a, c / far if far else 0.0))
    return [(1.0, first, last)] if a < 0 else [(1.0, -math.inf, first), (1.0, last, math.inf)]


def _mass(low: float, high: float, mean: float, deviation: float) -> float:
    """P(low < X < high), by the tail in which both ends are small."""
    x, y = (low - mean) / deviation, (high - mean) / deviation
    return float(special.ndtr(y) - special.ndtr(x) if x + y < 0 else special.ndtr(-x) - special.ndtr(-y))
