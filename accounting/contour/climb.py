"""A bound on |E[e^{tL}]| over an interval of x, for all t = c + is with s at least some S, by a climbing path.

As in envelope.py, the path's height follows the loss's slope, which jumps make steep at the interval's right end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bracket import OutOfReach
from .paths import Real, Sampled
from .range import cell_masses, factors, log_mixture


@dataclass(frozen=True, slots=True)
class Cells:
    """The real integrand at t = c in cells: bounds on its integrals relative to the moment, and its value at both ends.

    share: of the jump in the density, at the cells' ends.
    """

    pair: Sampled
    c: float
    ends: Real
    share: Real
    least: Real
    most: Real
    edges: Real

    @classmethod
    def of(cls, pair: Sampled, c: float, ends: Real, log_moment: float) -> Cells:
        """log_moment: at least log E[e^{cL}]."""
        (branch,) = factors("remove", c)
        least, most = cell_masses(pair, branch, ends)
        if not np.max(most) - log_moment < 100.0:
            raise OutOfReach("the integrand varies too fast for its cells")
        log_edges = -0.5 * ends[[0, -1]] ** 2 + (1.0 + c) * log_mixture(pair, ends[[0, -1]]) - log_moment
        logit = math.log(pair.rate) - math.log1p(-pair.rate) - 0.5 * pair.shift**2
        share = 1.0 / (1.0 + np.exp(-np.clip(logit + pair.shift * ends, -600.0, 600.0)))
        edges = 0.4 * np.exp(log_edges)
        return cls(pair, c, ends, share, np.exp(least - log_moment), np.exp(most - log_moment), edges)

    def log_bound(self, frequency: float) -> float:
        """At least log(|E[e^{(c + is)L}]| / moment) for every s >= frequency > 0."""
        shift, share = self.pair.shift, self.share
        y = np.minimum(min(1.2, 1.5 / shift), frequency * shift / (1.0 + shift * shift) * share)
        slope = np.diff(y) / np.diff(self.ends)
        angle = np.arctan2(share * np.sin(shift * y), 1.0 - share + share * np.cos(shift * y))
        product = share * (1.0 - share)
        log_ratio = 0.5 * y[1:] ** 2 + 0.5 * np.log1p(slope * slope) - frequency * angle[:-1]
        narrow = np.minimum(product[1:], product[:-1]) * np.sin(0.5 * shift * y[:-1]) ** 2
        log_ratio += 0.5 * (1.0 + self.c) * np.log1p(-4.0 * narrow)
        change = np.expm1(np.minimum(log_ratio, 700.0))
        outside = self.edges * np.exp(0.5 * y[[0, -1]] ** 2) * y[[0, -1]]
        outside = outside * np.where(share[[0, -1]] < 0.5, np.minimum(1.0, 1.0 / (frequency * angle[[0, -1]])), 1.0)
        by_change = 1.0 + float(np.where(change > 0.0, self.most * change, self.least * change).sum())
        direct = float((self.most * (1.0 + change)).sum())
        return math.log(min(by_change, direct) + 1.001 * float(outside.sum()) + 1e-12)
