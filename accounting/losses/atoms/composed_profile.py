"""Certified bounds of delta(eps) of composed laws: all outcomes inverted, or those without a far loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...rounding import down, up, widened_down, widened_up
from ..line import Inversion, Plan, invert, log_peak, shifted
from .composition import Product
from .linear_payoff import LinearPayoff, cut
from .steps import Step

_NONE = math.inf, 1.0

_NEARBY = np.array([0.02, 0.06, 0.2, 0.45, 1.0])
"""Lines that may bound the aliases, from the one inverted on to the one planned."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Measures of the finite losses: one for upper bounds, and one for lower bounds.

    far: the shares of outcomes with a far loss, for upper bounds and for lower bounds.
    """

    upper: Product
    lower: Product
    infinite_upper: float
    infinite_lower: float
    top: float
    far: tuple[LinearPayoff, LinearPayoff] = (LinearPayoff(), LinearPayoff())

    @classmethod
    def of(cls, steps: Sequence[Step], far: tuple[float, float] = _NONE) -> Sides:
        """far: a threshold of far losses, and the eps of interest."""
        upper = Product([(step.upper, step.rounds) for step in steps])
        lower = Product([(step.lower, step.rounds) for step in steps])
        high = widened_up(upper.infinite, 1e-13)
        low = max(0.0, widened_down(lower.infinite, 1e-13))
        top = widened_up(upper.top, 1e-15 * (1 + upper.rounds**0.5))
        if far[0] == math.inf:
            return cls(upper, lower, high, low, top)
        sampled = frozenset(at for at, step in enumerate(steps) if step.sampled)
        cuts = [cut(each.laws, sampled, *far) for each in (upper, lower)]
        upper, lower = (
            Product([(law, step.rounds) for law, step in zip(laws, steps, strict=True)]) for laws, _ in cuts
        )
        return cls(upper, lower, high, low, top, (cuts[0][1], cuts[1][1]))


@dataclass(frozen=True, slots=True)
class ComposedProfile:
    """Bounds of log delta(eps): of the losses inverted, of far ones, and of the mass at infinity together."""

    sides: Sides
    inversion: Inversion

    @classmethod
    def on(cls, sides: Sides, plan: Plan, accuracy: float, square: float, most: int) -> ComposedProfile:
        """LatticeLayout as planned; square: of the smoothing round's shift."""
        refined = _refined(sides, plan, accuracy, shifted(plan.c, square))
        return cls(sides, invert(sides.upper, sides.lower, refined, accuracy, square, most))

    @property
    def c(self) -> float:
        """Of the line."""
        return self.inversion.c

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        *bounds, slope = self.inversion.log_delta(epsilon)
        least, most = (math.exp(min(bound, 0.0)) for bound in bounds)
        above, below = self.sides.far
        low = self.sides.infinite_lower + max(0.0, down(least + below.lower(epsilon), 5))
        high = up(self.sides.infinite_upper + most + above.upper(epsilon), 7)
        falls = slope * most - (above.under_q * math.exp(min(epsilon, 700.0)) if above.under_q else 0.0)
        return _down(low), min(0.0, _up(high)), falls / max(high, 1e-320) if most > 0 else -self.c


def _refined(sides: Sides, plan: Plan, accuracy: float, square: float) -> Plan:
    """The plan with the period that these laws ask for: far out their moments are not those of the pilot.

    The copies that are summed are the smoothed profile's: past the largest loss, where nothing is without smoothing, an
    atom's share may be much larger than delta.
    """
    c, chosen, period = plan.c, [], 0.0
    for side in plan.sides:
        points = c + (side - c) * _NEARBY
        logs = sides.upper.log_moments(points) + 0.5 * square * points * (points + 1.0)  # the larger ones
        heights = [log + log_peak(point) - point * plan.epsilon for log, point in zip(logs, points, strict=True)]
        needed = np.maximum(np.array(heights) - plan.log_delta + accuracy, 3.0) / np.abs(points - c)
        best = int(np.argmin(needed))
        chosen.append(float(points[best]))
        period = max(period, float(needed[best]))
    return replace(plan, sides=tuple(chosen), period=period)


def _down(value: float) -> float:
    return widened_down(math.log(value), 1e-15) - 1e-15 if value > 1e-300 else -math.inf


def _up(value: float) -> float:
    return widened_up(math.log(value), 1e-15) + 1e-15 if value > 0 else -math.inf
