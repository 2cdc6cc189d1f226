"""A Gaussian that is moved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .moments import SLACK
from .pair import Pair
from .tails import normal_tail


@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """P = N(shift, 1), Q = N(0, 1): symmetric in P and Q; shift > 0."""

    shift: float

    def moved(self, factor: float) -> Self:
        """In its shift."""
        return replace(self, shift=self.shift * factor)

    def words(self) -> str:
        """P against Q."""
        return f"N({self.shift:.6g}, 1) against N(0, 1)"

    def profile(self, epsilon: arb) -> arb:
        """Balle, Wang 2018, arXiv 1805.06530, Theorem 8."""
        s = arb(self.shift)
        return normal_tail(epsilon / s - s / 2) - epsilon.exp() * normal_tail(epsilon / s + s / 2)

    def divergence(self, alpha: float) -> float:
        """Mironov 2017, arXiv 1702.07476, Proposition 7."""
        value = alpha * self.shift * self.shift / 2
        return value + SLACK * value

    def moment(self, alpha: arb) -> arb | None:
        """As `divergence`."""
        return (alpha * (alpha - 1) * arb(self.shift) ** 2 / 2).exp()

    def doubled(self) -> Self | None:
        """In its shift."""
        return replace(self, shift=2 * self.shift)
