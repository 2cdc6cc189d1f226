"""Certified bounds of delta(eps) of composed laws: all outcomes inverted, or those with a jump, and the rest apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...inversion.line import Inversion, Plan, invert, log_peak
from ...rounding import down, up, widened_down, widened_up
from .far import Far, cut
from .jumps import Jumps, Lattice, Product, log_error
from .laws import Step
from .search import Split

_NONE = math.inf, 1.0

_NEARBY = np.array([0.2, 0.45, 1.0])
"""Lines that may bound the aliases, from the one inverted on to the one planned."""


@dataclass(frozen=True, slots=True)
class Part:
    """Measures of the finite losses of some outcomes: one for upper bounds, and one for lower bounds."""

    upper: Lattice
    lower: Lattice


@dataclass(frozen=True, slots=True)
class Sides:
    """parts: all outcomes with finite losses, or those with a jump, and those without where they are kept.

    far: the shares of outcomes with a far loss, for upper bounds and for lower bounds. At epsilon, outcomes left out of
    all that have a profile of at most exp(start - exponent epsilon), for each of rest.
    """

    parts: tuple[Part, ...]
    infinite_upper: float
    infinite_lower: float
    top: float
    far: tuple[Far, Far] = (Far(), Far())
    rest: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(
        cls, steps: Sequence[Step], split: Split | None = None, keep: bool = False, far: tuple[float, float] = _NONE
    ) -> Sides:
        """The laws of all outcomes, or of those with a jump; keep: those without as well. far: a threshold of far
        losses, and the eps of interest."""
        upper = Product([(step.upper, step.rounds) for step in steps])
        lower = Product([(step.lower, step.rounds) for step in steps])
        high = widened_up(upper.infinite, 1e-13)
        low = max(0.0, widened_down(lower.infinite, 1e-13))
        top = widened_up(upper.top, 1e-15 * (1 + upper.rounds**0.5))
        shares = Far(), Far()
        if far[0] < math.inf:
            sampled = frozenset(at for at, step in enumerate(steps) if step.sampled)
            cuts = [cut(each.laws, sampled, *far) for each in (upper, lower)]
            shares = cuts[0][1], cuts[1][1]
            upper, lower = (
                Product([(law, step.rounds) for law, step in zip(laws, steps, strict=True)]) for laws, _ in cuts
            )
        if split is None:
            return cls((Part(upper, lower),), high, low, top, shares)
        above, below = (Jumps.of(each.laws, split.jumping, split.loss) for each in (upper, lower))
        if not (above.any and below.any):
            return cls((Part(upper, lower),), high, low, top, shares)
        if keep:
            return cls((Part(above, below), Part(above.small, below.small)), high, low, top, shares)
        rest = tuple(
            (log_peak(c) + log + log_error(upper.rounds, log), c)
            for c in split.rest.lines[1::4].tolist()
            for log in (above.small.log_moment(c),)
        )
        return cls((Part(above, below),), high, low, top, shares, rest)


@dataclass(frozen=True, slots=True)
class Profile:
    """Bounds of log delta(eps): those of its parts, of what was left out, and of the mass at infinity together."""

    sides: Sides
    parts: tuple[Inversion, ...]

    @classmethod
    def on(cls, sides: Sides, plans: Sequence[Plan], accuracy: float, square: float, most: int) -> Profile:
        """Each part inverted as planned; square: of the smoothing round's shift."""
        refined = [_refined(part, plan, accuracy) for part, plan in zip(sides.parts, plans, strict=True)]
        pairs = zip(sides.parts, refined, strict=True)
        return cls(sides, tuple(invert(part.upper, part.lower, plan, accuracy, square, most) for part, plan in pairs))

    @property
    def c(self) -> float:
        """Of the first part's line."""
        return self.parts[0].c

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        bounds = [part.log_delta(epsilon) for part in self.parts]
        lows, highs = ([math.exp(min(bound[side], 0.0)) for bound in bounds] for side in (0, 1))
        rest = min((start - c * epsilon for start, c in self.sides.rest), default=-math.inf)
        above, below = self.sides.far
        low = self.sides.infinite_lower + max(0.0, down(sum(lows) + below.lower(epsilon), 4 + len(lows)))
        high = up(
            self.sides.infinite_upper + sum(highs) + above.upper(epsilon) + math.exp(min(rest, 0.0)), 6 + len(lows)
        )
        finite = sum(highs)
        slope = sum(bound[2] * share for bound, share in zip(bounds, highs, strict=True))
        slope = (slope - (above.under_q * math.exp(min(epsilon, 700.0)) if above.under_q else 0.0)) / max(high, 1e-320)
        return _down(low), min(0.0, _up(high)), slope if finite > 0 else -self.c


def _refined(part: Part, plan: Plan, accuracy: float) -> Plan:
    """The plan with the period that these laws ask for: far out their moments are not those of the pilot."""
    c, sides, period = plan.c, [], 0.0
    for side in plan.sides:
        points = c + (side - c) * _NEARBY
        logs = np.maximum(*(each.log_moments(points) for each in (part.upper, part.lower)))
        heights = [log + log_peak(point) - point * plan.epsilon for log, point in zip(logs, points, strict=True)]
        needed = np.maximum(np.array(heights) - plan.log_delta + accuracy, 3.0) / np.abs(points - c)
        best = int(np.argmin(needed))
        sides.append(float(points[best]))
        period = max(period, float(needed[best]))
    return replace(plan, sides=tuple(sides), period=period)


def _down(value: float) -> float:
    return widened_down(math.log(value), 1e-15) - 1e-15 if value > 1e-300 else -math.inf


def _up(value: float) -> float:
    return widened_up(math.log(value), 1e-15) + 1e-15 if value > 0 else -math.inf
