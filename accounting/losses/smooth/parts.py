"""Bounds of the profile of the outcomes with a jump, of those without, and of all together (rare.py)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...rounding import UNIT
from ..line import Inversion
from .large_losses import FarOutcomes, Least

_LARGEST = 600.0
"""Epsilon beyond which e^epsilon is not asked for: the profile falls."""

_TINY = 1e-290
"""Below it doubles lose digits, and errors relative to UNIT are none: it is only said that something is smaller."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Outcomes that are inverted as they are."""

    inversion: Inversion

    def delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most their profile at epsilon, at least it, about its derivative)."""
        low, high, slope = self.inversion.log_delta(epsilon)
        below, above = math.exp(min(low, 0.0)) * (1.0 - 8.0 * UNIT), math.exp(min(high, 0.0)) * (1.0 + 8.0 * UNIT)
        return below, above, slope * above


@dataclass(frozen=True, slots=True)
class Turned:
    """All outcomes, from the profile d' of the pair the other way round: e^eps d'(-eps) - (e^eps - 1)."""

    inversion: Inversion

    def delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most their profile at epsilon, at least it, about its derivative)."""
        low, high, slope = self.inversion.log_delta(-epsilon)
        grown, turned = math.expm1(epsilon), math.exp(epsilon)
        below, above = (turned * math.exp(min(log, 0.0)) for log in (low, high))
        inexact = 16.0 * UNIT * (above + grown)
        return max(0.0, below - grown - inexact), max(0.0, above - grown + inexact), above * (1.0 - slope) - turned


@dataclass(frozen=True, slots=True)
class Profile:
    """Bounds of log delta(eps) for every eps >= 0: of far outcomes, of those with a jump and of those without, where
    they matter, and `lost`, at least the probability of all others. c: about how fast log delta falls, at least."""

    parts: tuple[Calls | FarOutcomes | Least | Turned, ...]
    lost: float
    c: float

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        if epsilon > _LARGEST:  # the profile falls
            return -math.inf, *self.log_delta(_LARGEST)[1:]
        found = [part.delta(epsilon) for part in self.parts]
        below, above, slope = (math.fsum(each[side] for each in found) for side in range(3))
        below, above, slack = below * (1.0 - 8.0 * UNIT), (above + self.lost) * (1.0 + 8.0 * UNIT), 4.0 * UNIT
        above /= 1.0 - max((part.share for part in self.parts if isinstance(part, FarOutcomes)), default=0.0)
        least = math.log(below) if below > _TINY else -math.inf
        most = math.log(max(above, _TINY)) if above >= 0.0 else 0.0
        return least - slack * (1.0 - least), min(0.0, most + slack * (1.0 - most)), slope / max(above, _TINY)
