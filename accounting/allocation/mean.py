"""The law of the mean of independent likelihood ratios, from above and from below, by repeated halving.

Without the unit a block's likelihood ratio is X = mean(L_1, ..., L_t) with independent L_i, and both of its profiles
are expectations of convex functions of X. So a law of L that is larger in the convex order gives an upper bound, and
merged outcomes give a lower one (docs/theory/allocation.md). Everything is a sum of products of nonnegative doubles:
nothing cancels, errors are *relative*, however far out in a tail, and no Fourier transform is needed.

Ratios are kept on a geometric grid, e^{step k}. The mean of e^{step i} and e^{step j} is e^{step i} times a function of
j - i, so a whole diagonal of pairs moves on to the grid in one slice. The grid is refined as the mean concentrates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ..rounding import UNIT

Diagonal = tuple[slice, slice, slice, slice, float, float, float]
"""Pairs (i, i + d): where they are in both laws, the points of the new grid below and above their means, the shares of
these two, and 2 where the pairs (i + d, i) go to the same places and are not listed, else 1."""

_SUMS = 1 + 1e-12


@dataclass(frozen=True, slots=True)
class Above:
    """A law that is larger in the convex order: Q-mass q[k] at X = e^{step (first + k)}, and `zero` at X = 0.

    infinite: P-mass of outcomes that Q never shows. For every convex f >= 0 that is nondecreasing (nonincreasing),
    E f(X) <= (1 + error) (sum of q[k] f(e^{place + slack}) + f(0) zero) (with - slack), and infinite lim f(x)/x more.
    """

    step: float
    first: int
    q: Floats
    zero: float
    infinite: float
    error: float
    slack: float

    @property
    def places(self) -> Floats:
        """log X on the grid."""
        return self.step * (self.first + np.arange(self.q.size, dtype=float))


@dataclass(frozen=True, slots=True)
class Below:
    """Merged outcomes: Q-mass q[k] and P-mass p[k], within a relative `error`, of those labelled first + k.

    infinite: P-mass of outcomes that Q never shows. The label of an outcome is only about log X / step.
    """

    step: float
    first: int
    q: Floats
    p: Floats
    infinite: float
    error: float


Side = Above | Below


def spread(side: Side) -> float:
    """About the standard deviation of log X: what the grid is to resolve."""
    total = float(side.q.sum())
    places = side.step * np.arange(side.q.size)
    middle = float(side.q @ places) / total
    return math.sqrt(max(float(side.q @ (places - middle) ** 2) / total, 0.0))


def mean_above(one: Above, other: Above, weights: tuple[int, int], refine: int, tail: float) -> Above:
    """The weighted mean of independent X and X' (of equal steps), each pair split on to two points of the new grid.

    refine: by how much the grid becomes finer, a power of 2. tail: at most this P-mass goes to infinity, and this
    Q-mass towards 0.
    """
    pairs = _Pairs.of(one, other, weights, refine)
    q = np.zeros(pairs.size)
    for here, there, down, up, share, raised, times in pairs:
        product = one.q[here] * other.q[there]
        q[up] += product * (times * raised)
        product *= times * share
        q[down] += product
    _add_halved(q, one, other.zero, weights[0] / sum(weights), pairs)
    _add_halved(q, other, one.zero, weights[1] / sum(weights), pairs)
    law = Above(
        pairs.step,
        pairs.first,
        q,
        one.zero * other.zero,
        (weights[0] * one.infinite + weights[1] * other.infinite) / sum(weights) * (1 + 8 * UNIT),
        one.error + other.error + UNIT * (2 * pairs.count + 32),
        max(one.slack, other.slack) + UNIT * (64 + 8 * pairs.largest),
    )
    return _trimmed_above(law, tail)


def _add_halved(q: Floats, law: Above, zero: float, share: float, pairs: _Pairs) -> None:
    """Adds the pairs of x and 0, whose mean is x times the share."""
    if zero:
        exact = math.log(share) / pairs.step
        down = math.floor(exact)
        low, high = _shares(np.array(exact - down), pairs.step)
        start = pairs.refine * law.first + down - pairs.first
        stop = start + pairs.refine * (law.q.size - 1) + 1
        q[start : stop : pairs.refine] += law.q * (zero * low)
        q[start + 1 : stop + 1 : pairs.refine] += law.q * (zero * high)


def _shares(fraction: Floats, step: float) -> tuple[Floats, Floats]:
    """Shares of the points 1 and e^step that make e^{step fraction} their mean, each to a few units."""
    whole = math.expm1(step)
    return np.exp(step * fraction) * np.expm1(step * (1 - fraction)) / whole, np.expm1(step * fraction) / whole


def mean_below(one: Below, other: Below, weights: tuple[int, int], refine: int, tail: float) -> Below:
    """The outcomes of both, merged where the weighted means of their labels are nearest to the same grid point.

    tail: so much mass on either side is merged into one outcome.
    """
    pairs = _Pairs.of(one, other, weights, refine)
    q, p = np.zeros(pairs.size), np.zeros(pairs.size)
    first, second = (weight / sum(weights) for weight in weights)
    one_p, other_p = first * one.p, second * other.p
    for here, there, down, up, _, raised, times in pairs:
        place = up if raised > 0.5 else down
        left, right = one.q[here], other.q[there]
        if times != 1.0:
            right = right * times
        q[place] += left * right
        tagged = one_p[here] * right
        tagged += left * (other_p[there] * times)
        p[place] += tagged
    infinite = (first * one.infinite + second * other.infinite) * (1 - 16 * UNIT)
    error = one.error + other.error + UNIT * (2 * pairs.count + 32)
    return _trimmed_below(Below(pairs.step, pairs.first, q, p, infinite, error), tail)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Where the pairs (i, i + d) of two laws go: to refine * i + base[d] + fraction[d] on the finer grid."""

    step: float
    refine: int
    first: int
    size: int
    base: NDArray[np.int64]
    fraction: Floats
    firsts: tuple[int, int]
    sizes: tuple[int, int]
    symmetric: bool
    largest: float

    @property
    def count(self) -> int:
        """At least the number of terms in any sum."""
        return self.base.size

    @classmethod
    def of(cls, one: Side, other: Side, weights: tuple[int, int], refine: int) -> _Pairs:
        step = one.step / refine
        lowest, highest = other.first - one.first - one.q.size + 1, other.first + other.q.size - one.first
        apart = one.step * np.arange(lowest, highest)
        share = np.where(apart > 0, weights[0], weights[1]) / sum(weights)
        # log of the mean of 1 and e^x, the larger of the two taken out
        exact = (np.log1p(share * np.expm1(-np.abs(apart))) + np.maximum(apart, 0.0)) / step
        base = np.floor(exact)
        lost = math.ceil(-math.log(min(weights) / sum(weights)) / step)
        first = refine * min(one.first, other.first) - lost - 2
        last = refine * max(one.first + one.q.size, other.first + other.q.size) + 2
        symmetric = one is other and weights[0] == weights[1]
        firsts, sizes = (one.first, other.first), (one.q.size, other.q.size)
        largest = float(np.max(np.abs(apart))) + math.log(sum(weights))
        whole = base.astype(np.int64)
        return cls(step, refine, first, last - first, whole, exact - base, firsts, sizes, symmetric, largest)

    def __iter__(self) -> Iterator[Diagonal]:
        """One after the other; where both laws are the same, only those with d >= 0."""
        (one, other), (size, other_size), refine = self.firsts, self.sizes, self.refine
        least = other - one - size + 1
        from_here = np.maximum(0, other - one - np.arange(least, least + self.count))
        to_here = np.minimum(size, other + other_size - one - np.arange(least, least + self.count))
        starts = refine * (one + from_here) + self.base - self.first
        shares, raised = (values.tolist() for values in _shares(self.fraction, self.step))
        begin = -least if self.symmetric else 0
        rows = zip(from_here.tolist(), to_here.tolist(), starts.tolist(), shares, raised, strict=True)
        for d, (low, high, start, share, rest) in enumerate(islice(rows, begin, None), least + begin):
            shift, stop = one + d - other, start + refine * (high - low - 1) + 1
            down, up = slice(start, stop, refine), slice(start + 1, stop + 1, refine)
            times = 2.0 if self.symmetric and d else 1.0
            yield slice(low, high), slice(low + shift, high + shift), down, up, share, rest, times


