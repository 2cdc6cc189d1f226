"""Pairs of a continuous location family, which can be cut into cells: N(shift) against N(0) for a noise N."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from ...mechanisms.arrays import Floats
from ..losses.atoms import edges, laws, sampled_cells
from ..losses.atoms.cells import Cells
from ..losses.atoms.transform import Law
from .pair import Pair


class LocationPair(Pair):
    """With a monotone likelihood ratio."""

    __slots__ = ()
    shift: float

    def law(self) -> Law | None:
        """The law of the loss, where its transform has a formula."""
        return None

    def losses(self) -> laws.Losses:
        """In closed form, or cut; beside other releases it is cut into cells of equal width."""
        closed = self.law()
        if closed is None:
            return laws.of_cells(self._cells)
        return laws.Losses(lambda side, resolution: closed, self._cells)

    def _cells(self, resolution: edges.Resolution) -> Cells:
        return sampled_cells.location_cells(self, edges.even_edges(self, resolution), resolution.tail)

    @abstractmethod
    def doubled(self) -> Self:
        """The pair of a sum that moves twice as far."""

    @property
    def outer(self) -> tuple[float, ...]:
        """Edges beyond the span: infinite where the loss is constant there, so that nothing is left out."""
        return ()

    @abstractmethod
    def span(self, tail: float, lowest: float) -> tuple[float, float]:
        """The range to cut when the centres are between `lowest` and the shift; no centre has more than `tail` mass
        outside on a side, but for what `outer` adds."""

    @abstractmethod
    def masses(self, edges: Floats, centre: float) -> tuple[Floats, Floats]:
        """The masses of N(centre) between consecutive edges, and their relative errors."""

    @abstractmethod
    def log_ratio(self, x: Floats) -> tuple[Floats, Floats]:
        """log dN(shift)/dN(0), and its error."""
