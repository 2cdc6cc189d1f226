"""Blocks of rounds of which a unit picks some (random allocation)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from ..allocation import block, repeated_blocks, replaced, scored_block
from ..losses.atoms import laws
from ..losses.atoms.edges import Resolution
from ..losses.atoms.transform import AtomLaw, Law
from ..renyi import allocation_divergence
from ..rounding import UNIT, End, widened_up
from .gaussian import GaussianPair
from .order import Order, order_of
from .pair import Pair
from .product import ProductPair
from .scored_block import ScoredBlockPair
from .subsampled import doubled as doubled_noise


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
        return replace(self, base=self.base.moved(factor))

    def losses(self) -> laws.Losses | None:
        """By the mean of the rounds' likelihood ratios."""
        if not block.supports_base(self.base):
            return None
        ways = {End.UPPER: repeated_blocks.law_above, End.LOWER: repeated_blocks.law_below}

        def law(end: End, resolution: Resolution) -> Law:
            return ways[end](self, max(self.fineness, resolution.fineness), resolution.tail)

        return laws.Losses(law, cut=laws.Cut(1e-6, fineness=self.fineness))

    def _divergence(self, alpha: float) -> float | None:
        """Of Gaussian noise."""
        return allocation_divergence.allocation_divergence(self, alpha) if self.base.gaussian() else None

    def supremum(self) -> arb | None:
        """The ratio is a mean of products of `participations` rounds' ratios: it is largest where all rounds' are, and
        smallest where all are smallest."""
        most = self._participation().supremum()
        return None if most is None else self.participations * most

    def revealed(self) -> Pair:
        """A round of the base for each participation."""
        return _seen_rounds(self._participation(), self.participations)

    def _participation(self) -> Pair:
        """One round that the unit takes part in, in this order."""
        return self.base if self.order == Order.REMOVE else self.base.mirrored()

    def _slope(self, order: float) -> tuple[float, float]:
        """Seeing which rounds these are only adds."""
        return 0.0, self.revealed().renyi().slope(order)[1]


@dataclass(frozen=True, slots=True)
class ReplacedAllocationPair(Pair):
    """No pair is known: a unit that is replaced, whose rounds are drawn anew. Both neighbours' blocks are compared with
    those without any unit, an AllocationPair."""

    apart: AllocationPair

    def moved(self, factor: float) -> Self:
        return replace(self, apart=self.apart.moved(factor))

    def losses(self) -> laws.Losses | None:
        """From above by the worst contributions, from below by the scores of opposite ones."""
        known = replaced.block_of(self)
        if known is None:
            return None

        def law(end: End, resolution: Resolution) -> Law:
            if end is End.LOWER:
                pair = ScoredBlockPair(known.shift, known.rounds, 1, 1, -1)
                return AtomLaw(scored_block.losses_of_scores(pair, end))
            tail = max(1e-13, 2.0 ** math.floor(math.log2(resolution.tail)))  # neighbouring targets share a law
            return AtomLaw(replaced.losses_of_replaced(known.shift, known.rounds, tail))

        return laws.Losses(law)

    def _divergence(self, alpha: float) -> float | None:
        """Of Gaussian noise, by way of no unit."""
        return allocation_divergence.replaced_divergence(self, alpha) if self.apart.base.gaussian() else None

    def revealed(self) -> Pair | None:
        """The same rounds, with both of the unit's values."""
        doubled = doubled_noise(self.apart.base)
        return None if doubled is None else _seen_rounds(doubled, self.apart.participations)

    def _slope(self, order: float) -> tuple[float, float]:
        """Seeing which rounds these are only adds."""
        seen = self.revealed()
        return 0.0, math.inf if seen is None else seen.renyi().slope(order)[1]


def _seen_rounds(base: Pair, times: int) -> Pair:
    """So many rounds, of which one is itself, and Gaussian ones are one."""
    noise = base.gaussian()
    if noise is not None and noise.coin is None:
        return GaussianPair(widened_up(noise.shift * math.sqrt(times), 4 * UNIT))
    return base if times == 1 else ProductPair(((base, times),))
