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
class Branch:
    """One branch's real integrand at t = c in cells: bounds on its integrals relative to the moment, and its value at
    both ends. factors: (sign, power) of each."""

    factors: tuple[tuple[int, float], ...]
    least: Real
    most: Real
    edges: Real


@dataclass(frozen=True, slots=True)
class Cells:
    """All branches. share: of the jump in the density, at the cells' ends and at what mirrors them; atom: relative."""

    pair: Sampled
    ends: Real
    shares: dict[int, Real]
    branches: tuple[Branch, ...]
    atom: float

    @classmethod
    def of(cls, pair: Sampled, c: float, ends: Real, log_moment: float) -> Cells:
        """log_moment: at least log E[e^{cL}]."""
        branches = []
        for branch in factors(pair.order, c):
            least, most = cell_masses(pair, branch, ends)
            if not np.max(most) - log_moment < 100.0:
                raise OutOfReach("the integrand varies too fast for its cells")
            edges = ends[[0, -1]]
            logs = -0.5 * edges**2 - log_moment
            for sign, power in branch:
                logs = logs + power * log_mixture(pair, sign * edges)
            branches.append(Branch(branch, np.exp(least - log_moment), np.exp(most - log_moment), 0.4 * np.exp(logs)))
        logit = math.log(pair.rate) - math.log1p(-pair.rate) - 0.5 * pair.shift**2
        shares = {
            sign: 1.0 / (1.0 + np.exp(-np.clip(logit + sign * pair.shift * ends, -600.0, 600.0))) for sign in (1, -1)
        }
        return cls(pair, ends, shares, tuple(branches), pair.atom * math.exp(-log_moment))

    def log_bound(self, frequency: float) -> float:
        """At least log(|E[e^{(c + is)L}]| / moment) for every s >= frequency > 0."""
        y = self._path(frequency)
        low, high, slope = np.minimum(y[1:], y[:-1]), np.maximum(y[1:], y[:-1]), np.diff(y) / np.diff(self.ends)
        lift = 0.5 * high**2 + 0.5 * np.log1p(slope * slope)
        by_change, direct, outside = 1.0, self.atom, 0.0
        for branch in self.branches:
            log_ratio = lift.copy()
            for sign, power in branch.factors:
                share = self.shares[sign]
                log_ratio += self._modulus(share[1:], share[:-1], power, low if power > 0.0 else high)
                log_ratio -= frequency * self._angle(np.minimum(share[1:], share[:-1]), low)
            change = np.expm1(np.minimum(log_ratio, 700.0))
            by_change += float(np.where(change > 0.0, branch.most * change, branch.least * change).sum())
            direct += float((branch.most * (1.0 + change)).sum())
            outside += self._verticals(branch, y[[0, -1]], frequency)
        return math.log(min(by_change, direct) + 1.001 * outside + 1e-12)

    def _path(self, frequency: float) -> Real:
        """Im x at the cells' ends: it follows the loss's slope, and starts from 0 where the hybrid pair's loss does."""
        shift, share = self.pair.shift, self.shares[1]
        if self.pair.order == "replace":
            share = share + self.shares[-1]
        y: Real = np.minimum(min(1.2, 1.5 / shift), frequency * shift / (1.0 + shift * shift) * share)
        return -y * np.expm1(self.ends[0] - self.ends) if self.pair.order == "hybrid" else y

    def _modulus(self, first: Real, second: Real, power: float, y: Real) -> Real:
        """At least power * log(|A + B e^{i angle}| / (A + B)) for shares B / (A + B) from first to second, at y."""
        products = first * (1.0 - first), second * (1.0 - second)
        if power > 0.0:
            product = np.minimum(*products)
        else:
            product = np.where((first - 0.5) * (second - 0.5) <= 0.0, 0.25, np.maximum(*products))
        result: Real = 0.5 * power * np.log1p(-4.0 * product * np.sin(0.5 * self.pair.shift * y) ** 2)
        return result

    def _angle(self, share: Real, y: Real) -> Real:
        """The mixture's angle, which increases in the share and in y."""
        turn = self.pair.shift * y
        result: Real = np.arctan2(share * np.sin(turn), 1.0 - share + share * np.cos(turn))
        return result

    def _verticals(self, branch: Branch, y: Real, frequency: float) -> float:
        """At least the integral along the segments from the path's ends to the real line."""
        logs, angle, concave = 0.5 * y * y, np.zeros(2), np.full(2, True)
        for sign, power in branch.factors:
            share = self.shares[sign][[0, -1]]
            logs = logs + (self._modulus(share, share, power, y) if power < 0.0 else 0.0)
            angle, concave = angle + self._angle(share, y), concave & (share < 0.5)
        damped = np.where(concave, np.minimum(1.0, 1.0 / np.maximum(frequency * angle, 1e-300)), 1.0)
        return float((branch.edges * np.exp(logs) * y * damped).sum())
