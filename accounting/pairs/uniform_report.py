"""A report by randomized response against one that says nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .finite import FinitePair
from .order import Order, order_of


@dataclass(frozen=True, slots=True)
class UniformReportPair(FinitePair):
    """P reports the true one of `categories` with probability 1 - flip, Q each with 1/categories; "add": exchanged."""

    flip: float
    categories: int
    order: Order

    def __post_init__(self) -> None:
        """The two orders have pairs of their own, so neither is its own mirror image."""
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        return replace(self, flip=min(self.flip / factor, 1 - 1 / self.categories))

    def mirrored(self) -> Self:
        return replace(self, order=self.order.exchanged)

    def words(self) -> str:
        report = f"one of {self.categories} categories, flipped with {self.flip:.6g}"
        return f"{report}; against any" if self.order == Order.REMOVE else f"any of {self.categories} against {report}"

    def outcomes(self) -> list[tuple[arb, arb]]:
        """The true category, and all others together, which have one loss."""
        flip, share = arb(self.flip), 1 / arb(self.categories)
        known = [(1 - flip, share), (flip, 1 - share)]
        return known if self.order == Order.REMOVE else [(q, p) for p, q in known]
