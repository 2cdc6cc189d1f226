"""One event of an attained pair: whether it happened is a function of the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from flint import arb

from ...mechanisms import InputError
from .finite import FinitePair


@dataclass(frozen=True, slots=True)
class EventPair(FinitePair):
    """An event that has probability `likely` under P and `unlikely` under Q: a pair in this order only.

    For a lower bound likely is rounded down and unlikely up, so that the pair that it stands for reveals no less; for
    an upper one the other way round.
    """

    likely: float
    unlikely: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.unlikely <= self.likely <= 1.0:
            raise InputError("likely", self.likely, f"from unlikely = {self.unlikely} to 1")

    def moved(self, factor: float) -> Self:
        """Not at all: it is rounded already."""
        return self

    def words(self) -> str:
        """The event."""
        return f"an event of probability {self.likely:.6g} against {self.unlikely:.6g}"

    def outcomes(self) -> list[tuple[arb, arb]]:
        """The event, and its complement."""
        p, q = arb(self.likely), arb(self.unlikely)
        return [(p, q), (1 - p, 1 - q)]
