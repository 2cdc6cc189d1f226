"""Cells of pairs that say how likely a loss above a given one is: equal widths between the knees, and the two ends."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

from ...rounding import UNIT, float_above, float_below
from .cells import Cells

if TYPE_CHECKING:
    from ...pairs.cut import CutPair

_BITS = 160

_MOST = 16_384
"""Cells of one pair: each takes some 25 microseconds."""


@lru_cache(maxsize=16)
def cut_cells(pair: CutPair, count: int, tail: float) -> Cells:
    """The masses between losses are differences of what lies above them, in balls; what is tiny is stray."""
    with ctx.workprec(_BITS):
        ends, knees = pair.ends(), pair.knees()
        bulk = [arb(float(edge)) for edge in np.linspace(*pair.bulk(tail), min(count, _MOST) + 1)]
        edges = [knees[0], *(edge for edge in bulk if edge > knees[0] and edge < knees[1]), knees[1]]
        beyond = [pair.above(edge) for edge in edges]
        infinite, only_q = pair.failure()[0], pair.only_q()
        last = beyond[-1][0] - infinite, beyond[-1][1]
        masses = [(1 - beyond[0][0], 1 - only_q - beyond[0][1])]
        masses += [(a[0] - b[0], a[1] - b[1]) for a, b in pairwise(beyond)]
        masses.append(last)
        lows, highs = [ends[0], *edges[:-1], ends[1]], [ends[0], *edges[1:], ends[1]]
        low = np.array([float_below(loss) for loss in lows])
        high = np.array([float_above(loss) for loss in highs])
        p, q = (np.array([max(0.0, float(mass.mid())) for mass in side]) for side in zip(*masses, strict=True))
        radius = np.array([max(float(mass.rad()) for mass in both) for both in masses])
        only = [0.0 if mass.is_zero() else float_above(mass) for mass in (infinite, only_q)]
    least = np.minimum(p, q)
    known = radius < 1e-9 * least
    stray = float(np.sum(np.maximum(p, q)[~known] + radius[~known])) * (1 + 2.0**-40)
    error = radius[known] / least[known] + 8 * UNIT
    return Cells(p[known], q[known], low[known], high[known], error, only[0], only[1], stray)
