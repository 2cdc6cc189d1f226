"""Several releases on one sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .gaussian import GaussianPair
from .pair import Composition, Pair

_BITS = 128


@dataclass(frozen=True, slots=True)
class ProductPair(Pair):
    """The product of several pairs, as the base of one that is sampled as a whole: parts as in a Composition."""

    parts: Composition

    def moved(self, factor: float) -> Self:
        """In each part's parameters."""
        return replace(self, parts=tuple((part.moved(factor), rounds) for part, rounds in self.parts))

    def mirrored(self) -> Self:
        """Each part's."""
        return replace(self, parts=tuple((part.mirrored(), rounds) for part, rounds in self.parts))

    def words(self) -> str:
        """P against Q."""
        return " and ".join(f"{rounds} x {part.words()}" for part, rounds in self.parts)

    def infinite_mass(self) -> arb:
        """Where any part's loss is infinite."""
        finite = arb(1)
        for part, rounds in self.parts:
            finite *= (1 - part.infinite_mass()) ** rounds
        return 1 - finite

    def largest_loss(self) -> float:
        """The sum."""
        return math.fsum(rounds * part.largest_loss() for part, rounds in self.parts)

    def supremum(self) -> arb | None:
        """The sum."""
        total = arb(0)
        for part, rounds in self.parts:
            loss = part.supremum()
            if loss is None:
                return None
            total += rounds * loss
        return total

    def stated_orders(self) -> tuple[float, ...]:
        """Those of any part."""
        return tuple(order for part, _ in self.parts for order in part.stated_orders())

    def has_divergence(self) -> bool:
        """Where every part has one."""
        return all(part.has_divergence() for part, _ in self.parts)

    def divergence(self, alpha: float) -> float:
        """The sum, rounded up."""
        total = math.fsum(rounds * part.divergence(alpha) for part, rounds in self.parts)
        return total * (1 + 2.0**-40)


def product_of(parts: Composition) -> Pair:
    """One pair for several on the same sample; Gaussian ones are one Gaussian (Dong, Roth, Su 2022, Corollary 3.3).

    Its shift is the root of the sum of squares, rounded once: within PARAMETER for all inputs within half of that.
    """
    squares = arb(0)
    counts: dict[Pair, int] = {}
    for pair, rounds in parts:
        if isinstance(pair, GaussianPair):
            squares += rounds * arb(pair.shift) ** 2
        else:
            counts[pair] = counts.get(pair, 0) + rounds
    if squares > 0:
        counts[GaussianPair(float(squares.sqrt().mid()))] = 1
    if len(counts) == 1:
        ((pair, rounds),) = counts.items()
        if rounds == 1:
            return pair
    return ProductPair(tuple(counts.items()))
