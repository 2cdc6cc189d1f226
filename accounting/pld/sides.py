"""The composed laws that dominate and are dominated: of all outcomes, or of those with a large loss in some round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..pairs import Composition, OpposedPair, SubsampledPair, ZeroedPair
from ..rounding import widened_down, widened_up
from .inversion import log_peak
from .laws import Step
from .measure import Jumps, Measure, Product
from .search import ALIASES, chernoff
from .transform import Law

_MOST_SAMPLED = 100.0
"""Expected number of sampled rounds above which no jump is rare."""

_APART = 1.05
"""Above the threshold by this factor nothing may matter either: finer cells put losses where coarse ones had none."""

_RARE = 0.3
"""Largest expected number of jumps that are called rare."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Rounds jump when their loss is above `loss`; `exponent` bounds, by Chernoff, what never jumps."""

    loss: float
    exponent: float


@dataclass(frozen=True)
class Sides:
    """upper, lower: measures of the finite losses for upper and for lower bounds.

    At epsilon, outcomes left out of `upper` have a profile of at most exp(rest_start - rest_exponent epsilon).
    """

    upper: Measure
    lower: Measure
    infinite_upper: float
    infinite_lower: float
    top: float
    rest_start: float = -math.inf
    rest_exponent: float = 0.0

    @classmethod
    def of(cls, steps: Sequence[Step], threshold: Threshold | None = None) -> Sides:
        """The laws of all outcomes, or of those with a jump."""
        upper = Product([(step.upper, step.rounds) for step in steps])
        lower = Product([(step.lower, step.rounds) for step in steps])
        high = widened_up(upper.infinite, 1e-13)
        low = max(0.0, widened_down(lower.infinite, 1e-13))
        top = widened_up(upper.top, 1e-15 * (1 + upper.rounds**0.5))
        if threshold is None:
            return cls(upper, lower, high, low, top)
        jumps = _jumps(upper, threshold.loss), _jumps(lower, threshold.loss)
        if not all(any(jump is not None for _, jump, _ in part.parts) for part in jumps):
            return cls(upper, lower, high, low, top)
        c = threshold.exponent
        start = log_peak(c) + jumps[0].small.log_moment(c)
        return cls(*jumps, high, low, top, start + 1e-11 * upper.rounds + 1e-12 * abs(start), c)


def _jumps(product: Product, loss: float) -> Jumps:
    parts: list[tuple[Law, Law | None, int]] = [(*law.split(loss), rounds) for law, rounds in product.laws]
    return Jumps(parts)


def may_have_rare_jumps(composition: Composition) -> bool:
    """Whether looking for a threshold is worth its time."""
    by_coin = SubsampledPair | OpposedPair | ZeroedPair
    sampled = [pair.rate * rounds for pair, rounds in composition if isinstance(pair, by_coin)]
    return bool(sampled) and sum(sampled) <= _MOST_SAMPLED


def threshold_for(steps: Sequence[Step], epsilon: float, log_delta: float) -> Threshold | None:
    """The largest threshold below which losses add up to epsilon with a profile below ALIASES * delta.

    None where jumps above it are not rare.
    """
    best: Threshold | None = None
    low, high = -14.0, 0.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        loss = epsilon * math.exp(middle)
        jumps = _jumps(Product([(step.upper, step.rounds) for step in steps]), _APART * loss)
        reached, exponent = chernoff(jumps.small, log_delta + math.log(ALIASES))
        if reached <= epsilon:
            low, best = middle, Threshold(loss, exponent)
        else:
            high = middle
    return best if best is not None and _jump_mass(steps, best.loss) <= _RARE else None


def rare_jump_bound(steps: Sequence[Step], epsilon: float, log_delta: float) -> float:
    """An upper bound of epsilon, at most the given one: Chernoff for the jumps and for the rest apart.

    e^{log_delta}: what the finite losses may use of delta.
    """
    low, high = -14.0, 0.0
    best = epsilon
    for _ in range(14):
        middle = 0.5 * (low + high)
        loss = epsilon * math.exp(middle)
        if _jump_mass(steps, loss) > _RARE:
            low = middle
            continue
        jumps = _jumps(Product([(step.upper, step.rounds) for step in steps]), loss)
        rest, _ = chernoff(jumps.small, log_delta + math.log(ALIASES))
        if not any(jump is not None for _, jump, _ in jumps.parts):
            high, best = middle, min(best, rest)
            continue
        jumped, _ = chernoff(jumps, log_delta + math.log1p(-2 * ALIASES))
        best = min(best, max(rest, jumped))
        low, high = (low, middle) if rest > jumped else (middle, high)
    return best


def _jump_mass(steps: Sequence[Step], loss: float) -> float:
    """The expected number of jumps; infinite where nothing can be told apart."""
    parts = [(step.upper.split(loss), step.rounds) for step in steps]
    if all(jump is None for (_, jump), _ in parts):
        return 0.0
    return math.fsum(rounds * math.exp(jump.log_moment(0.0)) for (_, jump), rounds in parts if jump is not None)
