"""The composed laws that dominate and are dominated: of all outcomes, or of those with a large loss in some round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..pairs import Composition
from ..rounding import widened_down, widened_up
from .inversion import log_peak
from .laws import SampledPair, Step
from .measure import Jumps, Measure, Product
from .search import ALIASES, chernoff
from .transform import AtomLaw, Law

_MOST_SAMPLED = 100.0
"""Expected number of sampled rounds above which no jump is rare."""

_APART = 1.05
"""Above the threshold by this factor nothing may matter either: cells' edges move between resolutions."""

_RARE = 0.3
"""Largest expected number of jumps that are called rare."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Rounds of the steps `jumping` jump when their loss is above `loss`; `exponent` bounds, by Chernoff, what never
    does."""

    loss: float
    exponent: float
    jumping: frozenset[int]


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
        at = dict.fromkeys(threshold.jumping, threshold.loss)
        above, below = _jumps(upper.laws, at), _jumps(lower.laws, at)
        if not all(any(jump is not None for _, jump, _ in part.parts) for part in (above, below)):
            return cls(upper, lower, high, low, top)
        c = threshold.exponent
        start = log_peak(c) + above.small.log_moment(c)
        return cls(above, below, high, low, top, start + 1e-11 * upper.rounds + 1e-12 * abs(start), c)


def _jumps(laws: Sequence[tuple[Law, int]], thresholds: Mapping[int, float]) -> Jumps:
    """Outcomes with a jump: steps without a threshold stay whole, however large their losses."""
    parts: list[tuple[Law, Law | None, int]] = []
    for at, (law, rounds) in enumerate(laws):
        small, jump = law.split(thresholds[at]) if at in thresholds else (law, None)
        parts.append((small, jump, rounds))
    return Jumps(parts)


def _above(law: Law, loss: float) -> float:
    """A threshold below which coarse cells have all that finer ones may have below `loss`: the next atom's."""
    atoms = law.atoms.loss if isinstance(law, AtomLaw) else np.empty(0)
    return max(_APART * loss, float(np.min(atoms, where=atoms > loss, initial=math.inf)))


def may_have_rare_jumps(composition: Composition) -> bool:
    """Whether looking for a threshold is worth its time."""
    sampled = [pair.rate * rounds for pair, rounds in composition if isinstance(pair, SampledPair)]
    return bool(sampled) and sum(sampled) <= _MOST_SAMPLED


def threshold_for(steps: Sequence[Step], epsilon: float, log_delta: float) -> Threshold | None:
    """The largest threshold below which losses add up to epsilon with a profile below ALIASES * delta.

    None where jumps above it are not rare, whichever steps with common ones are left whole.
    """
    laws = [(step.upper, step.rounds) for step in steps]
    jumping = frozenset(at for at, step in enumerate(steps) if step.sampled)
    while jumping:
        found = _largest_threshold(laws, epsilon, log_delta, jumping)
        if found is None:
            return None
        masses = _jump_masses(laws, found.loss, jumping)
        if sum(masses.values()) <= _RARE:
            return found
        jumping -= {max(masses, key=masses.__getitem__)}
    return None


def _largest_threshold(
    laws: Sequence[tuple[Law, int]], epsilon: float, log_delta: float, jumping: frozenset[int]
) -> Threshold | None:
    best: Threshold | None = None
    low, high = -14.0, 0.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        loss = epsilon * math.exp(middle)
        small = _jumps(laws, {at: _above(laws[at][0], loss) for at in jumping}).small
        reached, exponent = chernoff(small, log_delta + math.log(ALIASES))
        if reached <= epsilon:
            low, best = middle, Threshold(loss, exponent, jumping)
        else:
            high = middle
    return best


def rare_jump_bound(steps: Sequence[Step], epsilon: float, log_delta: float) -> float:
    """An upper bound of epsilon, at most the given one: Chernoff for the jumps and for the rest apart.

    e^{log_delta}: what the finite losses may use of delta.
    """
    laws = [(step.upper, step.rounds) for step in steps]
    jumping = frozenset(at for at, step in enumerate(steps) if step.sampled)
    low, high = -14.0, 0.0
    best = epsilon
    for _ in range(14):
        middle = 0.5 * (low + high)
        loss = epsilon * math.exp(middle)
        if sum(_jump_masses(laws, loss, jumping).values()) > _RARE:
            low = middle
            continue
        jumps = _jumps(laws, dict.fromkeys(jumping, loss))
        rest, _ = chernoff(jumps.small, log_delta + math.log(ALIASES))
        if not any(jump is not None for _, jump, _ in jumps.parts):
            high, best = middle, min(best, rest)
            continue
        jumped, _ = chernoff(jumps, log_delta + math.log1p(-2 * ALIASES))
        best = min(best, max(rest, jumped))
        low, high = (low, middle) if rest > jumped else (middle, high)
    return best


def _jump_masses(laws: Sequence[tuple[Law, int]], loss: float, jumping: frozenset[int]) -> dict[int, float]:
    """The expected number of jumps of each step that jumps at all."""
    parts = enumerate(_jumps(laws, dict.fromkeys(jumping, loss)).parts)
    return {at: rounds * math.exp(jump.log_moment(0.0)) for at, (_, jump, rounds) in parts if jump is not None}
