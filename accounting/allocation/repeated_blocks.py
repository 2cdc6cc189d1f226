"""The two laws of the privacy loss of an AllocationPair, for the accountant that composes laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...mechanisms.arrays import Complex, Floats
from ..losses.atoms.composition import Product
from ..losses.atoms.transform import AtomLaw, Frequencies, Law
from .block import losses_above, losses_below
from .scored_block import losses_of_block

if TYPE_CHECKING:
    from ..pairs.allocation import AllocationPair

NARROWEST = 9e-5
"""About the relative width in epsilon that a pair's default fineness leaves."""

_LOST = 400.0
"""Tails of blocks are larger than those of other rounds: they cost a few millionths of epsilon, and a block by itself
has the same ones (one_block.py), so that epochs have its law at hand."""


@dataclass(frozen=True)
class Repeated:
    """The law of a sum of `times` independent losses as the law of one step."""

    law: Law
    times: int

    @property
    def infinite(self) -> float:
        return 1.0 if self.law.infinite >= 1 else -math.expm1(self.times * math.log1p(-self.law.infinite)) * (1 + 1e-14)

    @property
    def top(self) -> float:
        return self.times * self.law.top

    def summit(self, price: float, least: float) -> tuple[float, float]:
        loss, mass = self.law.summit(price, least ** (1 / self.times))
        return self.times * loss * (1 - 1e-15), mass**self.times * (1 - 1e-12)

    def ceiling(self, mass: float) -> float:
        """By the union bound over the blocks."""
        return self.times * self.law.ceiling(mass / self.times)

    def log_moments(self, points: Floats) -> Floats:
        return self.times * self.law.log_moments(points)

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        return Product([(self.law, self.times)]).normalised(c, grid)


def law_above(pair: AllocationPair, fineness: float, tail: float) -> Law:
    """One of floor(t/k) rounds, k times: with k = 1 the block itself (docs/theory/allocation.md, "k of t")."""
    rounds = pair.rounds // pair.participations
    law = AtomLaw(losses_above(pair.base, rounds, pair.order, fineness, _LOST * tail / pair.participations))
    return law if pair.participations == 1 else Repeated(law, pair.participations)


def law_below(pair: AllocationPair, fineness: float, tail: float) -> Law:
    if pair.participations == 1:
        return AtomLaw(losses_below(pair.base, pair.rounds, pair.order, fineness, _LOST * tail))
    return AtomLaw(losses_of_block(pair.base, pair.rounds, pair.participations, pair.order, tail))
