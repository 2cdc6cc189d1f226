"""One of several pairs, by a public coin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .pair import Pair
from .tails import positive

_KNOWN = 2.0**-40


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a public coin. Numbers stand for those within a relative 2^-40 of them; a loss of 0 is exact.

    likely: its probability under P. pair: what there is to see then, besides; None: nothing. loss: log of its
    probability under P over that under Q.
    """

    likely: float
    pair: Pair | None
    loss: float = 0.0


@dataclass(frozen=True, slots=True)
class MixturePair(Pair):
    """A public coin says which of several pairs it is; the coin's own law may differ under P and Q."""

    sides: tuple[Side, ...]

    def moved(self, factor: float) -> Self:
        """In each pair's parameters."""
        moved = (replace(each, pair=each.pair and each.pair.moved(factor)) for each in self.sides)
        return replace(self, sides=tuple(moved))

    def has_profile(self) -> bool:
        """Where every pair has one."""
        return all(each.pair is None or each.pair.has_profile() for each in self.sides)

    def profile(self, epsilon: arb) -> arb:
        """The pairs' profiles, weighted: each at the epsilon that its side leaves."""
        total = arb(0)
        for each in self.sides:
            left = epsilon - arb(each.loss, abs(each.loss) * _KNOWN)
            inner = each.pair.profile(left) if each.pair else positive(1 - left.exp())
            total += arb(each.likely, each.likely * _KNOWN) * inner
        return total