def _trimmed_above(law: Above, tail: float) -> Above:
    """At the top P-mass goes to infinity; at the bottom each outcome is split on to 0 and the first point kept."""
    p = law.q * np.exp(law.places)
    top = law.q.size - int(np.searchsorted(np.cumsum(p[::-1]), tail, side="right"))
    bottom = min(int(np.searchsorted(np.cumsum(law.q), tail, side="right")), top - 1)
    q, below = law.q[bottom:top].copy(), law.q[:bottom]
    kept = np.exp(law.step * (np.arange(bottom) - bottom))
    q[0] += float(below @ kept) * _SUMS
    zero = law.zero + float(below @ -np.expm1(law.step * (np.arange(bottom) - bottom))) * _SUMS
    infinite = law.infinite + float(p[top:].sum()) * (1 + 1e-9)  # positions are exact to 1e-12, masses to `error`
    return Above(law.step, law.first + bottom, q, zero, infinite, law.error, law.slack)


def _trimmed_below(law: Below, tail: float) -> Below:
    top = law.q.size - int(np.searchsorted(np.cumsum(law.p[::-1]), tail, side="right"))
    bottom = min(int(np.searchsorted(np.cumsum(law.q), tail, side="right")), top - 1)
    q, p = (values[bottom:top].copy() for values in (law.q, law.p))
    for kept, values in ((q, law.q), (p, law.p)):
        kept[0] += values[:bottom].sum()
        kept[-1] += values[top:].sum()
    return Below(law.step, law.first + bottom, q, p, law.infinite, law.error)
