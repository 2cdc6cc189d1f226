"""One of t rounds, a replaced unit: two-sided values of a block's profile in milliseconds, by taking jumps apart.

With Z = L - gamma L' as in replaced.py, t H_gamma = E(Z_1 + ... + Z_t)_+. A jump is a round with x above a height x1,
so high that two of them have next to no P-mass. With none or one of them in the block, the others' sum needs a grid
for ordinary rounds only: with U(z) = E[(Z_1 + ... + Z_{t-1} + z)_+; no jump among them],

    t H_gamma = E[U(Z); no jump] + t E[U(Z); a jump] + t (what two jumps and more add, at most their P-mass)

(docs/theory/allocation.md, "Several blocks"). U grows and is convex: from above a round's cell is split between its
ends, from below it is merged at its mean, or put on the grid. There any x0 gives a line E(Z - g) 1{x > x0} below
E(Z - g)_+. A law on the grid whose own E(Z' - g)_+ is convex, and at the grid's points below such lines of both
neighbouring intervals, is below Z in the increasing convex order, and so are sums of such laws (the same page,
"Replaced").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ...mechanisms.arrays import Floats
from ..losses.crossing import Excess, crossing, over
from ..pairs.gaussian import gaussian_masses
from ..rounding import UNIT, End
from .tilted_sums import Scores, by_one_tilt, moment_beyond

_CELLS_PER_SPREAD = 400
_LOWEST = 6.0
"""Outcomes with x below -s - 6 are enlarged to those at it, or not told apart."""

_SPREADS, _CUT, _KNOWN = 8.0, 3.0, 7.0
"""Standard deviations of the sum on each side of the window, to where Z is cut, and below the mean, from where the
sum's masses are looked at."""

_ROUNDING = 1e-11
"""Of sums of up to 2^18 terms of either sign, relative to the sum of their sizes."""

_MOST_BINS = 1 << 18

_WEIGHTS = ((0.3, 4.0), (0.15, 2.0), (0.5, 8.0))
"""Tilts: this share of what brings a normal sum to zero, with jumps weighed by e^4 (e^2, e^8) at most. Of sums beyond
the window the stronger ones make more, the weaker ones know tails less."""

_CLOSE = 0.999
"""Share of what is known from above at which a value from below needs no other tilt."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """rounds: t. edges: of the cells of x, of which those from `jump` on are jumps; masses under N(s), N(0) and N(-s).

    lost: at most the P-mass of two jumps and more, and of what lies beyond the edges.
    """

    shift: float
    rounds: int
    edges: Floats
    jump: int
    ahead: Floats
    none: Floats
    behind: Floats
    error: float
    lost: float

    @property
    def height(self) -> float:
        """The x from which on an outcome is a jump."""
        return float(self.edges[self.jump])


def spread(shift: float, rounds: float) -> float:
    """The standard deviation of a block's loss, about."""
    return math.sqrt(2 * (math.expm1(shift**2) - math.expm1(-(shift**2))) / rounds)


def farthest(shift: float, tail: float) -> float:
    """A loss beyond which a block has at most about this P-mass."""
    return 2 * shift * (shift + math.sqrt(-2 * math.log(tail)))


@lru_cache(maxsize=8)
def block(shift: float, rounds: int, tail: float) -> Block:
    """A block's cells, of which about `tail` is lost."""
    reach = max(shift + math.sqrt(-2 * math.log(tail)), math.sqrt(-2 * math.log(tail / rounds)))
    found = crossing(lambda height: Excess(over(_two(shift, rounds, height), tail)), 0.5 * reach, close=2.0**-40)
    high = min(reach, found[1])
    parts = [
        np.linspace(start, end, math.ceil((end - start) * _CELLS_PER_SPREAD) + 1)
        for start, end in ((-shift - _LOWEST, high), (high, reach))
    ]
    edges = np.concatenate([parts[0], parts[1][1:]])
    (ahead, e1), (none, e2), (behind, e3) = (gaussian_masses(edges, centre) for centre in (shift, 0.0, -shift))
    error = float(max(np.max(e1), np.max(e2), np.max(e3)))
    beyond = float(ndtr(shift - reach) + (rounds - 1) * ndtr(-reach))
    lost = (_two(shift, rounds, float(edges[parts[0].size - 1])) + beyond) * (1 + 1e-9)
    return Block(shift, rounds, edges, parts[0].size - 1, ahead, none, behind, error, lost)


def _two(shift: float, rounds: int, height: float) -> float:
    """At least the P-mass of two jumps: one of them in the unit's round, or both in others."""
    other = (rounds - 1) * float(ndtr(-height))
    return float(ndtr(shift - height)) * other + 0.5 * other * other


