"""The law of the mean of independent likelihood ratios, from above and from below, by repeated halving.

Without the unit a block's likelihood ratio is X = mean(L_1, ..., L_t) with independent L_i, and both of its profiles
are expectations of convex functions of X. So a law of L that is larger in the convex order gives an upper bound, and
merged outcomes give a lower one (docs/theory/allocation.md). Everything is a sum of products of nonnegative doubles:
nothing cancels, errors are *relative*, however far out in a tail, and no Fourier transform is needed.

Ratios are kept on a geometric grid, e^{step k}. The mean of e^{step i} and e^{step j} is the larger one times a
function of their distance that lies between its weight and 1: pairs of so many distances go to the same two points
next to the larger one's that they are summed in a few dozen convolutions. The grid is refined as the mean concentrates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ..bracket import OutOfReach
from ..rounding import UNIT

_SUMS = 1 + 1e-12

_RESOLVED = 2.0**-5
"""The share of its range that a law is resolved to, however much of it is in one place (noise that is next to nothing):
any grid is valid, and one of fewer places is held in memory."""


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
S = TypeVar("S", Above, Below)


def spread(side: Side) -> float:
    """The standard deviation of log X, about."""
    return deviation(side.step * np.arange(side.q.size, dtype=float), side.q)


def deviation(places: Floats, masses: Floats) -> float:
    """About the standard deviation, or a small share of the range: what a grid is to resolve."""
    total = float(masses.sum())
    middle = float(masses @ places) / total
    return max(math.sqrt(float(masses @ (places - middle) ** 2) / total), _RESOLVED * float(np.ptp(places)))


def mean_above(one: Above, other: Above, weights: tuple[int, int], refine: int, tail: float) -> Above:
    """The weighted mean of independent X and X' (of equal steps), each pair split on to two points of the new grid.

    refine: by how much the grid becomes finer, a power of 2. tail: at most this P-mass goes to infinity, and this
    Q-mass towards 0.
    """
    pairs = _Pairs.of(one, other, weights, refine)
    q = np.zeros(pairs.size)
    for half in pairs.halves:
        low, high = (half.times * share for share in _shares(half.fraction, pairs.step))
        for band in half.bands(half.down):
            larger = half.larger.q[band.larger]
            q[band.place] += larger * band.sums(half.smaller.q, low)
            q[band.next_place] += larger * band.sums(half.smaller.q, high)
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


def _add_halved(q: Floats, law: Above, zero: float, share: float, pairs: _Pairs[Above]) -> None:
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
    for half in pairs.halves:
        nearest = _shares(half.fraction, pairs.step)[1] > 0.5
        for band in half.bands(half.down + nearest):
            without, tagged = band.sums(half.smaller.q, half.times), band.sums(half.smaller.p, half.times)
            larger, larger_tagged = half.larger.q[band.larger], half.larger.p[band.larger]
            q[band.place] += larger * without
            p[band.place] += half.weight * larger_tagged * without + (1 - half.weight) * larger * tagged
    infinite = (first * one.infinite + second * other.infinite) * (1 - 16 * UNIT)
    error = one.error + other.error + UNIT * (2 * pairs.count + 32)
    return _trimmed_below(Below(pairs.step, pairs.first, q, p, infinite, error), tail)


class _Band(NamedTuple):
    """Pairs of about the same distance d, of `apart`, one after the other, whose mean goes to one place of the new grid
    next to the larger one's. larger, smaller: which of both take part; kept: of all sums, those of a larger one.
    """

    apart: slice
    larger: slice
    smaller: slice
    kept: slice
    place: slice
    next_place: slice

    def sums(self, smaller: Floats, shares: Floats) -> Floats:
        """For each larger one the masses of all smaller ones, times their shares."""
        # a convolution, with fewer checks
        return np.correlate(smaller[self.smaller], shares[self.apart][::-1], "full")[self.kept]


@dataclass(frozen=True, slots=True)
class _Half(Generic[S]):
    """Pairs in which `larger` is the larger one, or equal, by distance on the grid from `least` on.

    weight: the larger one's in the mean, which is down + fraction <= 0 points of the new grid from the larger one.
    times: 2 where pairs of the other half go to the same place and are not listed, else 1. first: of the new grid.
    """

    larger: S
    smaller: S
    weight: float
    least: int
    down: NDArray[np.int64]
    fraction: Floats
    times: Floats
    refine: int
    first: int

    @classmethod
    def of(cls, larger: S, smaller: S, weight: float, least: int, refine: int, first: int) -> _Half[S]:
        most = larger.first + larger.q.size - 1 - smaller.first
        distance = larger.step * np.arange(least, max(least, most + 1))
        exact = np.log1p((1 - weight) * np.expm1(-distance)) / (larger.step / refine)
        down = np.floor(exact)
        twice = larger is smaller and weight == 0.5
        times = np.where(twice & (distance > 0), 2.0, 1.0)
        return cls(larger, smaller, weight, least, down.astype(np.int64), exact - down, times, refine, first)

    def bands(self, places: NDArray[np.int64]) -> Iterator[_Band]:
        """All bands. places: of the new grid, for each distance; falling."""
        between = self.larger.first - self.smaller.first
        changes = np.flatnonzero(np.diff(places)) + 1
        starts, stops = np.append(0, changes)[: places.size], np.append(changes, places.size)[: places.size]
        nearest, furthest = self.least + starts - between, self.least + stops - 1 - between
        low, high = np.maximum(nearest, 0), np.minimum(self.larger.q.size, self.smaller.q.size + furthest)
        bottom, top = np.maximum(low - furthest, 0), np.minimum(self.smaller.q.size, high - nearest)
        skipped = low - nearest - bottom
        place = self.refine * (self.larger.first + low) + places[starts] - self.first
        end, size = place + self.refine * (high - low - 1) + 1, high - low
        columns = (starts, stops, low, high, bottom, top, skipped, skipped + size, place, end)
        for start, stop, i, k, j, m, skip, kept, here, last in np.stack(columns)[:, size > 0].T.tolist():
            yield _Band(
                slice(start, stop),
                slice(i, k),
                slice(j, m),
                slice(skip, kept),
                slice(here, last, self.refine),
                slice(here + 1, last + 1, self.refine),
            )


@dataclass(frozen=True, slots=True)
class _Pairs(Generic[S]):
    """Where the pairs of two laws go. count: at least the number of terms in any sum."""

    step: float
    refine: int
    first: int
    size: int
    halves: tuple[_Half[S], ...]
    count: int
    largest: float

    @classmethod
    def of(cls, one: S, other: S, weights: tuple[int, int], refine: int) -> _Pairs[S]:
        step = one.step / refine
        lost = math.ceil(-math.log(min(weights) / sum(weights)) / step)
        first = refine * min(one.first, other.first) - lost - 2
        last = refine * max(one.first + one.q.size, other.first + other.q.size) + 2
        halves = [_Half.of(other, one, weights[1] / sum(weights), 0, refine, first)]
        if one is not other or weights[0] != weights[1]:
            halves.append(_Half.of(one, other, weights[0] / sum(weights), 1, refine, first))
        apart = max(abs(other.first - one.first - one.q.size), abs(other.first + other.q.size - one.first))
        largest = one.step * apart + math.log(sum(weights))
        return cls(step, refine, first, last - first, tuple(halves), one.q.size + other.q.size, largest)


def _trimmed_above(law: Above, tail: float) -> Above:
    """At the top P-mass goes to infinity; at the bottom each outcome is split on to 0 and the first point kept."""
    p = law.q * np.exp(law.places)
    top = law.q.size - int(np.searchsorted(np.cumsum(p[::-1]), tail, side="right"))
    if top < 1:
        raise OutOfReach("all mass is in the tail: the likelihood ratios are beyond doubles")
    bottom = min(int(np.searchsorted(np.cumsum(law.q), tail, side="right")), top - 1)
    q, below = law.q[bottom:top].copy(), law.q[:bottom]
    kept = np.exp(law.step * (np.arange(bottom) - bottom))
    q[0] += float(below @ kept) * _SUMS
    zero = law.zero + float(below @ -np.expm1(law.step * (np.arange(bottom) - bottom))) * _SUMS
    infinite = law.infinite + float(p[top:].sum()) * (1 + 1e-9)  # positions are exact to 1e-12, masses to `error`
    return Above(law.step, law.first + bottom, q, zero, infinite, law.error, law.slack)


def _trimmed_below(law: Below, tail: float) -> Below:
    top = law.q.size - int(np.searchsorted(np.cumsum(law.p[::-1]), tail, side="right"))
    if top < 1:
        raise OutOfReach("all mass is in the tail: the likelihood ratios are beyond doubles")
    bottom = min(int(np.searchsorted(np.cumsum(law.q), tail, side="right")), top - 1)
    q, p = (values[bottom:top].copy() for values in (law.q, law.p))
    for kept, values in ((q, law.q), (p, law.p)):
        kept[0] += values[:bottom].sum()
        kept[-1] += values[top:].sum()
    return Below(law.step, law.first + bottom, q, p, law.infinite, law.error)
