"""Epochs of shuffled batches, each unit in one batch: pairs that dominate, by clones (docs/theory/shuffled.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from ..allocation import block, shuffled_epoch, shuffled_replaced
from ..losses.atoms import laws
from ..losses.atoms.edges import Resolution
from ..losses.atoms.transform import AtomLaw, Law
from ..rounding import End
from .order import Order, order_of
from .pair import Pair

_CUT = laws.Cut(1e-4, 1e-2)

_SMALLEST_TAIL = 1e-27
"""Below, tails would be looked at that no transform resolves."""


@dataclass(frozen=True, slots=True)
class ShuffledPair(Pair):
    """An epoch with the unit against one without it, in its place (zero-out): an upper end only.

    base: the pair of the unit's own batch. batches: how many have the largest size. order: REMOVE: the epoch with the
    unit comes first; ADD: the other way round. fineness: as in AllocationPair; .02 leaves less than .1% of epsilon.
    """

    envelope: ClassVar[bool] = True

    base: Pair
    batches: int
    order: Order
    fineness: float = 0.02

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        return replace(self, base=self.base.moved(factor))

    def losses(self) -> laws.Losses | None:
        """By clones, from above: of no use from below."""
        if not block.supports_base(self.base):
            return None

        def law(end: End, resolution: Resolution) -> Law:
            look = shuffled_epoch.look(max(self.fineness, resolution.fineness))
            return AtomLaw(
                shuffled_epoch.losses_of_epoch(self.base, self.batches, self.order, look, _lost(resolution.tail))
            )

        return laws.Losses(law, cut=_CUT)


@dataclass(frozen=True, slots=True)
class ReplacedShuffledPair(Pair):
    """An epoch with the unit's data against one with other data: an upper end only, symmetric in its two orders.

    apart: the pair of the unit's own batch, with the unit against without. whole: with it against with the other data.
    """

    envelope: ClassVar[bool] = True

    apart: Pair
    whole: Pair
    batches: int
    fineness: float = 0.02

    def moved(self, factor: float) -> Self:
        return replace(self, apart=self.apart.moved(factor), whole=self.whole.moved(factor))

    def losses(self) -> laws.Losses | None:
        """By clones, from above: of no use from below."""
        if not block.supports_base(self.apart):
            return None

        def law(end: End, resolution: Resolution) -> Law:
            look = shuffled_epoch.look(max(self.fineness, resolution.fineness))
            known = shuffled_replaced.losses_of_replaced_epoch(
                self.apart, self.whole, self.batches, look, _lost(resolution.tail)
            )
            return AtomLaw(known)

        return laws.Losses(law, cut=_CUT)


def _lost(tail: float) -> float:
    """About the P-mass of an epoch that may be lost: neighbouring targets share a law."""
    return 1e3 ** math.floor(math.log(max(tail, _SMALLEST_TAIL), 1e3))
