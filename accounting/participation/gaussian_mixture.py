"""Gaussian outcomes of a random, public strength mu: their profile E[delta_Gauss(eps; mu)], two-sided.

A `Spread` is the law of mu^2. delta_Gauss increases in mu, so an atom that is only known to lie in [low, high]
counts at `low` in the lower end and at `high` in the upper end; mass that is not listed counts as 0 and as 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, erfcx

from ...mechanisms.arrays import Floats
from ..rounding import UNIT

_SPECIAL = 2.0**-47
"""Taken as the largest relative error of scipy's erfc(x <= 0) and erfcx(x >= 0) and of numpy's exp.

Several times what the test against ball arithmetic finds (tests/accounting/participation/test_gaussian_mixture.py).
"""

_SQRT_HALF = math.sqrt(0.5)
_MOST_ATOMS = 2**15
_MOST_PAIRS = 2**21
_MOST_COUNTS = 2**20
_CELLS = 16
"""Cells a standard deviation of a binomial law with more than _MOST_COUNTS likely values."""


@dataclass(frozen=True, eq=False, slots=True)
class Spread:
    """A law of mu^2: atom j lies in [low[j], high[j]] and carries a mass in [mass_low[j], mass_high[j]].

    missing: an upper bound on the mass that no atom carries. Positions are exact up to 20 roundings.
    """

    low: Floats
    high: Floats
    mass_low: Floats
    mass_high: Floats
    missing: float


def certain(mu_squared: float) -> Spread:
    """mu^2 without any randomness."""
    value, one = np.array([mu_squared]), np.ones(1)
    return Spread(value, value, one, one, 0.0)


def binomial(rounds: int, rate: float, mu_squared: float, smallest: float) -> Spread:
    """mu^2 = K * mu_squared with K ~ Bin(rounds, rate), 0 < rate < 1.

    Atoms lighter than `smallest` times the heaviest are left out. Masses relative to the mode's are products of
    the exact ratios P[K = k + 1] / P[K = k], normalised by their own sum; the true normaliser lies between that
    sum and that sum plus the geometric bounds on the two tails. More atoms than can be added up in a second or so are
    replaced by few (see `_concentrated`).
    """
    reach = math.sqrt(-2.0 * math.log(smallest) * rounds * rate * (1.0 - rate))
    if 2.0 * reach > _MOST_COUNTS:
        return _concentrated(rounds, rate, mu_squared, smallest)
    mode = min(rounds, int((rounds + 1) * rate))
    odds = rate / (1.0 - rate)
    up = _from_mode(mode, rounds, odds, smallest)
    down = _from_mode(rounds - mode, rounds, 1.0 / odds, smallest)
    relative = np.concatenate([down[:0:-1], up])
    first, last = mode - (len(down) - 1), mode + (len(up) - 1)
    tails = _tail(relative[-1], last, rounds, odds) + _tail(relative[0], rounds - first, rounds, 1.0 / odds)
    total = math.fsum(relative)
    counts = np.arange(first, last + 1, dtype=np.float64)
    # Each ratio: 3 roundings; its odds: 5, the rate's own two (rounding.PARAMETER) included, magnified in 1 - rate.
    one_ratio = (8.0 + 2.0 * rate / (1.0 - rate)) * UNIT
    steps = np.abs(counts - mode)
    error = 1.01 * one_ratio * (steps + np.dot(relative, steps) / total) + 8 * UNIT
    value = counts * mu_squared
    mass_low = relative / (total + tails) * np.maximum(0.0, 1.0 - error)
    return Spread(value, value, mass_low, relative / total * (1.0 + error), 1.01 * tails / total)


def _concentrated(rounds: int, rate: float, mu_squared: float, smallest: float) -> Spread:
    """The same law between two simpler ones, for a binomial with so many likely values that its spread hardly matters.

    With m = rounds * rate and C(x) = exp(-rounds KL(x / rounds, rate)), P[K >= x] <= C(x) for x >= m and
    P[K <= x] <= C(x) for x <= m (Chernoff). So K is stochastically at most the law with the mass C(x_j) - C(x_j+1)
    at x_j+1, x_0 = m (the upper end's atoms), and at least its mirror image (the lower end's); what is beyond the last
    x_j is missing. Both ends are then off by about a standard deviation of K, relatively 1 / sqrt(m).
    """
    mean, deviation = rounds * rate, math.sqrt(rounds * rate * (1.0 - rate))
    count = math.ceil(_CELLS * math.sqrt(-2.0 * math.log(smallest)))
    steps: Floats = np.arange(count + 1, dtype=np.float64) * (deviation / (_CELLS * mean))
    above, below = _chernoff(rounds, rate, steps), _chernoff(rounds, rate, -steps)
    spare = 16.0 * UNIT  # of the positions, and of the rate's own rounding
    high: Floats = mean * (1.0 + steps[1:]) * mu_squared * (1.0 + spare)
    low: Floats = mean * np.maximum(0.0, 1.0 - steps[1:]) * mu_squared * (1.0 - spare)
    mass_low, mass_high = (-np.diff(bound) for bound in (below, above))
    return Spread(low, high, mass_low * (1.0 - 8 * UNIT), mass_high * (1.0 + 8 * UNIT), float(above[-1]))


def _chernoff(rounds: int, rate: float, relative: Floats) -> Floats:
    """At least exp(-rounds KL(x / rounds, rate)) at x = rounds * rate * (1 + relative), 1 at relative = 0.

    rounds KL = m h(s) + (rounds - m) h(s'), s' = -s rate / (1 - rate), with h(s) = (1 + s) log(1 + s) - s, which is at
    least s^2 / 2 for s <= 0 and at least s^2 / 2 - s^3 / 6 for 0 <= s <= 1 (its series alternates).
    """
    mean = rounds * rate
    exponent = np.zeros_like(relative)
    for weight, share in ((mean, relative), (rounds - mean, -relative * rate / (1.0 - rate))):
        exponent += weight * share * share * (0.5 - np.clip(share, 0.0, 1.0) / 6.0)
    # The rate's rounding, magnified in 1 - rate, and that of the products; nothing is left of it next to rate 1.
    kept = max(0.0, 1.0 - 2.0**-40 - 64.0 * UNIT / (1.0 - rate))
    bound: Floats = np.exp(-exponent * kept)
    return bound


def _from_mode(count: int, rounds: int, odds: float, smallest: float) -> Floats:
    """1, then the masses at count + 1, count + 2, ... relative to that at count, down to `smallest`."""
    found, size = [np.ones(1)], 256
    while count < rounds:
        k = np.arange(count, min(rounds, count + size), dtype=np.float64)
        masses = found[-1][-1] * np.cumprod((rounds - k) / (k + 1.0) * odds)
        kept = int(np.searchsorted(-masses, -smallest, side="right"))
        found.append(masses[:kept])
        if kept < len(masses):
            break
        count, size = count + len(k), 2 * size
    return np.concatenate(found)


def _tail(edge: float, count: int, rounds: int, odds: float) -> float:
    """At least the mass beyond `count` (relative to the mode's), given that at count: ratios only decrease."""
    ratio = (rounds - count) / (count + 1.0) * odds * (1.0 + 16 * UNIT)
    if ratio >= 1.0:
        return edge * (rounds - count)
    return edge * min(float(rounds - count), ratio / (1.0 - ratio)) * 1.01


def plus(first: Spread, second: Spread) -> Spread:
    """The law of the sum of two independent values of mu^2."""
    while len(first.low) * len(second.low) > _MOST_PAIRS:
        if len(first.low) >= len(second.low):
            first = merged(first, len(first.low) // 2)
        else:
            second = merged(second, len(second.low) // 2)
    total = Spread(
        np.add.outer(first.low, second.low).ravel(),
        np.add.outer(first.high, second.high).ravel(),
        np.multiply.outer(first.mass_low, second.mass_low).ravel() * (1.0 - 2 * UNIT),
        np.multiply.outer(first.mass_high, second.mass_high).ravel() * (1.0 + 2 * UNIT),
        (first.missing + second.missing) * (1.0 + 4 * UNIT),
    )
    return merged(total, _MOST_ATOMS) if len(total.low) > _MOST_ATOMS else total


def merged(spread: Spread, atoms: int) -> Spread:
    """At most `atoms` wider atoms in place of many; no mass moves out of the range of its atom."""
    order = np.argsort(spread.low, kind="stable")
    low = spread.low[order]
    cell = np.minimum(atoms - 1, ((low - low[0]) / max(low[-1] - low[0], 1e-300) * atoms).astype(np.int64))
    starts = np.concatenate([[0], np.flatnonzero(np.diff(cell)) + 1])
    slack = len(low) * UNIT  # the masses of one cell are added one after the other
    return Spread(
        low[starts],
        np.maximum.reduceat(spread.high[order], starts),
        np.add.reduceat(spread.mass_low[order], starts) * (1.0 - slack),
        np.add.reduceat(spread.mass_high[order], starts) * (1.0 + slack),
        spread.missing,
    )


def mixture_delta(spread: Spread, epsilon: float) -> tuple[float, float]:
    """E[delta_Gauss(epsilon; mu)] for epsilon >= 0: (at most, at least) the true value."""
    low, high = gaussian_delta(epsilon, np.sqrt(spread.low))
    if spread.high is not spread.low:
        _, high = gaussian_delta(epsilon, np.sqrt(spread.high))
    slack = 64 * UNIT  # at most 19 + log2(atoms / 128) roundings meet a term: numpy adds pairwise
    below = float(np.sum(spread.mass_low * low)) * (1.0 - slack)
    above = float(np.sum(spread.mass_high * high)) * (1.0 + slack) + float(spread.missing)
    return max(0.0, below), min(1.0, above * (1.0 + 4 * UNIT))


def gaussian_delta(epsilon: float, mu: Floats) -> tuple[Floats, Floats]:
    """delta_Gauss(epsilon; mu) = Phi(-a) - e^epsilon Phi(-b) with a = epsilon/mu - mu/2, b = epsilon/mu + mu/2.

    Balle, Wang 2018 (arXiv 1805.06530), Theorem 8. Returns (at most, at least) the true value for every mu
    whose square is within 20 roundings of the given one's. Since e^epsilon phi(b) = phi(a), both terms are
    scaled complementary error functions times e^{-a^2/2} when a > 0, so tiny values keep their relative accuracy.
    """
    known = np.maximum(mu, 1e-300)
    with np.errstate(under="ignore", over="ignore"):
        # Beyond 1e100 nothing is left of either term, and its square would overflow.
        a = np.minimum(epsilon / known - known / 2.0, 1e100)
        b = np.minimum(epsilon / known + known / 2.0, 1e100)
        bell = np.exp(-0.5 * a * a)
        second = 0.5 * bell * erfcx(b * _SQRT_HALF)
        first = np.where(a > 0, 0.5 * bell * erfcx(np.abs(a) * _SQRT_HALF), 0.5 * erfc(np.minimum(a, 0.0) * _SQRT_HALF))
        # a and b are off by at most 15 roundings of b: the bell moves relatively by |a| times that, the area by
        # the bell times that; a^2 itself is rounded too.
        moved = 15 * UNIT * b
        error = (first + second) * (2 * _SPECIAL + UNIT * (16 + 2 * a * a) + np.abs(a) * moved) + bell * moved
    value = first - second
    none = mu <= 0
    low = np.where(none, 0.0, np.maximum(0.0, value - error - 1e-300))
    # Below the smallest normal number relative errors mean nothing: an absolute one of that size covers it.
    high = np.where(none, 0.0, np.minimum(1.0, np.maximum(0.0, value) + error + 1e-300))
    return low, high
