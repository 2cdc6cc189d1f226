"""Mechanisms of which only a privacy bound is known (published as such, with nothing else to go by)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import InputError, delta_below_one, nonnegative, number, pairs_of_numbers, positive


@dataclass(frozen=True, slots=True)
class PureDp(Mechanism):
    """Any mechanism that is epsilon-DP for the stated neighbours. epsilon: at least 0.

    >>> from dpcert import Repeat, epsilon
    >>> round(epsilon(Repeat(PureDp(0.1), 100), 1e-6).upper, 3)  # optimal composition, not 10
    4.775
    """

    epsilon: Annotated[float, Quantity(nonnegative, "the epsilon of one round")]


@dataclass(frozen=True, slots=True)
class ApproximateDp(Mechanism):
    """Any mechanism that is (epsilon, delta)-DP for the stated neighbours.

    >>> from dpcert import epsilon
    >>> round(epsilon(ApproximateDp(epsilon=1.0, delta=1e-6), 1e-6).upper, 12)
    1.0
    """

    epsilon: Annotated[float, Quantity(nonnegative, "the epsilon of one round")]
    delta: Annotated[float, Quantity(delta_below_one, "the delta of one round")]


@dataclass(frozen=True, slots=True)
class Zcdp(Mechanism):
    """Any mechanism that is rho-zCDP for the stated neighbours (Bun, Steinke 2016, Definition 1.1).

    >>> from dpcert import epsilon
    >>> round(epsilon(Zcdp(rho=0.1), 1e-6).upper, 3)
    2.142
    """

    rho: Annotated[float, Quantity(positive, "the rho of one round")]


def _orders(field: str, value: object) -> tuple[tuple[float, float], ...]:
    """(order, epsilon) points with orders above 1, each once, in their order."""
    points = pairs_of_numbers(field, value, "order, epsilon")
    known: dict[float, float] = {}
    for order, divergence in points:
        if number(field, order) <= 1:
            raise InputError(field, value, "orders above 1; for the order infinity state pure DP")
        if order in known:
            raise InputError(field, value, f"each order once; {order:g} is there twice")
        known[order] = nonnegative(field, divergence)
    return tuple(sorted(known.items()))


@dataclass(frozen=True, slots=True)
class RenyiDp(Mechanism):
    """Any mechanism that is (order, epsilon)-Renyi-DP at each of these points, for the stated neighbours (Mironov 2017,
    arXiv 1702.07476, Definition 4). Of orders beyond the last one nothing is known.

    points: (order, epsilon), one or several. Between orders (order - 1) epsilon is convex.

    >>> from dpcert import Repeat, epsilon
    >>> round(epsilon(Repeat(RenyiDp([(8, 0.1), (16, 0.2), (32, 0.4)]), 10), 1e-6).upper, 3)
    2.543
    """

    points: Annotated[
        tuple[tuple[float, float], ...],
        Quantity(
            _orders, "[[order, epsilon], ...] of one round: at each order the Renyi divergence is at most epsilon"
        ),
    ]

    def for_group(self, units: int) -> RenyiDp | None:
        """What holds for so many units at once: for 2^c of them 3^c epsilon at an order 2^c times as small (Mironov
        2017, Proposition 2); None where no order is left."""
        halvings = (units - 1).bit_length()
        grown = [
            (order / 2**halvings, 3**halvings * cost) for order, cost in self.points if order >= 2 ** (halvings + 1)
        ]
        return RenyiDp(tuple(grown)) if grown else None
