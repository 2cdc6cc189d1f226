"""A bound on |E[e^{tL}]| for all t = c + is with s at least some S: what the truncation of the inversion costs.

On a path x + i y(x), y >= 0, the integrand's modulus decreases in s, since the mixture's angle is >= 0 there; so the
integral of the modulus at s = S bounds the moment at every s >= S. It is summed over cells of x on which each
factor is monotone, at each factor's worst end (docs/theory/inversion.md, section 6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_ndtr, ndtr

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs.order import Sampling
from .integrand import SMALLER, cell_masses, factors, kept_range, log_growth
from .paths import Sampled
from .quadrature import Quadrature, Tilted

_TALLEST = 1.2
_WIDEST_ANGLE = 1.5
_BLURS = 3.0
"""Highest path, in units of a label's blur."""

_FINE, _COARSE = 128, 4.0
_LIGHT = 1e-4
"""Cells across where the nodes' weights are not light, and how much wider they are elsewhere."""

_OUTSIDE, _FEW_ROUNDS = 10.0, 50.0
"""-log of what may be left out of a round's bound, and of that of all rounds together."""

_SLACK = 1e-12
"""Far above the rounding of a few hundred relative masses, far below what matters to 1e6 rounds."""


@dataclass(frozen=True, slots=True)
class BranchCells:
    """One branch: its factors' (sign, power) and bounds on its real integral over each cell, relative to the moment."""

    factors: tuple[tuple[int, float], ...]
    least: Floats
    most: Floats


@dataclass(frozen=True)
class Envelope:
    """One pair's integrand on Re t = c, cut into cells.

    log_moment: at least log E[e^{cL}]. rise, slope: the path is y = height * rise, dy/dx = height * slope, at the
    cells' ends; rise increases and slope decreases. share, other: B/(A+B) at x and at -x for the mixture A + B.
    atom: relative to the moment; outside: bound on what is not in the cells, on any of the paths. hazard: at most
    density over probability of no label, in each cell, in units of the blur.
    """

    pair: Sampled
    c: float
    log_moment: float
    rise: Floats
    slope: Floats
    share: Floats
    other: Floats
    branches: tuple[BranchCells, ...]
    atom: float
    outside: float
    hazard: Floats | float

    def log_bound(self, frequency: float) -> float:
        """At least log |E[e^{(c + is)L}]| for every s >= frequency > 0."""
        widest = _widest(self.pair)
        gain, loss = self.balance
        height = min(widest, frequency * gain / max(loss, 0.1))
        lift = 0.5 * (height * self.rise[1:]) ** 2 + 0.5 * np.log1p((height * self.slope[:-1]) ** 2)
        lift += _label_lift(height * self.rise[1:] / self.pair.blur, self.hazard)
        by_change, direct = 1.0, self.atom
        for branch in self.branches:
            log_ratio = lift.copy()
            for sign, power in branch.factors:
                log_ratio += self._modulus(sign, power, height) - frequency * self._angle(sign, power, height)
            change = np.expm1(np.minimum(log_ratio, 700.0))
            by_change += float(np.sum(np.where(change > 0.0, branch.most, branch.least) * change))
            direct += float(np.sum(branch.most * (1.0 + change)))
        outside = self.outside + _closing(self.pair, self.c, height)
        return self.log_moment + math.log(min(by_change, direct) + outside * (1.0 + 2.0 * SMALLER) + _SLACK)

    @property
    def fall(self) -> float:
        """About how fast the bound's logarithm falls at first: -fall * frequency^2."""
        gain, loss = self.balance
        return 0.5 * gain**2 / max(loss, 0.1)

    @cached_property
    def balance(self) -> tuple[float, float]:
        """About E[rise dL/dx] and the factor of -height^2/2 in the log modulus, for choosing the height."""
        gain, loss = 0.0, 0.0
        for branch in self.branches:
            steepness, curvature = np.zeros(self.rise.shape), self.slope**2 + self.rise**2
            for sign, power in branch.factors:
                share = self.share if sign > 0 else self.other
                steepness += self.pair.shift * self.rise * share
                curvature -= power * share * (1.0 - share) * (self.pair.shift * self.rise) ** 2
            gain += float(branch.most @ (steepness[1:] + steepness[:-1])) / 2.0
            loss += float(branch.most @ (curvature[1:] + curvature[:-1])) / 2.0
        return gain, loss

    def _modulus(self, sign: int, power: float, height: float) -> Floats:
        """At least power * log(|A + B e^{i angle}| / (A + B)) on each cell."""
        share = self.share if sign > 0 else self.other
        product = share * (1.0 - share)
        if power >= 0.0:
            angle, product = self.pair.shift * height * self.rise[:-1], np.minimum(product[1:], product[:-1])
        else:
            straddles = (share[1:] - 0.5) * (share[:-1] - 0.5) <= 0.0
            angle = self.pair.shift * height * self.rise[1:]
            product = np.where(straddles, 0.25, np.maximum(product[1:], product[:-1]))
        result: Floats = 0.5 * power * np.log1p(-4.0 * product * np.sin(0.5 * angle) ** 2)
        return result

    def _angle(self, sign: int, power: float, height: float) -> Floats:
        """At most the damping angle on each cell; the angle increases in the share and in y."""
        share = self.share[:-1] if sign > 0 else self.other[1:]
        angle = self.pair.shift * height * self.rise[:-1]
        return np.arctan2(share * np.sin(angle), 1.0 - share + share * np.cos(angle))


