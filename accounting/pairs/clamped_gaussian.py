"""A Gaussian that is moved, and outputs that are clamped (docs/theory/public_ranges.md, "Clamped Gaussian noise")."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .cut import CutPair
from .moments import SLACK
from .pair import largest_loss
from .tails import normal_tail


@dataclass(frozen=True, slots=True)
class ClampedGaussianPair(CutPair):
    """P = N(shift, 1), Q = N(0, 1), their outputs clamped to where the loss is from -below to over; shift > 0.

    Symmetric where below = over; else for lower bounds only, in this order.
    """

    shift: float
    below: float
    over: float

    def moved(self, factor: float) -> Self:
        """In its shift and its knees: the clamp's outputs are at or beyond those of before, on either side."""
        return replace(self, shift=self.shift * factor, below=self.below * factor, over=self.over * factor)

    def words(self) -> str:
        low, high = (self.shift / 2 + knee / self.shift for knee in (-self.below, self.over))
        return f"N({self.shift:.6g}, 1) against N(0, 1), clamped to [{low:.6g}, {high:.6g}]"

    def ends(self) -> tuple[arb, arb]:
        """The loss of either end of the range."""
        return -self._mean_loss(arb(self.below)), self._mean_loss(arb(self.over))

    def knees(self) -> tuple[arb, arb]:
        """Where it is clamped."""
        return -arb(self.below), arb(self.over)

    def above(self, loss: arb) -> tuple[arb, arb]:
        """As without the clamp, but for losses beyond it."""
        s = arb(self.shift)
        x = loss.max(-arb(self.below)).min(arb(self.over)) / s
        return normal_tail(x - s / 2), normal_tail(x + s / 2)

    def bulk(self, tail: float) -> tuple[float, float]:
        """exp(-x^2/2) bounds the mass beyond x >= 1 standard deviations."""
        reach = math.sqrt(-2 * math.log(min(max(tail, 1e-300), 0.1)))
        most = self.shift * (self.shift / 2 + reach)
        return max(-self.below, -most), min(self.over, most)

    def _mean_loss(self, knee: arb) -> arb:
        """Of all that lies beyond a knee."""
        s = arb(self.shift)
        return (normal_tail(knee / s - s / 2) / normal_tail(knee / s + s / 2)).log()

    def _divergence(self, alpha: float) -> float:
        """That of the Gaussian before it is clamped."""
        value = alpha * self.shift * self.shift / 2
        return min(value + SLACK * value, largest_loss(self))
