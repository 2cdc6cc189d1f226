"""numpy.argsort of symbols, of which no more is found out than is read."""

from __future__ import annotations

from collections.abc import Iterator

from ..order import Ranking


class Ranks:
    """The places of values by rank."""

    __slots__ = ("ranking", "ranks")

    def __init__(self, ranking: Ranking, ranks: range) -> None:
        self.ranking, self.ranks = ranking, ranks

    def __len__(self) -> int:
        return len(self.ranks)

    def at(self, place: int) -> int:
        """The place of the value of that rank. Raises IndexError."""
        return self.ranking.at(self.ranks[place])

    def part(self, places: slice) -> Ranks:
        return Ranks(self.ranking, self.ranks[places])

    def places(self) -> list[int]:
        """All of them; those near to an end are found first."""
        return self.ranking.each(self.ranks)

    def __iter__(self) -> Iterator[int]:
        return (self.at(i) for i in range(len(self)))
