"""One of t rounds, a replaced unit: a law of the loss that dominates a block's, by its worst contributions.

The unit contributes u, or -u: with L = e^{sx - s^2/2} and L' = e^{-sx - s^2/2}, x normal, the block's profile is

    H_gamma = E(Z_1 + ... + Z_t)_+ / t,   Z_i independent, distributed as Z = L - gamma L'

(docs/theory/allocation.md, "Replaced"). (.)_+ grows and is convex, so that splitting Z on to a grid around its mean,
and enlarging it, bounds from above; the sum's law comes from tilted transforms. Chords between a few gammas lie above
the profile, and are the profile of a discrete pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from ...mechanisms.arrays import Floats
from ..measures.lattices.cells import Atoms
from ..pairs import GaussianPair, Pair, ReplacedAllocationPair
from ..pairs.gaussian import gaussian_masses
from ..rounding import UNIT
from .tilted_sums import Scores, law_of_scores, moment_beyond

_CELLS_PER_SPREAD = 400
_NODES_PER_SPREAD, _BULK, _RATIO = 8, 7.0, 1.15
"""Nodes in epsilon: this many in a spread of the loss, up to so many spreads, and then in this ratio."""


@dataclass(frozen=True, slots=True)
class Grid:
    """steps: in a standard deviation of Z. most: of the transforms' sizes."""

    steps: int
    most: int


_COARSE = Grid(12, 1 << 17)

_LOWEST = 6.0
"""Outcomes with x below -s - 6 are enlarged to those at it."""

_SCALE, _TILTS = 20.0, (1.0,)
"""The one tilt, in units in which the largest Z is 20: more take longer and change nothing down to delta = 1e-9."""


_LARGEST_SHIFT, _MOST_ROUNDS = 2.0, 10**6
"""Shifts and rounds up to which a grid can hold a block's jumps."""


def known_shift(pair: Pair) -> float | None:
    """The shift of a round of a replaced unit's block with one participation and jumps that a grid can hold."""
    if not isinstance(pair, ReplacedAllocationPair):
        return None
    apart = pair.apart
    if not isinstance(apart.base, GaussianPair) or apart.participations != 1:
        return None
    held = 1e-3 <= apart.base.shift <= _LARGEST_SHIFT and 1 < apart.rounds <= _MOST_ROUNDS
    return apart.base.shift if held else None


@lru_cache(maxsize=16)
def losses_of_replaced(shift: float, rounds: int, tail: float) -> Atoms:
    """A law whose pair dominates that of a block; the pair is symmetric.

    shift: 1 / noise_multiplier, at least. tail: P-mass that becomes infinite loss, about.
    """
    variance = 2 * math.expm1(shift**2) - 2 * math.expm1(-(shift**2))
    spread = math.sqrt(variance / rounds)
    last = 2 * shift * (shift + math.sqrt(-2 * math.log(tail)))
    nodes = list(np.arange(0, _BULK * _NODES_PER_SPREAD + 1) * (spread / _NODES_PER_SPREAD))
    while nodes[-1] < last:
        nodes.append(nodes[-1] * _RATIO)
    values = []
    for node in nodes:
        values.append(profile_above(shift, rounds, node, tail))
        if values[-1] < 2 * tail:
            break
    return _atoms(np.array(nodes[: len(values)]), np.array(values))


