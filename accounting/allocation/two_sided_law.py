"""Two discrete laws of a loss from two-sided values of its profile, symmetric, at some epsilons.

Both have their losses on one grid, so that sums of them stay on it. H is convex in gamma, so that it lies

- below every chord of upper values, hence below the largest convex function under them at the nodes;
- above the line through an upper value and the next node's lower value, from that node on, and likewise backwards.

Each of the two functions of gamma is E(1 - gamma e^{-loss})_+ of the masses returned, plus `infinite`
(docs/theory/allocation.md, "Several blocks").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms
from .profile_nodes import minorant, second_differences, symmetric_law_above

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class GridLaw:
    """P-masses of the losses step * index, and of infinite loss."""

    step: float
    index: Indices
    masses: Floats
    infinite: float


def laws_between(step: float, nodes: Indices, upper: Floats, lower: Floats) -> tuple[GridLaw, GridLaw]:
    """(from above, from below), of a profile whose values at gamma = e^{step nodes} lie between upper and lower.

    nodes: ascending from 0, at least two apart. The profile is that of a symmetric pair: H at 1/gamma is 1 - 1/gamma +
    H(gamma)/gamma.
    """
    gamma = np.exp(step * nodes)
    index = np.concatenate([-nodes[:0:-1], nodes])
    odds = np.exp(step * index)
    high, low = (np.concatenate([(1 - 1 / gamma + each / gamma)[:0:-1], each]) for each in (upper, lower))
    above = on_grid(step, symmetric_law_above(step * index, upper))
    return above, _from_below(step, index, odds, high, low)


def on_grid(step: float, atoms: Atoms) -> GridLaw:
    """Of losses that are on it but for rounding."""
    return GridLaw(step, np.rint(atoms.loss / step).astype(np.int64), atoms.mass, atoms.infinite)


def _from_below(step: float, index: Indices, odds: Floats, high: Floats, low: Floats) -> GridLaw:
    """Vertices at the nodes, and where the lines from both sides meet, or next to it on the grid.

    There the height is that of the lower line, so that the edge to each neighbouring node stays below that node's own.
    """
    start, end = odds[:-1], odds[1:]
    low = np.concatenate([[max(0.0, 1 - odds[0])], low[1:-1], [0.0]])  # lines that are known without any value
    forwards = np.concatenate([[-1.0], (low[1:-1] - high[:-2]) / np.diff(odds)[:-1]])
    backwards = np.concatenate([(high[2:] - low[1:-1]) / np.diff(odds)[1:], [0.0]])
    meet = (low[1:] - low[:-1] + forwards * start - backwards * end) / np.minimum(forwards - backwards, -1e-300)
    meet = np.clip(meet, start * (1 + 1e-9), end * (1 - 1e-9))
    exact = np.log(meet) / step
    near = np.append(np.rint(exact[:-1]), math.floor(exact[-1])).astype(np.int64)  # the last line ends at 0
    between = np.clip(near, index[:-1] + 1, index[1:] - 1)
    place = np.exp(step * between)
    value = np.minimum(low[:-1] + forwards * (place - start), low[1:] + backwards * (place - end))
    low[:-1][value < 0] = 0.0  # where the line forwards ends below 0 at once, so does what is claimed
    value = np.maximum(value, 0.0)
    order = np.argsort(np.concatenate([index, between]))
    index = np.concatenate([index, between])[order]
    at = np.concatenate([[0.0], np.exp(step * index)])
    height = np.concatenate([[1.0], np.concatenate([low, value])[order]])
    kept = minorant(at, height)
    at, height = at[kept], height[kept]
    masses = second_differences(at, height)
    found = _profile(at, masses)
    over = max(0.0, float(np.max(found / np.maximum(height, 1e-300), where=found > 1e-280, initial=0.0)) - 1)
    return GridLaw(step, index[kept[1:] - 1], masses * max(0.0, 1 - over - 1e-12), 0.0)


def _profile(at: Floats, masses: Floats) -> Floats:
    return np.array([float(masses @ np.maximum(1 - x / at[1:], 0.0)) for x in at])