@dataclass(frozen=True, slots=True)
class _Grid:
    """For one gamma: `odds`. cut: Z below it is not told apart from it. low: sums below are not seen from above."""

    odds: float
    step: float
    bins: int
    mean: float
    cut: float
    low: float
    tilt: float


def _grid(of: Block, odds: float, steps: int, weight: tuple[float, float] = _WEIGHTS[0]) -> _Grid:
    s = of.shift
    deviation = math.sqrt(math.expm1(s**2) * (1 + odds**2) - 2 * odds * math.expm1(-(s**2)))
    others = of.rounds - 1
    jump = max(_place(of.height, s, odds), deviation)
    mean, spread = others * (1 - odds), deviation * math.sqrt(others)
    cut = max(jump, _CUT * spread)
    half = max(_SPREADS * spread + cut, abs(mean) + 2 * cut)
    bins = min(_MOST_BINS, 1 << round(math.log2(2 * half * steps / deviation)))
    tilt = min(weight[0] * abs(mean) / spread**2, weight[1] / jump)
    return _Grid(odds, 2 * half / bins, bins, mean, -cut, mean - _KNOWN * spread, tilt)


def _place(x: float, shift: float, odds: float) -> float:
    return math.exp(shift * x - 0.5 * shift**2) - odds * math.exp(-shift * x - 0.5 * shift**2)


def profile_above(of: Block, epsilon: float, steps: int) -> float:
    """At least H_gamma of the block at gamma = e^epsilon >= 1.

    steps: about, grid points in a standard deviation of Z.
    """
    grid = _grid(of, math.exp(epsilon) * (1 - 4 * UNIT), steps)  # a smaller gamma, a larger H
    s, odds, at = of.shift, grid.odds, of.jump
    places = np.exp(s * of.edges - 0.5 * s**2) - odds * np.exp(-s * of.edges - 0.5 * s**2)
    size = np.exp(s * np.abs(of.edges) - 0.5 * s**2) * (1 + odds)
    slack = np.maximum(size[:-1], size[1:]) * (4 * of.error + 64 * UNIT)
    ends = places[:-1] - slack, places[1:] + slack
    mean = (of.ahead - odds * of.behind) / of.none + slack
    low = np.floor(np.maximum(ends[0][:at], grid.cut) / grid.step).astype(np.int64)
    high = np.maximum(np.ceil(np.maximum(ends[1][:at], grid.cut) / grid.step).astype(np.int64), low + 1)
    share = np.clip((mean[:at] / grid.step - low) / (high - low) + 1e-13, 0.0, 1.0)
    share = np.where(ends[0][:at] < grid.cut, 1.0, share)  # enlarged
    first = int(low.min())
    count = int(high.max()) - first + 1
    masses = np.bincount(low - first, of.none[:at] * (1 - share), count)
    masses = masses + np.bincount(high - first, of.none[:at] * share, count)
    masses[high[0] - first] += float(ndtr(of.edges[0])) * (1 + 1e-9)
    index = np.arange(first, first + count)
    error = 2 * of.error + UNIT * (4 * of.none.size + 32)
    found = np.asarray(masses[masses > 0], dtype=float)
    sums = _Sums.of(grid, of.rounds - 1, index[masses > 0], found, error, End.UPPER)
    whole = float(masses @ sums.positive(np.asarray(index * grid.step, dtype=float)))
    width = ends[1][at:] - ends[0][at:]
    share = np.clip((mean[at:] - ends[0][at:]) / width + 1e-13, 0.0, 1.0)
    one = of.none[at:] @ ((1 - share) * sums.positive(ends[0][at:]) + share * sums.positive(ends[1][at:]))
    return min(1.0, (whole / of.rounds + float(one)) * (1 + error + 1e-9) + of.lost)


def profile_below(of: Block, epsilon: float, steps: int, known: float = math.inf) -> float:
    """At most H_gamma of the block at gamma = e^epsilon >= 1. known: a bound from above, if there is one."""
    found = 0.0
    odds = math.exp(epsilon) * (1 + 4 * UNIT)  # a larger gamma, a smaller H
    for weight in _WEIGHTS:
        found = max(found, _below(of, _grid(of, odds, steps, weight)))
        if found >= _CLOSE * known:
            break
    return found


def _below(of: Block, grid: _Grid) -> float:
    s, odds, at = of.shift, grid.odds, of.jump
    last = math.ceil(_place(of.height, s, odds) / grid.step)
    if last <= math.floor(grid.cut / grid.step) + 2:
        return 0.0
    index = np.arange(math.floor(grid.cut / grid.step), last + 1)
    places = np.asarray(index * grid.step, dtype=float)
    masses = contracted(s, odds, places, of.height)
    kept = masses > 0
    sums = _Sums.of(grid, of.rounds - 1, index[kept], masses[kept], 32 * UNIT, End.LOWER)
    whole = float(masses @ sums.positive(places))
    size = np.exp(s * of.edges[at + 1 :] - 0.5 * s**2) * (1 + odds)
    mean = (of.ahead[at:] - odds * of.behind[at:]) / of.none[at:] - size * (4 * of.error + 64 * UNIT)
    one = float(of.none[at:] @ sums.positive(mean)) * (1 - of.error)
    return max(0.0, (whole / of.rounds + one) * (1 - 1e-9))


