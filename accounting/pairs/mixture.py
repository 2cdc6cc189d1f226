"""One of several pairs, by a public coin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from flint import arb

from ..losses.atoms import laws
from ..losses.atoms.cells import Atoms
from ..losses.atoms.edges import Resolution
from ..losses.atoms.transform import AtomLaw, Law
from ..rounding import End
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
        moved = (replace(each, pair=each.pair and each.pair.moved(factor)) for each in self.sides)
        return replace(self, sides=tuple(moved))

    def losses(self) -> laws.Losses | None:
        """The atoms of all sides, of pairs that a coin decides about."""
        parts = [(each, each.pair.losses()) for each in self.sides if each.pair]
        known = {each: of.cells for each, of in parts if of is not None and of.cells is not None and of.rate}
        if len(known) < len(dict(parts)):
            return None

        def law(end: End, resolution: Resolution) -> Law:
            found = []
            for each in self.sides:
                cells = known.get(each)
                nothing = Atoms(np.zeros(1), np.ones(1), 0.0)
                atoms = nothing if cells is None else laws.atoms_of(cells(resolution), end, resolution.tail)
                found.append(laws.on_side(atoms, each.likely, each.loss, end))
            return AtomLaw(laws.together(found))

        return laws.Losses(law, rate=sum(each.likely * of.rate for each, of in parts if of is not None))

    def profile(self, epsilon: arb) -> arb | None:
        """The pairs' profiles, weighted: each at the epsilon that its side leaves."""
        total = arb(0)
        for each in self.sides:
            left = epsilon - arb(each.loss, abs(each.loss) * _KNOWN)
            inner = each.pair.profile(left) if each.pair else positive(1 - left.exp())
            if inner is None:
                return None
            total += arb(each.likely, each.likely * _KNOWN) * inner
        return total
