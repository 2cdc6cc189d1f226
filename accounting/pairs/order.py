"""The orders in which two neighbours are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from ...mechanisms import InputError
from ...mechanisms.word import Word


class Order(Word):
    """Whose law P is: that of the neighbour that has the unit (REMOVE: Q lacks it), or of the one without it (ADD).

    Of a replaced unit both have one, and either order serves either.
    """

    REMOVE = "remove"
    ADD = "add"

    @property
    def exchanged(self) -> Order:
        """The other one."""
        return Order.ADD if self == Order.REMOVE else Order.REMOVE


class Sampling(Word):
    """How the two laws of a sampled round differ: SubsampledPair says it in full."""

    REMOVE = "remove"
    ADD = "add"
    REPLACE = "replace"
    HYBRID = "hybrid"
    VISIBLE = "visible"

    @classmethod
    def of(cls, order: Order) -> Sampling:
        """The same order, of a unit that is there or not."""
        return cls(order.value)


@dataclass(frozen=True, slots=True)
class GaussianRound:
    """Gaussian noise of scale 1, moved by `shift`; behind a coin of this rate and kind, or (None) behind none."""

    shift: float
    rate: float = 1.0
    coin: Sampling | None = None


Kind = TypeVar("Kind", Order, Sampling)


def order_of(kind: type[Kind], pair: object, order: Kind) -> Kind:
    """The order of a pair at its construction, also where it is written as text. Raises InputError for one that this
    kind of pair does not know: it would be taken for another one later."""
    if type(order) is kind:
        return order
    try:
        return kind(order)
    except ValueError:
        raise InputError("order", order, f"one of {', '.join(kind)} for {type(pair).__name__}") from None
