"""Moments for the search: a loss's law on a few dozen real nodes, good to a few digits. Nothing here is a bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs import Composition, Sampling
from ..line import log_peaks
from .densities import phases
from .integrand import log_mixture
from .paths import Sampled

_COARSE = 12.0
"""-log of the relative accuracy of the moments over all rounds."""

_TALLEST = 2.5
_WIDEST_ANGLE = 2.8
"""Half-width of the strip around the real line that the trapezoidal rule's step is chosen for, and its angle."""

_BLURS = 3.0
"""The same, in units of a label's blur."""

_MOST_NODES, _MOST_WIDE, _WIDE = 60_000, 10_000, 3.0
"""Nodes of a law, also where the shift is wide: tiny noise asks for many, and no line serves it then."""


@dataclass(frozen=True, slots=True)
class LossOnGrid:
    """E[e^{cL}] is about sum exp(log_mass + c * loss), for one round."""

    log_mass: Floats
    loss: Floats
    rounds: int


@dataclass(frozen=True, slots=True)
class Rough:
    """The laws of all phases, good for 0 <= c <= top, and the squared shift of the Gaussian rounds together."""

    laws: tuple[LossOnGrid, ...]
    gaussian: float
    top: float

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """About Lambda(c), the log of the product of all moments, and its first two derivatives."""
        value, slope, second = 0.5 * self.gaussian * c * (c + 1.0), self.gaussian * (c + 0.5), self.gaussian
        for law in self.laws:
            exponent = law.log_mass + c * law.loss
            scale = float(exponent.max())
            weight = np.exp(exponent - scale)
            moved = weight * law.loss
            mass = float(weight.sum())
            mean = float(moved.sum()) / mass
            value += law.rounds * (scale + math.log(mass))
            slope += law.rounds * mean
            second += law.rounds * (float(moved @ law.loss) / mass - mean * mean)
        return value, slope, second

    def third_cumulant(self, c: float) -> float:
        """About the third derivative of Lambda at c."""
        total = 0.0
        for law in self.laws:
            exponent = law.log_mass + c * law.loss
            weight = np.exp(exponent - exponent.max())
            weight /= weight.sum()
            away = law.loss - weight @ law.loss
            total += law.rounds * float(weight @ (away * away * away))
        return total

    def log_profiles(self, points: Floats) -> Floats:
        """About the bound log(e^{c eps} delta(eps)) <= Lambda(c) + c log c - (1+c) log(1+c), at every c of points."""
        total = 0.5 * self.gaussian * points * (points + 1.0)
        for law in self.laws:
            exponents = law.log_mass + np.multiply.outer(points, law.loss)
            scale = exponents.max(axis=1)
            total = total + law.rounds * (scale + np.log(np.exp(exponents - scale[:, None]).sum(axis=1)))
        return np.asarray(total + log_peaks(points))


def rough(composition: Composition, top: float) -> Rough:
    """Laws that serve 0 <= c <= top. Raises OutOfReach where that takes too many nodes."""
    parts, gaussian = phases(composition)
    return Rough(tuple(_law(pair, top, rounds) for pair, rounds in parts), gaussian, top)


def _law(pair: Sampled, top: float, rounds: int) -> LossOnGrid:
    budget = _COARSE + math.log(rounds)
    shift, height = pair.shift, min(_TALLEST, _WIDEST_ANGLE / pair.shift)
    lift, wide = 0.5, math.sqrt(2.0 * budget)
    if pair.place < math.inf:
        height, lift = min(height, _BLURS * pair.blur), 0.5 + 0.5 / pair.blur**2
    step = 2.0 * math.pi * height / (budget + lift * height * height)
    left, right = -wide, wide + shift * (1.0 + (2.0 * top if pair.order == Sampling.REPLACE else top))
    if pair.order == Sampling.ADD:
        left, right = -min(wide + shift * top, math.sqrt(2.0 * (budget - top * math.log1p(-pair.rate)))), wide
    if pair.order == Sampling.HYBRID:
        left = -0.5 * budget
    right = min(right, pair.cut)
    most = _MOST_NODES if shift < _WIDE else _MOST_WIDE
    if right - left > most * step:
        raise OutOfReach(f"more than {most} nodes are needed for the search")
    x, log_unit = np.arange(left, right, step), math.log(step / math.sqrt(2.0 * math.pi))
    if pair.order == Sampling.HYBRID:  # x = shift/2 + log(1 + e^w): the integrands vanish at the corner
        log_unit = log_unit - np.log1p(np.exp(-x))
        x = 0.5 * shift + np.logaddexp(0.0, x)
    log_plain, log = log_unit - 0.5 * x * x + pair.log_unlabelled(x), log_mixture(pair, x)
    if pair.order == Sampling.REMOVE:
        return LossOnGrid(log_plain + log, log, rounds)
    if pair.order == Sampling.ADD:
        return LossOnGrid(log_plain, -log, rounds)
    if pair.order == Sampling.REPLACE:
        return LossOnGrid(log_plain + log, log - log_mixture(pair, -x), rounds)
    atom = [math.log(pair.atom)]
    return LossOnGrid(np.concatenate([log_plain + log, log_plain, atom]), np.concatenate([log, -log, [0.0]]), rounds)
