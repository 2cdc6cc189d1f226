"""Where the line of outcomes is cut into cells: where a pair's loss bends, and finely where it counts.

Any cut is valid; a good one is narrow with few cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....mechanisms.arrays import Floats
from ...pairs.order import Sampling
from .cells import Cells
from .sampled_cells import sampled_cells
from .zeroed_cells import opposed_cells, span

if TYPE_CHECKING:
    from ...pairs.location import LocationPair
    from ...pairs.subsampled import SubsampledPair
    from ...pairs.zero_out import OpposedPair

_COARSE = 1024
_GRADED = 0.8
"""Share of the edges placed by importance; the rest are spread evenly."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """How finely continuous pairs are cut: the number of cells, the mass of a tail that may be left to the
    pessimist's infinity and the optimist's nothing, and what the cells should serve best: eps about epsilon, where
    delta falls like e^{-tilt eps}. fineness: the least of laws that are cut in a way of their own."""

    cells: int
    tilt: float
    tail: float
    epsilon: float = math.inf
    fineness: float = 0.0


def even_edges(base: LocationPair, resolution: Resolution) -> Floats:
    """Of cells of equal width."""
    left, right = base.span(resolution.tail, 0.0)
    inner = np.linspace(left, right, min(resolution.cells, _COARSE) + 1)
    return np.unique(np.concatenate([inner, base.outer, [0.0, base.shift]]))


def sampled_edges(base: LocationPair, pair: SubsampledPair, resolution: Resolution) -> Floats:
    """For a round of this noise behind a coin."""
    lowest = -base.shift if pair.order == Sampling.REPLACE else 0.0
    left, right = base.span(resolution.tail, lowest)
    forced = [left, lowest, 0.0, 0.5 * base.shift, base.shift, right]
    fine = graded(lambda edges: sampled_cells(base, pair.order, pair.rate, edges, resolution.tail), forced, resolution)
    return np.unique(np.concatenate([fine, base.outer]))


def opposed_edges(pair: OpposedPair, resolution: Resolution) -> Floats:
    """For two sampled neighbours on either side of 0."""
    return graded(lambda edges: [opposed_cells(pair, edges, resolution.tail)], span(pair, resolution.tail), resolution)


def graded(cut: Callable[[Floats], list[Cells]], forced: list[float], resolution: Resolution) -> Floats:
    """Edges whose number in a place grows with (tilted mass * width^2)^(1/3) there, the forced ones among them.

    forced: from the first edge to the last.
    """
    left, right = forced[0], forced[-1]
    coarse = np.unique(np.concatenate([np.linspace(left, right, _COARSE + 1), forced]))
    importance = np.zeros(coarse.size - 1)
    for sheet in cut(coarse):
        if sheet.p.size == importance.size:
            with np.errstate(divide="ignore"):
                near = np.minimum(sheet.high, 2 * resolution.epsilon - sheet.high)  # past eps the payoff is not curved
                exponent = np.log(sheet.p) + resolution.tilt * near + 2 * np.log(sheet.high - sheet.low)
            importance += np.exp((exponent - np.max(exponent)) / 3) if np.isfinite(np.max(exponent)) else 0.0
    density = _GRADED * importance / np.sum(importance) + (1 - _GRADED) * np.diff(coarse) / (right - left)
    cumulative = np.concatenate([[0.0], np.cumsum(density)])
    fine = np.interp(np.linspace(0, cumulative[-1], resolution.cells + 1), cumulative, coarse)
    # no cell so narrow that rounding could take it to the wrong side of a forced edge
    apart = np.min(np.abs(fine[:, None] - np.array(forced)), axis=1) > 1e-9 * (right - left)
    return np.unique(np.concatenate([fine[apart], forced]))
