"""Pairs that say how likely a loss above a given one is: densities between two losses, with masses at the ends."""

from __future__ import annotations

from flint import arb

from ..losses.atoms import knee_cells, laws
from .pair import Pair


class CutPair(Pair):
    """A pair that a subclass, a frozen dataclass, describes by `ends`, `knees` and `above`; all else follows.

    The loss has a density between the knees, and masses at the ends, which are at or beyond the knees; outcomes that Q
    never has are `failure`, those that P never has `only_q`.
    """

    __slots__ = ()

    def ends(self) -> tuple[arb, arb]:
        """The smallest and the largest finite loss."""
        raise NotImplementedError

    def knees(self) -> tuple[arb, arb]:
        """Between which losses there is a density."""
        return self.ends()

    def above(self, loss: arb) -> tuple[arb, arb]:
        """P(L > loss) and Q(L > loss) between the ends; at the largest loss, P(L >= loss) and Q(L >= loss)."""
        raise NotImplementedError

    def bulk(self, tail: float) -> tuple[float, float]:
        """Between which losses cells are worth having: beyond, P and Q have about this mass, or there are none."""
        low, high = self.knees()
        return float(low.mid()), float(high.mid())

    def only_q(self) -> arb:
        """A ball that holds Q(P never has the outcome): as much as P's own, for a pair that is its mirror image."""
        return self.failure()[0]

    def losses(self) -> laws.Losses | None:
        """Between losses that are evenly spaced."""
        return laws.of_cells(lambda resolution: knee_cells.cut_cells(self, resolution.cells, resolution.tail))

    def profile(self, epsilon: arb) -> arb:
        """Continuous: at an end the mass there counts for nothing, so that either side's formula serves."""
        low, high = self.ends()
        if epsilon >= high:
            return self.failure()[0]
        if epsilon <= low:
            return 1 - epsilon.exp() * (1 - self.only_q())
        p, q = self.above(epsilon)
        inner = p - epsilon.exp() * q
        if not epsilon < high:
            inner = inner.union(self.failure()[0])
        return inner if epsilon > low else inner.union(1 - epsilon.exp() * (1 - self.only_q()))

    def supremum(self) -> arb | None:
        """The upper end."""
        return self.ends()[1] if self.failure()[0] == 0 else None
