"""What the parts of a profile with rare jumps are laid out for, and the line on which each is inverted: no bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs import Composition
from ..line import Plan
from .paths import Sampled
from .rounds_alone import outcome
from .saddle import tallest

TILTS = np.geomspace(0.25, 100.0, 40)
"""Tilts tried, in units of 1/epsilon."""

_SHARE = 0.01
"""Share of the tolerance that may be left out."""

_IDLE = 0.01
"""Share of what may be left out up to which a phase's jumps are left out, and of what each phase may lose beyond."""

_STEEPEST = 10.0
"""-log delta at least for that."""

_MOST = 20.0
"""log of how much larger than delta the terms may be before rounding shows."""

_DEAR, _FREE = 0.5, 10.0
"""What e-folds by which terms are larger than delta are worth in log(period), and up to how many are cheap."""

_TALLEST = 600.0
"""log of terms beyond which lines are alike: none serves."""


@dataclass(frozen=True, slots=True)
class Goal:
    """An eps, log of what delta is there, about, and how far apart bounds of it may be."""

    epsilon: float
    log_delta: float
    tolerance: float

    @property
    def accuracy(self) -> float:
        """-log of the relative error of each source."""
        return 3.0 - math.log(self.tolerance)

    @property
    def left_out(self) -> float:
        """log of the probability of what each phase may lose."""
        return self.log_delta + math.log(_SHARE * _IDLE * self.tolerance)

    def place(self, pair: Sampled, level: float) -> float:
        """About the outcome with a loss of level eps."""
        return float(outcome(pair, np.array([level * self.epsilon]))[0])

    def blur(self, pair: Sampled, level: float, wide: float) -> float:
        """Of a label there."""
        slope = pair.shift * -math.expm1(-level * self.epsilon)
        return min(1.0, wide * self.epsilon / (slope * max(_STEEPEST, -self.log_delta)))


def feasible(composition: Composition, epsilon: float, log_of: float = 0.0) -> Floats:
    """Tilts at which outcomes beyond the cuts do not matter for moments of size e^log_of."""
    points = TILTS[tallest(composition, log_of) * epsilon >= TILTS] / epsilon
    if points.size < 3:
        raise OutOfReach("no tilt serves")
    return np.asarray(points)


def line(points: Floats, heights: Floats, goal: Goal, price: float) -> Plan:
    """heights: about the log of the terms at eps = epsilon."""
    heights = np.where(heights < _TALLEST, heights, math.inf)
    gain = np.maximum(heights - goal.log_delta + goal.accuracy, 1.0)
    apart = points - points[:, None]
    needed = np.where(apart != 0.0, gain / np.maximum(np.abs(apart), 1e-300), math.inf)
    below, above = np.where(apart < 0.0, needed, math.inf), np.where(apart > 0.0, needed, math.inf)
    period = np.maximum(below.min(axis=1), above.min(axis=1))
    cost = price * heights + _DEAR * np.maximum(0.0, heights - goal.log_delta - _FREE)
    best = int((np.log(period) + cost).argmin())
    sides = float(points[below[best].argmin()]), float(points[above[best].argmin()])
    cancellation = max(0.0, float(heights[best]) - goal.log_delta)
    if cancellation > _MOST:
        raise OutOfReach("the terms are too much larger than delta")
    return Plan(float(points[best]), sides, float(period[best]), goal.epsilon, goal.log_delta, cancellation)