def envelope(part: Quadrature, tilted: Tilted, log_rounds: float) -> Envelope:
    """Cells fine enough to resolve the bound to a few per cent of its logarithm; tilted: part's moments on Re t = c."""
    pair, c, log_moment = part.pair, tilted.c, tilted.log_moment_above()
    outside = _OUTSIDE + _FEW_ROUNDS * math.exp(-log_rounds) + log_rounds
    budget = outside + pair.lift(c, _widest(pair))
    left, right = part.range if budget <= part.range_log else kept_range(pair, (c,), budget)
    ends = _cells(part, tilted, left, right)
    logit = math.log(pair.rate) - math.log1p(-pair.rate) - 0.5 * pair.shift**2
    rise, slope = np.ones(ends.shape), np.zeros(ends.shape)
    if pair.order == Sampling.HYBRID:
        slope = np.exp(left - ends)
        rise = -np.expm1(left - ends)
    branches = []
    for branch in factors(pair.order, c):
        least, most = cell_masses(pair, branch, ends)
        if not np.max(most) - log_moment < 100.0:
            raise OutOfReach("the integrand varies too fast for the cells of its envelope")
        branches.append(BranchCells(branch, np.exp(least - log_moment), np.exp(most - log_moment)))
    return Envelope(
        pair,
        c,
        log_moment,
        rise,
        slope,
        expit(logit + pair.shift * ends),
        expit(logit - pair.shift * ends),
        tuple(branches),
        pair.atom * math.exp(-log_moment),
        4.0 * math.exp(-outside) + float(ndtr(-pair.cut) + pair.rate * ndtr(pair.shift - pair.cut)),
        _hazard(pair, ends[1:]),
    )


def _widest(pair: Sampled) -> float:
    """The highest path."""
    return min(_TALLEST, _WIDEST_ANGLE / pair.shift, _BLURS * pair.blur)


def _closing(pair: Sampled, c: float, height: float) -> float:
    """What closes the path where outcomes with loss 0 begin."""
    if pair.cut == math.inf:
        return 0.0
    log_side = log_growth(pair, c, pair.cut) - 0.5 * pair.cut**2 + pair.lift(c, height)
    return height * math.exp(min(log_side, 700.0))


def _hazard(pair: Sampled, x: Floats) -> Floats | float:
    """phi / Phi at (place - x) / blur."""
    if pair.place == math.inf:
        return 0.0
    z = (pair.place - x) / pair.blur
    return np.asarray(np.exp(-0.5 * z * z - log_ndtr(z)) / math.sqrt(2.0 * math.pi) * (1.0 + 1e-9))


def _label_lift(v: Floats, hazard: Floats | float) -> Floats:
    """At least log |Phi(z + iv)| / Phi(z): |phi(z + iu)| = e^{u^2/2} phi(z) is integrated from below, or from z on."""
    square = 0.5 * v * v
    return np.minimum(square, np.log1p(v * np.exp(square) * hazard))


def _cells(part: Quadrature, tilted: Tilted, left: float, right: float) -> Floats:
    """Ends of cells: finer where the mass is, geometric towards the hybrid pair's corner."""
    first, last = math.inf, -math.inf
    for path, branch in zip(part.paths, tilted.branches, strict=True):
        heavy = path.x[branch.size > _LIGHT * branch.size.max()]
        if heavy.size:  # a branch may vanish beside the other one
            first, last = min(first, float(heavy[0])), max(last, float(heavy[-1]))
    if not first <= last:
        raise OutOfReach("no node of the quadrature carries weight")
    first, last = max(left, first - 0.5), min(right, last + 0.5)
    fine = min((last - first) / _FINE, 1.0)
    ends = [
        np.arange(left, first, _COARSE * fine),
        np.arange(first, last, fine),
        np.arange(last, right, _COARSE * fine),
    ]
    if part.pair.order == Sampling.HYBRID:
        ends.append(left + np.geomspace(1e-9, 1.0, 97))
    return np.unique(np.concatenate([*ends, [right]]))
