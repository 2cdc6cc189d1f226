"""Blocks of rounds of which a unit picks some (random allocation)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from .order import Order, order_of
from .pair import Pair


@dataclass(frozen=True, slots=True)
class AllocationPair(Pair):
    """A block of rounds, of which `participations`, hidden and uniform, have the law P0 of the base and the others Q0.

    order: "remove": against Q0 in all of them; "add": the other way round. fineness: how finely its law is cut, as the
    step of the grid over the spread of log P/Q; .0075 leaves less than 1e-4 of epsilon.
    """

    base: Pair
    rounds: int
    participations: int
    order: Order
    fineness: float = 0.0075

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        """In the base's parameters."""
        return replace(self, base=self.base.moved(factor))


@dataclass(frozen=True, slots=True)
class ReplacedAllocationPair(Pair):
    """No pair is known: a unit that is replaced, whose rounds are drawn anew. Both neighbours' blocks are compared with
    those without any unit, an AllocationPair."""

    apart: AllocationPair

    def moved(self, factor: float) -> Self:
        """In the parameters of the blocks that are compared."""
        return replace(self, apart=self.apart.moved(factor))
