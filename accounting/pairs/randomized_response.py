"""One category out of several, reported falsely with some probability."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .categories import CategoriesPair
from .moments import from_terms
from .pair import largest_loss
from .tails import positive


@dataclass(frozen=True, slots=True)
class RandomizedResponsePair(CategoriesPair):
    """P reports category 0 with probability 1 - flip, Q category 1; each other one with flip/(categories-1)."""

    flip: float
    categories: int

    def moved(self, factor: float) -> Self:
        return replace(self, flip=min(self.flip / factor, 1 - 1 / self.categories))

    def words(self) -> str:
        return f"one of {self.categories} categories against another, flipped with {self.flip:.6g}"

    def profile(self, epsilon: arb) -> arb:
        """A sum over the two categories and the others."""
        odds, other, truth = epsilon.exp(), arb(self.flip) / (self.categories - 1), 1 - arb(self.flip)
        rest = (self.categories - 2) * other * positive(1 - odds)
        return positive(truth - odds * other) + positive(other - odds * truth) + rest

    def supremum(self) -> arb | None:
        """Of the truth."""
        flip = arb(self.flip)
        return ((1 - flip) * (self.categories - 1) / flip).log()

    def _divergence(self, alpha: float) -> float:
        """Mironov 2017, arXiv 1702.07476, Proposition 5, for any number of categories."""
        t, other = alpha - 1, self.flip / (self.categories - 1)
        high, low = math.log1p(-self.flip), math.log(other)
        rest = [math.log((self.categories - 2) * other)] if self.categories > 2 else []
        return from_terms([alpha * high - t * low, alpha * low - t * high, *rest], alpha, largest_loss(self))

    def likely(self) -> tuple[arb, arb, int]:
        """The truth, and each other category."""
        return 1 - arb(self.flip), arb(self.flip) / (self.categories - 1), self.categories - 2

    def doubles(self) -> tuple[list[float], float, float]:
        """The same in doubles."""
        truth, other = 1 - self.flip, self.flip / (self.categories - 1)
        return [truth, other, other * (self.categories - 2)], math.log(truth / other), 0.0
