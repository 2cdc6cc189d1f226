"""The composed laws that dominate and are dominated: of all outcomes, or of those with a large loss in some round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..pairs import Composition, MixturePair, Pair
from ..rounding import widened_down, widened_up
from .inversion import log_peak
from .laws import SampledPair, Step
from .measure import Jumps, Measure, Product
from .search import ALIASES, chernoff, chernoff_at
from .transform import AtomLaw, Law

_MOST_SAMPLED = 100.0
"""Expected number of sampled rounds above which no jump is rare."""

_APART = 1.05
"""Above the threshold by this factor nothing may matter either: cells' edges move between resolutions."""

_SPLITS = tuple(0.5 * k for k in range(-12, 21))
"""Logarithms of the thresholds, relative to epsilon, that are tried for a split."""

_RARE = 0.3
"""Largest expected number of jumps that are called rare."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Rounds of the steps `jumping` jump when their loss is above `loss`.

    exponent: of Chernoff's bound of the outcomes without a jump; None where these are inverted as well.
    """

    loss: float
    exponent: float | None
    jumping: frozenset[int]


@dataclass(frozen=True, slots=True)
class Part:
    """Measures of the finite losses of some outcomes: one for upper bounds, and one for lower bounds."""

    upper: Measure
    lower: Measure


@dataclass(frozen=True)
class Sides:
    """parts: all outcomes with finite losses, or those with a jump and those without.

    At epsilon, outcomes left out of the parts have a profile of at most exp(rest_start - rest_exponent epsilon).
    """

    parts: tuple[Part, ...]
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
        everything = (Part(upper, lower),)
        if threshold is None:
            return cls(everything, high, low, top)
        at = dict.fromkeys(threshold.jumping, threshold.loss)
        above, below = _jumps(upper.laws, at), _jumps(lower.laws, at)
        if not all(any(jump is not None for _, jump, _ in part.parts) for part in (above, below)):
            return cls(everything, high, low, top)
        c = threshold.exponent
        if c is None:
            return cls((Part(above, below), Part(above.small, below.small)), high, low, top)
        start = log_peak(c) + above.small.log_moment(c)
        return cls((Part(above, below),), high, low, top, start + 1e-11 * upper.rounds + 1e-12 * abs(start), c)


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
    sampled = [_rate(pair) * rounds for pair, rounds in composition if isinstance(pair, SampledPair | MixturePair)]
    return bool(sampled) and sum(sampled) <= _MOST_SAMPLED


def _rate(pair: Pair) -> float:
    if isinstance(pair, MixturePair):
        return sum(weight * _rate(part) for weight, part in pair.parts)
    return pair.rate if isinstance(pair, SampledPair) else 0.0


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


def split_for(steps: Sequence[Step], epsilon: float, log_delta: float) -> Threshold | None:
    """A threshold for inverting both the outcomes with a jump and those without, where neither is negligible.

    That with the best of the worse of the two Chernoff bounds, the higher one of two alike: it leaves the smaller
    losses to a finer line. None where no jumps are rare.
    """
    laws = [(step.upper, step.rounds) for step in steps]
    jumping = frozenset(at for at, step in enumerate(steps) if step.sampled)
    best, least = None, math.inf
    for exponent in _SPLITS:
        loss = epsilon * math.exp(exponent)
        masses = _jump_masses(laws, loss, jumping)
        if masses and sum(masses.values()) <= _RARE:
            jumps = _jumps(laws, dict.fromkeys(jumping, loss))
            worse = max(chernoff_at(jumps, epsilon), chernoff_at(jumps.small, epsilon), log_delta) - 0.01 * exponent
            if worse < least:
                best, least = Threshold(loss, None, jumping), worse
    return best


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
