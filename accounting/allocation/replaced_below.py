"""One of t rounds, a replaced unit: a block's profile from below.

With Z as in replaced.py and U(g) = E(Z - g)_+, any x0 gives a line below U: E(Z - g) 1{x > x0}. A law on a grid whose
own E(Z' - g)_+ is, at the grid's points, below such lines of both neighbouring intervals, and convex, is below Z in
the increasing convex order, and so are sums of such laws (docs/theory/allocation.md, "Replaced").
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from ...mechanisms.arrays import Floats
from ..rounding import UNIT
from .replaced import Grid, minorant
from .tilted_sums import Scores, law_of_scores, probability_below

_SCALE = 20.0
"""As in replaced.py."""

_LOWEST = 6.0
"""Outcomes with x below -s - 6 are not told apart."""


def profile_below(shift: float, rounds: int, epsilon: float, tail: float, grid: Grid) -> float:
    """At most H_gamma of one block at gamma = e^epsilon >= 1. tail: P-mass of outcomes that count for nothing."""
    odds = math.exp(epsilon) * (1 + 4 * UNIT)  # a larger gamma, a smaller H
    deviation = math.sqrt(math.expm1(shift**2) * (1 + odds**2) - 2 * odds * math.expm1(-(shift**2)))
    ends = [_place(x, shift, odds) for x in (-shift - _LOWEST, shift + math.sqrt(-2 * math.log(tail)))]
    if ends[1] <= 0:
        return 0.0
    size = 16 * deviation * math.sqrt(rounds) + 2 * ends[1] - ends[0]
    step = max(deviation / grid.steps, 2 * size / grid.most)
    first, masses = contracted(shift, odds, step, math.floor(ends[0] / step), math.ceil(ends[1] / step))
    largest = ends[1] + 2 * step
    bins = 1 << math.ceil(math.log2(size / step))
    index = np.arange(first, first + masses.size)
    scores = Scores(index, step * _SCALE / largest, bins, rounds * (1 - odds) * _SCALE / largest)
    law = law_of_scores(scores, [(masses, rounds)], 32 * UNIT, (1.0,))
    window = scores.window()
    positive = window > 0
    inside = float(np.sum(law.low[np.mod(window[positive], bins)] * window[positive])) * step
    # a residue may stand for a sum below the window, of which it says nothing: those are few
    below = probability_below(scores, [(masses, rounds)]) * float(window[-1]) * step
    return max(0.0, (inside - below) / rounds * (1 - 1e-9))


def _place(x: float, shift: float, odds: float) -> float:
    return math.exp(shift * x - 0.5 * shift**2) - odds * math.exp(-shift * x - 0.5 * shift**2)


def contracted(shift: float, odds: float, step: float, first: int, last: int) -> tuple[int, Floats]:
    """The place of the first mass on the grid, and a law on it that is below Z in the increasing convex order."""
    grid = np.asarray(step * np.arange(first, last + 1), float)
    middle = 0.5 * (grid[:-1] + grid[1:]) * math.exp(0.5 * shift**2)
    root = np.sqrt(middle * middle + 4 * odds)
    above = np.where(middle > 0, 0.5 * (middle + root), 2 * odds / (root - middle))
    at = np.log(above) / shift
    at[0], at[-1] = -np.inf, np.inf  # lines: E Z - g, and 0
    ahead, none, behind = ndtr(shift - at), ndtr(-at), odds * ndtr(-shift - at)
    size = ahead + behind
    low, high = (ahead - behind - g * none - 256 * UNIT * (size + np.abs(g) * none) for g in (grid[:-1], grid[1:]))
    low, high = np.where(high > 0, low, 0.0), np.maximum(high, 0.0)  # 0 is such a line as well
    height = np.concatenate([low[:1], np.minimum(high[:-1], low[1:]), high[-1:]])
    kept = minorant(grid, height)
    slopes = np.diff(np.interp(grid, grid[kept], height[kept])) / step
    masses = np.maximum(np.append(np.diff(slopes), -slopes[-1]), 0.0)  # from the second place on
    # rounding of a slope moves E(Z' - g)_+ by 2 UNIT of it times the grid's length: that many parts of the whole
    masses *= (1 - 1e-10) / max(1.0, float(np.sum(masses)))
    return first, np.concatenate([[1 - float(np.sum(masses))], masses])
