"""Reports in random order: how many are for the one value, how many for the other (docs/theory/shuffle_model.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from ..losses.atoms import count_cells, laws
from ..rounding import UNIT
from .pair import Pair


@dataclass(frozen=True, slots=True)
class CountsPair(Pair):
    """The law of (A, B) among `reports` reports, each for the first value, for the second, or for neither.

    Each other report is for the first value with probability `each`, for the second with the same. The unit's is for
    the first with odds e^epsilon under P, with odds e^-epsilon under Q, and for one of them for certain. Symmetric.
    """

    reports: int
    epsilon: float
    each: float

    def losses(self) -> laws.Losses | None:
        """From a table, unless that is too large."""
        return count_cells.losses_of_counts(self)

    @property
    def unmoved(self) -> float:
        """The unit's report is never for neither."""
        return 0.0

    def moved(self, factor: float) -> Self:
        """In its epsilon; fewer others who could have said the same hide less."""
        return replace(self, epsilon=self.epsilon * factor, each=min(self.each / factor, 0.5 - UNIT))

    def words(self) -> str:
        return (
            f"{self.reports} reports in random order, the others' for either value with probability {self.each:.6g}, "
            f"the unit's for the first or the second with odds e^{self.epsilon:.6g}"
        )

    def supremum(self) -> arb | None:
        """Where all speak for the first value."""
        return arb(self.epsilon)


@dataclass(frozen=True, slots=True)
class ShuffledResponsePair(Pair):
    """Randomized response of at least 3 categories in random order: how many report the unit's one category and its
    other one, where all others' own is a third. Symmetric."""

    reports: int
    flip: float
    categories: int

    @property
    def each(self) -> float:
        """An other unit's probability of reporting the one, or the other."""
        return self.flip / (self.categories - 1)

    def losses(self) -> laws.Losses | None:
        """From a table, unless that is too large."""
        return count_cells.losses_of_counts(self)

    @property
    def unmoved(self) -> float:
        """The probability that the unit reports neither."""
        return (self.categories - 2) * self.each

    @property
    def epsilon(self) -> float:
        """Of one report by itself."""
        return math.log1p(-self.flip) - math.log(self.each)

    def moved(self, factor: float) -> Self:
        """In its flip: reporting once more at random is post-processing, of all reports at once."""
        return replace(self, flip=min(self.flip / factor, 1 - 1 / self.categories))

    def words(self) -> str:
        return (
            f"{self.reports} reports in random order, all others' own category a third one, each flipped with "
            f"probability {self.flip:.6g} to one of {self.categories - 1}"
        )

    def supremum(self) -> arb | None:
        """Where all report the first category."""
        flip = arb(self.flip)
        return ((1 - flip) * (self.categories - 1) / flip).log()
