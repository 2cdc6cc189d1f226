"""Pairs of integer noise N, which can be tabled: N(shift) against N(0)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from ...mechanisms.arrays import Floats
from ..losses.atoms import discrete_cells, laws
from .pair import Pair


class LatticePair(Pair):
    """With a monotone likelihood ratio."""

    __slots__ = ()
    shift: int

    def losses(self) -> laws.Losses | None:
        """From a table, unless that is too large."""
        if self.size() >= discrete_cells.MOST_OUTCOMES:
            return None
        return laws.of_cells(lambda resolution: discrete_cells.lattice_cells(self, resolution.tail))

    @abstractmethod
    def doubled(self) -> Self:
        """The pair of a sum that moves twice as far."""

    @abstractmethod
    def size(self) -> float:
        """At least the number of outcomes in a table."""

    @abstractmethod
    def points(self, tail: float, lowest: int) -> Floats:
        """Outcomes for centres between `lowest` and `shift`; all but 2 * tail of each centre's mass is on them."""

    @abstractmethod
    def masses(self, points: Floats, centre: int) -> tuple[Floats, Floats]:
        """Masses of N(centre), and their relative errors."""

    @abstractmethod
    def log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        """log dN(shift)/dN(0), and its absolute errors."""
