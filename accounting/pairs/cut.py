"""Pairs that say how likely a loss above a given one is: densities between two losses, with masses at the ends."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb, ctx

from ..losses.atoms import laws
from ..losses.atoms.cells import Cells
from ..rounding import UNIT, float_above, float_below
from .pair import Pair

_BITS = 160

_MOST = 16_384
"""Cells of one pair: each takes some 25 microseconds."""


class CutPair(Pair):
    """A pair that a subclass, a frozen dataclass, describes by `ends`, `knees` and `above`; all else follows.

    The loss has a density between the knees, and masses at the ends, which are at or beyond the knees; outcomes that Q
    never has are `failure`, those that P never has `only_q`.
    """

    __slots__ = ()

    def ends(self) -> tuple[arb, arb]:
        """The smallest and the largest finite loss."""
        raise NotImplementedError

    def knees(self) -> tuple[arb, arb]:
        """Between which losses there is a density."""
        return self.ends()

    def above(self, loss: arb) -> tuple[arb, arb]:
        """P(L > loss) and Q(L > loss) between the ends; at the largest loss, P(L >= loss) and Q(L >= loss)."""
        raise NotImplementedError

    def bulk(self, tail: float) -> tuple[float, float]:
        """Between which losses cells are worth having: beyond, P and Q have about this mass, or there are none."""
        low, high = self.knees()
        return float(low.mid()), float(high.mid())

    def only_q(self) -> arb:
        """A ball that holds Q(P never has the outcome): as much as P's own, for a pair that is its mirror image."""
        return self.failure()[0]

    def losses(self) -> laws.Losses | None:
        """Between losses that are evenly spaced."""
        return laws.of_cells(lambda resolution: cut_cells(self, resolution.cells, resolution.tail))

    def profile(self, epsilon: arb) -> arb:
        """Continuous: at an end the mass there counts for nothing, so that either side's formula serves."""
        low, high = self.ends()
        if epsilon >= high:
            return self.failure()[0]
        if epsilon <= low:
            return 1 - epsilon.exp() * (1 - self.only_q())
        p, q = self.above(epsilon)
        inner = p - epsilon.exp() * q
        if not epsilon < high:
            inner = inner.union(self.failure()[0])
        return inner if epsilon > low else inner.union(1 - epsilon.exp() * (1 - self.only_q()))

    def supremum(self) -> arb | None:
        return self.ends()[1] if self.failure()[0] == 0 else None


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
