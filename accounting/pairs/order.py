"""The orders in which two neighbours are named."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from ...mechanisms import InputError


class Order(StrEnum):
    """Whose law P is: that of the neighbour that has the unit (REMOVE: Q lacks it), or of the one without it (ADD).

    Of a replaced unit both have one, and either order serves either.
    """

    REMOVE = "remove"
    ADD = "add"

    __hash__ = str.__hash__  # as for any text, and not by a function of the enumeration's: pairs are looked up by it

    @property
    def exchanged(self) -> Order:
        """The other one."""
        return Order.ADD if self is Order.REMOVE else Order.REMOVE

    def __repr__(self) -> str:
        """As it is written."""
        return repr(self.value)


class Sampling(StrEnum):
    """How the two laws of a sampled round differ: SubsampledPair says it in full."""

    REMOVE = "remove"
    ADD = "add"
    REPLACE = "replace"
    HYBRID = "hybrid"
    VISIBLE = "visible"

    __hash__ = str.__hash__

    @classmethod
    def of(cls, order: Order) -> Sampling:
        """The same order, of a unit that is there or not."""
        return cls(order.value)

    def __repr__(self) -> str:
        """As it is written."""
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class GaussianRound:
    """Gaussian noise of scale 1, moved by `shift`; behind a coin of this rate and kind, or (None) behind none."""

    shift: float
    rate: float = 1.0
    coin: Sampling | None = None


Word = TypeVar("Word", Order, Sampling)


def order_of(kind: type[Word], pair: object, order: Word) -> Word:
    """The order of a pair at its construction, also where it is written as text. Raises InputError for one that this
    kind of pair does not know: it would be taken for another one later."""
    if type(order) is kind:
        return order
    try:
        return kind(order)
    except ValueError:
        raise InputError("order", order, f"one of {', '.join(kind)} for {type(pair).__name__}") from None
