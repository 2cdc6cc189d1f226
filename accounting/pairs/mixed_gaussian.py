"""A Poisson round of Gaussian noise in which each of several units takes part by a coin of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb, fmpz

from ..rounding import UNIT
from .order import Order, order_of
from .pair import Pair
from .tails import normal_tail, positive

_HALVINGS = 90

MOST_UNITS = 1000


@dataclass(frozen=True, slots=True)
class MixedGaussianPair(Pair):
    """P = sum over j of Bin(units, rate)(j) N(j shift, 1) against Q = N(0, 1); order "add": Q against P.

    That it dominates a group's Poisson round: Ganesh 2024 (arXiv 2401.10294), and docs/theory/dominating_pairs.md.
    """

    shift: float
    rate: float
    units: int
    order: Order

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        """In shift and rate."""
        return replace(self, shift=self.shift * factor, rate=min(self.rate * factor, 1 - UNIT))

    def words(self) -> str:
        """P against Q."""
        mixture = f"N({self.shift:.6g} J, 1), J binomial of {self.units} with probability {self.rate:.6g}"
        return f"{mixture}; against N(0, 1)" if self.order == Order.REMOVE else f"N(0, 1) against: {mixture}"

    def weights(self) -> list[arb]:
        """The law of the number of units that take part."""
        q, n = arb(self.rate), self.units
        return [arb(fmpz(math.comb(n, j))) * q**j * (1 - q) ** (n - j) for j in range(n + 1)]

    def supremum(self) -> arb | None:
        """Of the order "add": where nobody of them took part."""
        return -self.units * (1 - arb(self.rate)).log() if self.order == Order.ADD else None

    def has_profile(self) -> bool:
        """A formula, up to the root of a monotone function."""
        return self.units <= MOST_UNITS

    def profile(self, epsilon: arb) -> arb:
        """The likelihood ratio grows with x: P(x > t) - odds Q(x > t) where it is odds, or the complement's."""
        weights, s, odds = self.weights(), arb(self.shift), epsilon.exp()
        level = odds if self.order == Order.REMOVE else 1 / odds
        if not level > weights[0]:
            return 1 - odds if self.order == Order.REMOVE else arb(0)  # P exceeds odds Q everywhere; nowhere
        left, right = _root(weights, s, level)
        return positive(self._beyond(weights, s, odds, left, right))

    def _beyond(self, weights: list[arb], s: arb, odds: arb, left: arb, right: arb) -> arb:
        """A ball that holds the largest P(E) - odds Q(E): at any t at most that, and within t's interval at least."""

        def mixture(t: arb) -> arb:
            return sum((w * normal_tail(t - j * s) for j, w in enumerate(weights)), arb(0))

        def between(start: arb, end: arb) -> arb:
            if self.order == Order.REMOVE:
                return mixture(start) - odds * normal_tail(end)
            return normal_tail(-end) - odds * (1 - mixture(start))

        return between(left, left).union(between(left, right))


def _root(weights: list[arb], s: arb, level: arb) -> tuple[arb, arb]:
    """Two points, close to each other, between which the likelihood ratio is `level`, by halving."""

    def ratio(x: arb) -> arb:
        return sum((w * (j * s * x - (j * s) ** 2 / 2).exp() for j, w in enumerate(weights)), arb(0))

    low, high = arb(-1), arb(1)
    while not ratio(low) < level:
        low *= 2
    while not ratio(high) > level:
        high *= 2
    for _ in range(_HALVINGS):
        middle = arb(((low + high) / 2).mid())
        value = ratio(middle)
        if value < level:
            low = middle
        elif value > level:
            high = middle
        else:
            break
    return low, high
