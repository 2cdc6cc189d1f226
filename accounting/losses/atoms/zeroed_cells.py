"""Cells of the pairs of zero-out in a cohort of fixed size (dominating_pairs.md, "Zero-out, Gaussian noise").

The line is moved so that the loss of the opposed pair is 0 at x = 0: the substitute is then at -3s/2, the unit at s/2,
the zero at -s/2, and with w = e^{sx}, E = e^{s^2}

    L(x) = log(1 - r + r E w^2) - log(1 - r + r E w),

which falls from 0 (at -infinity) to its one minimum, at the root w < 1 of r E w^2 + 2 (1 - r) w = 1 - r, then rises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Floats
from ...pairs import gaussian, zero_out
from ...pairs.gaussian import gaussian_masses
from ...pairs.order import Order, Sampling
from ...rounding import UNIT
from .cells import Cells
from .sampled_cells import location_cells, mixed_loss, sheets

_CLEAR = 1e-9
"""Relative margin, far above rounding, by which a cell is known to lie on one side of the minimum."""


def span(pair: zero_out.OpposedPair, tail: float) -> list[float]:
    """Edges of the moved line that must be there, from the first to the last."""
    left, right = gaussian.GaussianPair(0.5 * pair.shift).span(tail, -1.5 * pair.shift)
    return [left, -1.5 * pair.shift, 0.0, 0.5 * pair.shift, right]


def opposed_cells(pair: zero_out.OpposedPair, edges: Floats, tail: float) -> Cells:
    """The cells of an opposed pair between consecutive edges of the moved line."""
    s, rate = pair.shift, pair.rate
    (rest, e1), (unit, e2), (zero, e3) = (gaussian_masses(edges, centre * s) for centre in (-1.5, 0.5, -0.5))
    p, q = (1 - rate) * rest + rate * unit, (1 - rate) * rest + rate * zero
    low, high = _losses(s, rate, edges)
    cells = Cells(p, q, low, high, np.maximum(np.maximum(e1, e2), e3) + 8 * UNIT, stray=2 * tail)
    return cells if pair.order == Order.REMOVE else cells.mirrored()


def _losses(s: float, rate: float, edges: Floats) -> tuple[Floats, Floats]:
    """Bounds of the loss on each cell; |L'| <= 2s serves where the minimum may be in it."""
    ahead, behind = s * (2 * edges + s), s * (edges + s)
    first, first_slack = mixed_loss(ahead, rate)
    second, second_slack = mixed_loss(behind, rate)
    slack = first_slack + second_slack + 8 * UNIT * (np.abs(s * edges) + s * s) + 4 * UNIT * np.abs(first - second)
    low, high = first - second - slack, first - second + slack
    rising = rate * np.exp(np.minimum(ahead, 700.0)) + 2 * (1 - rate) * np.exp(np.minimum(s * edges, 700.0))
    right, left = rising[:-1] > (1 - rate) * (1 + _CLEAR), rising[1:] < (1 - rate) * (1 - _CLEAR)
    least, most = np.minimum(low[:-1], low[1:]), np.maximum(high[:-1], high[1:])
    return np.where(left | right, least, least - 2.0 * s * np.diff(edges)), most


def zeroed_cells(pair: zero_out.ZeroedPair, edges: Floats, others: Floats, tail: float) -> list[Cells]:
    """The cells of a zeroed pair: the opposed pair's above 0, those of "add" below 0, and the rest, at loss 0.

    edges: of the opposed pair's line; others: of the line on which N(shift) and N(0) are apart, shift/2 among them.
    """
    s, rate = pair.shift, pair.rate
    above = _part(opposed_cells(zero_out.OpposedPair(s, rate, Order.REMOVE), edges, tail), edges[:-1] >= 0)
    (removed,) = sheets(location_cells(gaussian.GaussianPair(s), others, tail), Sampling.REMOVE, rate)
    below = _part(removed, others[:-1] >= 0.5 * s).mirrored()
    middle, error = gaussian_masses(np.array([-1.5 * s, 0.5 * s]), 0.0)
    at_zero = Cells((1 - rate) * middle, (1 - rate) * middle, np.zeros(1), np.zeros(1), error + 16 * UNIT)
    cells = [above, below, at_zero]
    return cells if pair.order == Order.REMOVE else [part.mirrored() for part in cells]


def _part(cells: Cells, kept: NDArray[np.bool_]) -> Cells:
    """The cells of losses of at least 0."""
    low = np.maximum(cells.low[kept], 0.0)
    ratio, ratio_error = (values[kept] for values in cells.log_ratio())
    return Cells(
        cells.p[kept],
        cells.q[kept],
        low,
        cells.high[kept],
        cells.error[kept],
        stray=cells.stray,
        ratio=ratio,
        ratio_error=ratio_error,
    )
