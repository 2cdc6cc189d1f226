"""Laplace noise that is moved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .moments import from_terms
from .pair import Pair
from .tails import positive


@dataclass(frozen=True, slots=True)
class LaplacePair(Pair):
    """P = Laplace(shift, 1), Q = Laplace(0, 1): symmetric; shift > 0."""

    shift: float

    def moved(self, factor: float) -> Self:
        """In its shift."""
        return replace(self, shift=self.shift * factor)

    def words(self) -> str:
        """P against Q."""
        return f"Laplace({self.shift:.6g}, 1) against Laplace(0, 1)"

    def profile(self, epsilon: arb) -> arb:
        """1 - e^{(eps - s)/2} for |eps| <= s; 0 above; 1 - e^eps below (Balle, Barthe, Gaboardi 2018, arXiv 1807.01647,
        Theorem 3)."""
        s = arb(self.shift)
        middle = 1 - ((epsilon.max(-s) - s) / 2).exp()
        return positive(middle).max(1 - epsilon.exp())

    def largest_loss(self) -> float:
        """Everywhere above the shift."""
        return self.shift

    def supremum(self) -> arb | None:
        """The shift."""
        return arb(self.shift)

    def divergence(self, alpha: float) -> float:
        """Mironov 2017, arXiv 1702.07476, Proposition 6."""
        t = alpha - 1
        double = math.log1p(t / (t + 1))
        terms = [t * self.shift - double, math.log(t / (t + 1)) - double - alpha * self.shift]
        return from_terms(terms, alpha, self.shift)

    def moment(self, alpha: arb) -> arb | None:
        """As `divergence`."""
        s = arb(self.shift)
        return (alpha * ((alpha - 1) * s).exp() + (alpha - 1) * (-alpha * s).exp()) / (2 * alpha - 1)

    def doubled(self) -> Self | None:
        """In its shift."""
        return replace(self, shift=2 * self.shift)
