"""Bounds on Renyi divergences alone: no pair of distributions is known."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from ..renyi import sampled_divergence
from ..rounding import widened_up
from .moments import SLACK
from .order import Sampling
from .pair import Pair

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class ZcdpBound(Pair):
    """No pair is known, only D_alpha(P||Q) <= rho alpha for every alpha > 1, in both orders."""

    rho: float

    def _divergence(self, alpha: float) -> float:
        """Its definition."""
        return self.rho * alpha * (1 + SLACK)

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """From the divergences at whole orders (docs/theory/dominating_pairs.md, "Sampling of a stated bound")."""
        return (
            None
            if coin == Sampling.REPLACE
            else sampled_divergence.sampled_divergence(self._divergence, rate, coin, alpha)
        )

    def _slope(self, order: float) -> tuple[float, float]:
        """Its definition."""
        return 0.0, widened_up(self.rho, SLACK)


@dataclass(frozen=True, slots=True)
class RenyiLines(Pair):
    """No pair is known, only D_alpha(P||Q) <= slope * alpha + constant at every integer alpha > 1, in both orders.

    lines: several (slope, constant), each of which holds.
    """

    lines: tuple[tuple[float, float], ...]

    def _divergence(self, alpha: float) -> float:
        """The least of the lines' chords."""
        return min(_on_chord(slope, constant, alpha) for slope, constant in self.lines) * (1 + SLACK)

    def _slope(self, order: float) -> tuple[float, float]:
        """The least of the lines'."""
        return 0.0, min(widened_up(slope + max(0.0, constant) / order, SLACK) for slope, constant in self.lines)


def _on_chord(slope: float, constant: float, alpha: float) -> float:
    """At least D_alpha, when D_n <= slope n + constant at all integers n > 1: (alpha - 1) D_alpha is convex in alpha
    and 0 at 1 (van Erven, Harremoes 2014, Corollary 2), so it is below the chord between two integers."""
    below = math.floor(alpha)
    share = alpha - below
    left, right = (n * (slope * (n + 1) + constant) for n in (below - 1, below))
    return ((1 - share) * left + share * right) / (alpha - 1)


@dataclass(frozen=True, slots=True)
class RenyiPoints(Pair):
    """No pair is known, only D_alpha(P||Q) <= epsilon at the orders of these (order, epsilon), in both orders of the
    neighbours; nothing at larger ones."""

    points: Points

    def _divergence(self, alpha: float) -> float:
        """Of chords between two of the orders, or an order and 1, the lowest (`_on_chord` says why they hold)."""
        orders, moments = _lowest_chords(self.points)
        if alpha > orders[-1]:
            return math.inf
        at = bisect_left(orders, alpha)
        left, right = orders[at - 1], orders[at]
        below, above = (alpha - left) / (right - left), (right - alpha) / (right - left)
        return (above * moments[at - 1] + below * moments[at]) / (alpha - 1) * (1 + SLACK)

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """From the divergences at whole orders (docs/theory/dominating_pairs.md, "Sampling of a stated bound")."""
        if coin == Sampling.REPLACE:
            return None
        return sampled_divergence.sampled_divergence(self._divergence, rate, coin, alpha)

    def _stated_orders(self) -> tuple[float, ...]:
        """Those of the points."""
        return tuple(order for order, _ in self.points)


@lru_cache(maxsize=256)
def _lowest_chords(points: Points) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The corners of the convex hull from below of (1, 0) and the points (order, (order - 1) epsilon): any of them in
    any number is a bound, so that rounding decides nothing but how low it is."""
    corners = [(1.0, 0.0)]
    for order, epsilon in points:
        new = order, (order - 1) * epsilon
        while len(corners) > 1 and _is_above(corners[-2], corners[-1], new):
            corners.pop()
        corners.append(new)
    orders, moments = zip(*corners, strict=True)
    return orders, moments


def _is_above(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    """Whether the middle one is on, or above, the chord of the others."""
    return (middle[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (middle[0] - left[0])