def profile_above(shift: float, rounds: int, epsilon: float, tail: float, grid: Grid = _COARSE) -> float:
    """At least H_gamma of one block at gamma = e^epsilon >= 1."""
    odds = math.exp(epsilon) * (1 - 4 * UNIT)  # a smaller gamma, a larger H
    reach = math.sqrt(-2 * math.log(tail))
    edges = np.linspace(-shift - _LOWEST, shift + reach, math.ceil((2 * shift + reach + _LOWEST) * _CELLS_PER_SPREAD))
    places = np.exp(shift * edges - 0.5 * shift**2) - odds * np.exp(-shift * edges - 0.5 * shift**2)
    deviation = math.sqrt(math.expm1(shift**2) * (1 + odds**2) - 2 * odds * math.expm1(-(shift**2)))
    largest = float(places[-1])
    if largest <= 0:
        return tail  # no outcome inside the edges reaches the odds
    size = 16 * deviation * math.sqrt(rounds) + 2 * largest - float(places[0])
    step = max(deviation / grid.steps, 2 * size / grid.most)
    index, masses, error = _split(edges, places, shift, odds, step)
    bins = 1 << math.ceil(math.log2(size / step))
    scores = Scores(index, step * _SCALE / largest, bins, rounds * (1 - odds) * _SCALE / largest)
    law = law_of_scores(scores, [(masses, rounds)], error, _TILTS)
    window = scores.window()
    positive = window > 0
    inside = float(np.sum(law.high[np.mod(window[positive], bins)] * window[positive])) * step
    beyond = moment_beyond(scores, [(masses, rounds)]) * (largest / _SCALE)
    return min(1.0, (inside + beyond) / rounds * (1 + 1e-9) + tail)


def _split(
    edges: Floats, places: Floats, shift: float, odds: float, step: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Floats, float]:
    """Grid points, the mass on each, and a bound of the masses' relative error.

    Each cell's mass goes to two grid points around it, with a mean that is at least the cell's: by `unsure` more.
    """
    (ahead, e1), (none, e2), (behind, e3) = (gaussian_masses(edges, centre) for centre in (shift, 0.0, -shift))
    error = float(max(np.max(e1), np.max(e2), np.max(e3)))
    size = np.exp(shift * np.abs(edges) - 0.5 * shift**2) * (1 + odds)
    slack = np.maximum(size[:-1], size[1:]) * (4 * error + 64 * UNIT)
    low = np.floor((places[:-1] - slack) / step).astype(np.int64)
    high = np.maximum(np.ceil((places[1:] + slack) / step).astype(np.int64), low + 1)
    mean = (ahead - odds * behind) / none + slack
    share = np.clip((mean / step - low) / (high - low) + 1e-13, 0.0, 1.0)
    first = int(low.min())
    count = int(high.max()) - first + 1
    masses = np.bincount(low - first, none * (1 - share), count) + np.bincount(high - first, none * share, count)
    # below all cells: enlarged to a place above them; beyond: cut there, what is cut off is P-mass of the tail's
    masses[high[0] - first] += float(ndtr(edges[0])) * (1 + 1e-9)
    masses[-1] += float(ndtr(-edges[-1])) * (1 + 1e-9)
    kept = masses > 0
    index = np.arange(first, first + count)[kept]
    return index, masses[kept].astype(float), 2 * error + UNIT * (4 * none.size + 32)


def _atoms(nodes: Floats, values: Floats) -> Atoms:
    """The symmetric pair whose profile is the largest convex function below the values, which are those at gamma >= 1.

    A convex function below the values at the nodes is below the chords between vertices of that one.
    """
    gammas = np.exp(nodes)
    mirrored = 1 - 1 / gammas[1:] + values[1:] / gammas[1:]
    at = np.concatenate([[0.0], 1 / gammas[:0:-1], gammas])
    height = np.concatenate([[1.0], mirrored[::-1], values])
    kept = minorant(at, height)
    at, height = at[kept], height[kept]
    slopes = np.append(np.diff(height) / np.diff(at), 0.0)
    q = np.maximum(np.diff(slopes), 0.0)
    gamma = at[1:]
    p, loss = q * gamma, np.log(gamma)
    found = np.array([float(p @ np.maximum(1 - x / gamma, 0.0)) for x in at])
    infinite = max(0.0, float(np.max(height - found))) + 1e-13
    return Atoms(loss + UNIT * (16 + 4 * np.abs(loss)), p, infinite)


def minorant(at: Floats, height: Floats) -> list[int]:
    """Vertices of the largest convex function below the points (Andrew's chain)."""
    chain: list[int] = []
    for here in range(at.size):
        while len(chain) > 1:
            one, other = chain[-2], chain[-1]
            rise, run = height[other] - height[one], at[other] - at[one]
            if rise * (at[here] - at[one]) < (height[here] - height[one]) * run:
                break
            chain.pop()
        chain.append(here)
    return chain
