"""A step in which the unit takes part with some probability.

Profiles: with h that of the base pair and x = e^eps (Zhu, Dong, Wang 2022, arXiv 2106.08567, Section 5):
- "remove" and "hybrid": rate * h(log((x - 1 + rate) / rate));
- "add": (1 - x (1 - rate)) h(log(x rate / (1 - x (1 - rate)))), 0 where x (1 - rate) >= 1, h of the base mirrored;
- "visible": rate * h(eps).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from ..rounding import UNIT
from .gaussian import GaussianPair
from .order import Sampling, order_of
from .pair import Pair
from .tails import normal_tail


@dataclass(frozen=True, slots=True)
class SubsampledPair(Pair):
    """A base pair (P0, Q0) that applies only when the unit is sampled, with probability rate < 1.

    order:
    - "remove":  P = (1 - rate) Q0 + rate P0 against Q0.
    - "add":     Q0 against (1 - rate) Q0 + rate P0.
    - "replace": location families only, with noise N of scale 1 and base shift s:
                 P = (1 - rate) N(0) + rate N(s) against Q = (1 - rate) N(0) + rate N(-s).
    - "hybrid":  the symmetric pair whose profile is that of "remove" for eps >= 0, and
                 1 - e^eps + e^eps delta_remove(-eps) for eps < 0.
    - "visible": the coin is public: with probability rate the outcome is (1, P0) against (1, Q0), else (0, .)
                 under both.
    """

    base: Pair
    rate: float
    order: Sampling

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Sampling, self, self.order))

    def moved(self, factor: float) -> Self:
        """In the base's parameters, and in the rate."""
        return replace(self, base=self.base.moved(factor), rate=min(self.rate * factor, 1 - UNIT))

    def has_profile(self) -> bool:
        """Where the base has one; the replace order: Gaussian noise only."""
        if self.order == Sampling.REPLACE:
            return isinstance(self.base, GaussianPair)
        return not isinstance(self.base, SubsampledPair) and self.base.has_profile()

    def profile(self, epsilon: arb) -> arb:
        """The module's formulas."""
        rate, odds = arb(self.rate), epsilon.exp()
        if self.order == Sampling.VISIBLE:
            return rate * self.base.profile(epsilon)
        if self.order == Sampling.REPLACE:
            if not isinstance(self.base, GaussianPair):
                raise TypeError(f"no formula for {self}")
            return _gaussian_replace(arb(self.base.shift), rate, odds)
        if self.order == Sampling.ADD:
            rest = 1 - odds * (1 - rate)
            if rest <= 0:
                return arb(0)
            if not rest > 0:
                return arb(0).union(rest.abs_upper())
            return rest * self.base.mirrored().profile((odds * rate / rest).log())
        return rate * self.base.profile(((odds - 1 + rate) / rate).log())

    def largest_loss(self) -> float:
        """From the base's."""
        base = self.base.largest_loss()
        if self.order == Sampling.ADD:
            return -math.log1p(-self.rate * -math.expm1(-self.base.mirrored().largest_loss()))
        if self.order == Sampling.VISIBLE or base > 600:
            return base
        if self.order == Sampling.REPLACE:
            # dN(s)/dN(0) is at most e^base, and dN(-s)/dN(0) at least e^-base
            return math.log1p(self.rate * math.expm1(base)) - math.log1p(-self.rate * -math.expm1(-base))
        return math.log1p(self.rate * math.expm1(base))

    def supremum(self) -> arb | None:
        """With ratios up to e^base of the base pair, and from e^-other, that of its mirror image; None: 0, infinity."""
        rate, base, other = arb(self.rate), self.base.supremum(), self.base.mirrored().supremum()
        least = 1 - rate if other is None else 1 - rate * (1 - (-other).exp())
        if self.order == Sampling.ADD:  # against 1 - rate + rate dP0/dQ0
            return -least.log()
        if base is None or self.order == Sampling.VISIBLE:
            return base
        most = 1 + rate * base.expm1()
        if self.order == Sampling.REPLACE:  # of one output P0's ratio is largest and the other shift's smallest
            return (most / least).log()
        return most.log()

    def stated_orders(self) -> tuple[float, ...]:
        """The base's, and the whole orders below: bounds of samples are sums over whole orders."""
        known = self.base.stated_orders()
        return (*known, *(float(math.floor(order)) for order in known if order >= 2))

    def words(self) -> str:
        """P against Q."""
        base, rate = self.base.words(), f"{self.rate:.6g}"
        first, known, second = base.partition(" against ")
        if not known:
            first, second = f"the first of ({base})", f"the second of ({base})"
        drawn = f"{first} with probability {rate} and {second} otherwise"
        return {
            Sampling.REMOVE: f"{drawn}, against always {second}",
            Sampling.ADD: f"always {second}, against {drawn}",
            Sampling.REPLACE: f"{drawn}, against the same with the opposite sign of the shift",
            Sampling.VISIBLE: f"with probability {rate}, which the attacker sees, {base}; otherwise no difference",
        }.get(self.order, repr(self))


def _gaussian_replace(s: arb, rate: arb, odds: arb) -> arb:
    """(1-rate) N(0) + rate N(s) against (1-rate) N(0) + rate N(-s): the likelihood ratio is odds at one point y.

    With k = rate e^{-s^2/2} and u = e^{s y}: k u^2 + (1 - rate)(1 - odds) u - odds k = 0.
    """
    k = rate * (-s * s / 2).exp()
    half = (1 - rate) * (odds - 1) / 2
    y = ((half + (half * half + k * k * odds).sqrt()) / k).log() / s
    return (1 - rate) * (1 - odds) * normal_tail(y) + rate * (normal_tail(y - s) - odds * normal_tail(y + s))
