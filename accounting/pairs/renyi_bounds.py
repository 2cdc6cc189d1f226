"""Bounds on Renyi divergences alone: no pair of distributions is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .moments import SLACK
from .pair import Pair


@dataclass(frozen=True, slots=True)
class ZcdpBound(Pair):
    """No pair is known, only D_alpha(P||Q) <= rho alpha for every alpha > 1, in both orders."""

    rho: float

    def divergence(self, alpha: float) -> float:
        """Its definition."""
        return self.rho * alpha * (1 + SLACK)


@dataclass(frozen=True, slots=True)
class RenyiLines(Pair):
    """No pair is known, only D_alpha(P||Q) <= slope * alpha + constant at every integer alpha > 1, in both orders.

    lines: several (slope, constant), each of which holds.
    """

    lines: tuple[tuple[float, float], ...]

    def divergence(self, alpha: float) -> float:
        """The least of the lines' chords."""
        return min(_on_chord(slope, constant, alpha) for slope, constant in self.lines) * (1 + SLACK)


def _on_chord(slope: float, constant: float, alpha: float) -> float:
    """At least D_alpha, when D_n <= slope n + constant at all integers n > 1: (alpha - 1) D_alpha is convex in alpha
    and 0 at 1 (van Erven, Harremoes 2014, Corollary 2), so it is below the chord between two integers."""
    below = math.floor(alpha)
    share = alpha - below
    left, right = (n * (slope * (n + 1) + constant) for n in (below - 1, below))
    return ((1 - share) * left + share * right) / (alpha - 1)
