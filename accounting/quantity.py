"""What an accountant is asked for."""

from __future__ import annotations

from ..mechanisms.word import Word


class Quantity(Word):
    """What is asked for: epsilon at a delta, or delta at an epsilon."""

    EPSILON = "epsilon"
    DELTA = "delta"

    @property
    def place(self) -> Quantity:
        """The other one, at which it is asked."""
        return Quantity.DELTA if self == Quantity.EPSILON else Quantity.EPSILON
