"""Cohorts of fixed size under zero-out (docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from ..rounding import UNIT
from .gaussian import GaussianPair
from .order import Order, Sampling, order_of
from .pair import Pair
from .subsampled import SubsampledPair
from .tails import normal_tail, positive


@dataclass(frozen=True, slots=True)
class OpposedPair(Pair):
    """A cohort of fixed size, zero-out, Gaussian noise of scale 1; the unit's substitute contributes its opposite.

    order: "remove": P = (1 - rate) N(-shift) + rate N(shift) against Q = (1 - rate) N(-shift) + rate N(0); "add": Q
    against P. shift > 0, 0 < rate < 1.
    """

    shift: float
    rate: float
    order: Order

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        """In shift and rate."""
        return replace(self, shift=self.shift * factor, rate=min(self.rate * factor, 1 - UNIT))

    def profile(self, epsilon: arb) -> arb:
        """At epsilon >= 0."""
        return _opposed(arb(self.shift), arb(self.rate), epsilon.exp(), self.order)

    def words(self) -> str:
        """P against Q."""
        return (
            f"N(-{self.shift:.6g}, 1), or with probability {self.rate:.6g} N({self.shift:.6g}, 1); "
            f"against N(-{self.shift:.6g}, 1), or with probability {self.rate:.6g} N(0, 1)"
        )


@dataclass(frozen=True, slots=True)
class ZeroedPair(Pair):
    """The tight pair of one round of a cohort of fixed size under zero-out, with Gaussian noise of scale 1.

    order: "remove": the profile is that of the OpposedPair "remove" for eps >= 0, and for eps < 0 that of "add" of a
    SubsampledPair with this shift (its substitute contributes the same as the unit); "add": with P and Q exchanged.
    """

    shift: float
    rate: float
    order: Order

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        """In shift and rate."""
        return replace(self, shift=self.shift * factor, rate=min(self.rate * factor, 1 - UNIT))

    def profile(self, epsilon: arb) -> arb:
        """At epsilon >= 0."""
        if self.order == Order.REMOVE:
            return _opposed(arb(self.shift), arb(self.rate), epsilon.exp(), Order.REMOVE)
        return SubsampledPair(GaussianPair(self.shift), self.rate, Sampling.REMOVE).profile(epsilon)


def _opposed(s: arb, rate: arb, odds: arb, order: Order) -> arb:
    """Moved so that the substitute is at -3s/2, the unit at s/2, the zero at -s/2; w = e^{sx}, E = e^{s^2}.

    P > odds Q where w^2 - odds w > c = (1 - rate)(odds - 1) / (rate E): above the larger root, as c >= 0.
    Q > odds P where odds w^2 - w + c < 0: between its two roots, if any.
    """
    c = (1 - rate) * (odds - 1) / (rate * (s * s).exp())
    if order == Order.REMOVE:
        x = (odds / 2 + (odds * odds / 4 + c).sqrt()).log() / s
        unit, zero, rest = normal_tail(x - s / 2), normal_tail(x + s / 2), normal_tail(x + 3 * s / 2)
        return rate * (unit - odds * zero) - (1 - rate) * (odds - 1) * rest
    square = 1 - 4 * odds * c
    if square <= 0:
        return arb(0)
    root = square.max(arb(0)).sqrt()
    right = ((1 + root) / (2 * odds)).log() / s
    left = 2 * c / (1 + root)  # w at the smaller root, 0 at odds = 1

    def between(centre: arb) -> arb:
        below = normal_tail(centre - left.log() / s) if left > 0 else arb(0).union(normal_tail(centre - right))
        return normal_tail(centre - right) - (arb(0) if odds == 1 else below)

    unit, zero, rest = between(s / 2), between(-s / 2), between(-3 * s / 2)
    value = positive(rate * (zero - odds * unit) - (1 - rate) * (odds - 1) * rest)
    return value if square > 0 else value.union(arb(0))
