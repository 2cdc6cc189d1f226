"""Where the entries of a dataset lie, and pairs of neighbours with what a search knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from .checker.pairs import Neighbours, cases, order_of
from .solver import Space

RELATIONS = ("replace-one", "add-remove", "answers")


@dataclass(frozen=True)
class Domain:
    """Where entries lie: None is no bound. whole: they are integers. records: they are rows of a 2-d array."""

    low: Fraction | None = Fraction(0)
    high: Fraction | None = Fraction(1)
    whole: bool = False
    records: bool = False

    def words(self) -> str:
        """'all real numbers in [0, 1]'."""
        if self.records:
            return "all records of real numbers, of any length that holds the columns read by number"
        kind = "integers" if self.whole else "real numbers"
        low, high = ("-inf" if self.low is None else str(self.low)), ("inf" if self.high is None else str(self.high))
        return f"all {kind}" if self.low is None and self.high is None else f"all {kind} in [{low}, {high}]"


@dataclass(frozen=True)
class Pair:
    """A case of neighbours, and the space of its variables."""

    case: Neighbours
    space: Space

    @property
    def name(self) -> str:
        return self.case.name


def pairs(relation: str, entries: int, domain: Domain, merging: bool, notion: str = "dp") -> Iterator[Pair]:
    """The cases of the relation for datasets of that many entries (add-remove: the larger one)."""
    order = order_of("rows" if domain.records else "array", notion)
    for case in cases(relation, entries, domain.low, domain.high, domain.whole, merging, order):
        here = {name for form in case.dataset for name in form.slopes}
        there = {name for form in case.neighbour for name in form.slopes}
        yield Pair(case, Space(case.data, here ^ there))
