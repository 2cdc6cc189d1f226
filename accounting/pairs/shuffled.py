"""Epochs of shuffled batches, each unit in one batch: pairs that dominate, by clones (docs/theory/shuffled.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from .order import Order, order_of
from .pair import Pair


@dataclass(frozen=True, slots=True)
class ShuffledPair(Pair):
    """An epoch with the unit against one without it, in its place (zero-out): an upper end only.

    base: the pair of the unit's own batch. batches: how many have the largest size. order: REMOVE: the epoch with the
    unit comes first; ADD: the other way round. fineness: as in AllocationPair; .02 leaves less than .1% of epsilon.
    """

    base: Pair
    batches: int
    order: Order
    fineness: float = 0.02

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        """In the base's parameters."""
        return replace(self, base=self.base.moved(factor))

    def is_envelope(self) -> bool:
        """Nobody is known to attain it."""
        return True


@dataclass(frozen=True, slots=True)
class ReplacedShuffledPair(Pair):
    """An epoch with the unit's data against one with other data: an upper end only, symmetric in its two orders.

    apart: the pair of the unit's own batch, with the unit against without. whole: with it against with the other data.
    """

    apart: Pair
    whole: Pair
    batches: int
    fineness: float = 0.02

    def moved(self, factor: float) -> Self:
        """In the parameters of both."""
        return replace(self, apart=self.apart.moved(factor), whole=self.whole.moved(factor))

    def is_envelope(self) -> bool:
        """Nobody is known to attain it."""
        return True