def values_above(of: Block, epsilons: Floats, steps: int) -> Floats:
    """`profile_above` at these, ascending; it falls, so that where next to nothing is left no further one is asked."""
    found = np.ones(epsilons.size)
    for at, epsilon in enumerate(epsilons.tolist()):
        found[at:] = profile_above(of, epsilon, steps)
        if found[at] < 3 * of.lost:
            break
    return found


def contracted(shift: float, odds: float, grid: Floats, height: float) -> Floats:
    """Masses on a uniform grid, below Z where x <= height, and nothing elsewhere, in the increasing convex order."""
    from scipy.optimize import isotonic_regression  # here, since importing the accountants would take twice as long

    middle = 0.5 * (grid[:-1] + grid[1:]) * math.exp(0.5 * shift**2)
    root = np.sqrt(middle * middle + 4 * odds)
    above = np.where(middle > 0, 0.5 * (middle + root), 2 * odds / (root - middle))
    at = np.minimum(np.log(above) / shift, height)
    at[0], at[-1] = -np.inf, height  # lines: all of Z, and 0
    ends = ndtr(shift - height), ndtr(-height), odds * ndtr(-shift - height)
    ahead, none, behind = ndtr(shift - at) - ends[0], ndtr(-at) - ends[1], odds * ndtr(-shift - at) - ends[2]
    size = ndtr(shift - at) + odds * ndtr(-shift - at)
    low, high = (ahead - behind - g * none - 256 * UNIT * (size + np.abs(g) * ndtr(-at)) for g in (grid[:-1], grid[1:]))
    low, high = np.where(high > 0, low, 0.0), np.maximum(high, 0.0)  # 0 is such a line as well
    line = np.concatenate([low[:1], np.minimum(high[:-1], low[1:]), high[-1:]])
    step = (float(grid[-1]) - float(grid[0])) / (grid.size - 1)
    # slopes of the largest convex function below the points: the isotonic regression of the chords' slopes
    slopes = np.minimum(isotonic_regression(np.diff(line) / step).x, 0.0)
    masses = np.maximum(np.append(np.diff(slopes), -slopes[-1]), 0.0)  # from the second place on
    # slopes are means of numbers of one sign, and E(Z' - g)_+ a sum of them: each known to `size` roundings
    masses *= 1 - 16 * UNIT * grid.size
    whole = float(ndtr(height)) * (1 - 1e-12)
    return np.concatenate([[max(0.0, whole - float(np.sum(masses)))], masses])


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Bounds of U: sums of masses, and of masses times places, from each place of the window up."""

    places: Floats
    mass: Floats
    moment: Floats
    sizes: Floats
    beyond: float
    end: End
    most: float

    @classmethod
    def of(cls, grid: _Grid, rounds: int, index: NDArray[np.int64], masses: Floats, error: float, end: End) -> _Sums:
        scores = Scores(index, grid.step, grid.bins, grid.mean)
        law = by_one_tilt(scores, masses, rounds, error, grid.tilt)
        above = end is End.UPPER
        values = law.high if above else law.low
        places = scores.window() * grid.step
        mass, moment, sizes = (
            np.append(np.cumsum(part[::-1])[::-1], 0.0) for part in (values, values * places, values * np.abs(places))
        )
        beyond = moment_beyond(scores, [(masses, rounds)]) if above else 0.0
        most = -max(grid.low, float(places[0])) if above else math.inf
        return cls(places.astype(float), mass, moment, sizes, beyond, end, most)

    def positive(self, wanted: Floats) -> Floats:
        """U at each of these, at least or at most.

        Of sums beyond the window (T + z)_+ <= T (1 + |z| / its end). The tilt's masses of sums far below are of no use
        from above: from `most` on U is continued with slope 1, which is the largest it has.
        """
        added = np.minimum(wanted, self.most)
        at = np.searchsorted(self.places, -added, side="right")
        mass, moment = self.mass[at], self.moment[at]
        size = np.abs(added) * mass + self.sizes[at]
        outside = self.beyond * (1 + np.abs(added) / self.places[-1]) if self.beyond else 0.0
        return np.maximum(moment + added * mass + self.end.value * _ROUNDING * size + outside, 0.0) + (wanted - added)
