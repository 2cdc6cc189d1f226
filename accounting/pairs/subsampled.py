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

from ..losses.atoms import edges, laws, sampled_cells
from ..losses.atoms.cells import Cells
from ..renyi import sampled_other
from ..rounding import UNIT, up, widened_up
from .lattice import LatticePair
from .location import LocationPair
from .moments import SLACK
from .order import GaussianRound, Sampling, order_of
from .pair import MOVE, Pair, largest_loss
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

    def losses(self) -> laws.Losses | None:
        """With a public coin from the base's laws; with a hidden one from its cells, of continuous noise cut where the
        sampled loss counts."""
        base, known = self.base, self.base.losses()
        if known is None or known.rate:
            return None
        if self.order == Sampling.VISIBLE:
            return laws.Losses(
                lambda side, resolution: laws.behind_public_coin(known.law(side, resolution), self.rate, side),
                rate=self.rate,
            )
        of_base = known.cells
        if of_base is None or (self.order == Sampling.REPLACE and not isinstance(base, LocationPair | LatticePair)):
            return None

        def cells(resolution: edges.Resolution) -> Cells:
            if isinstance(base, LocationPair):
                line = edges.sampled_edges(base, self, resolution)
                parts = sampled_cells.sampled_cells(base, self.order, self.rate, line, resolution.tail)
                return sampled_cells.joined(parts)
            if isinstance(base, LatticePair) and self.order == Sampling.REPLACE:
                return sampled_cells.replace_lattice(base, self.rate, resolution.tail)
            return sampled_cells.joined(sampled_cells.sheets(of_base(resolution), self.order, self.rate))

        return laws.of_cells(cells, self.rate)

    def gaussian(self) -> GaussianRound | None:
        """Behind this coin, where the base is Gaussian noise."""
        base = self.base.gaussian()
        return None if base is None or base.coin is not None else GaussianRound(base.shift, self.rate, self.order)

    def revealed(self) -> Pair | None:
        """With a public coin; of the replace order both distributions move, by the base's shift each, apart."""
        if self.order == Sampling.VISIBLE:
            return None
        if self.order == Sampling.HYBRID and self.base.mirrored() != self.base:
            return None
        base = {Sampling.REPLACE: doubled(self.base), Sampling.ADD: self.base.mirrored()}.get(self.order, self.base)
        return None if base is None else SubsampledPair(base, self.rate, Sampling.VISIBLE)

    def mirrored(self) -> Pair:
        """The other order of the same coin; those of a replaced unit are their own."""
        if self.order == Sampling.VISIBLE:
            return replace(self, base=self.base.mirrored())
        other = {Sampling.REMOVE: Sampling.ADD, Sampling.ADD: Sampling.REMOVE}
        return replace(self, order=other.get(self.order, self.order))

    def _compared(self) -> tuple[Pair, ...]:
        """The base's pairs that P and Q are mixtures of, as far apart as they are, and in their order."""
        if self.order == Sampling.HYBRID:
            return self.base, self.base.mirrored()
        return (self.base.mirrored(),) if self.order == Sampling.ADD else (self.base,)

    def _slope(self, order: float) -> tuple[float, float]:
        """Above, both ends of a mixture are nearer than the base pair's: that bounds it. Where P and Q move apart
        ("replace"), Q has at least 1 - rate of the density of N(0), and P is no further from that than the base pair.
        Below, P holds rate times the base's P, and Q is at most the base's where that is."""
        least = 0.0 if self.order in (Sampling.ADD, Sampling.HYBRID) else self.base.renyi().slope(order)[0]
        most = max(
            min(base.renyi().slope(order)[1], up(widened_up(largest_loss(base), SLACK) / order))
            for base in self._compared()
        )
        if self.order == Sampling.ADD and self.rate < 1:
            most = min(most, widened_up(-math.log1p(-self.rate) / order, SLACK))
        elif self.order == Sampling.REPLACE:
            most = widened_up(most - math.log1p(-self.rate) / (order - 1), SLACK)
        return least, most

    def failure(self) -> tuple[arb, Pair | None]:
        """The coin's share of the base's; and the same coin in front of what is left of the base (docs/theory/rdp.md,
        "Rounds that fail")."""
        mass, base = self.base.failure()
        return arb(self.rate) * mass, self if base is self.base else None if base is None else replace(self, base=base)

    def _divergence(self, alpha: float) -> float | None:
        """From what is known of the base behind a coin; it increases in the rate and in a Gaussian's shift, which are
        rounded up. Never above the base's own (for "replace", at twice the shift): a mixture's ends are nearer."""
        unsampled = None if self.base.failure()[1] is None else self._unsampled(alpha)
        if unsampled is None:
            return None
        moved = self.moved(1 + MOVE)
        if self.order != Sampling.VISIBLE:
            found = moved.base.renyi().behind_coin(moved.rate, self.order, alpha)
            return None if found is None else min(found, unsampled)
        return min(sampled_other.behind_public_coin(unsampled, moved.rate, alpha), unsampled)

    def _unsampled(self, alpha: float) -> float | None:
        bases = (doubled(self.base),) if self.order == Sampling.REPLACE else self._compared()
        known = [None if base is None else base.renyi().divergence(alpha) for base in bases]
        found = [each for each in known if each is not None]
        return max(found) if len(found) == len(known) else None

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """Of the base behind the coin; the add order is the power 1 - alpha (docs/theory/rdp.md)."""
        q = arb(self.rate)
        if rate is not None or self.order in (Sampling.REPLACE, Sampling.HYBRID):
            return None
        if self.order == Sampling.VISIBLE:
            unsampled = self.base.renyi().moment(power, None)
            return None if unsampled is None else 1 - q + q * unsampled
        return self.base.renyi().moment(power if self.order == Sampling.REMOVE else 1 - power, q)

    def profile(self, epsilon: arb) -> arb | None:
        """The module's formulas, from the base's; the replace order: Gaussian noise only."""
        rate, odds, base = arb(self.rate), epsilon.exp(), self.base
        if self.order == Sampling.REPLACE:
            noise = base.gaussian()
            return None if noise is None or noise.coin is not None else _gaussian_replace(arb(noise.shift), rate, odds)
        if isinstance(base, SubsampledPair):
            return None
        if self.order == Sampling.ADD:
            rest = 1 - odds * (1 - rate)
            if not rest > 0:
                nothing = arb(0) if rest <= 0 else arb(0).union(rest.abs_upper())
                return None if base.profile(epsilon) is None else nothing
            known = base.mirrored().profile((odds * rate / rest).log())
            return None if known is None else rest * known
        known = base.profile(epsilon if self.order == Sampling.VISIBLE else ((odds - 1 + rate) / rate).log())
        return None if known is None else rate * known

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

    def _stated_orders(self) -> tuple[float, ...]:
        """The base's, and the whole orders below: bounds of samples are sums over whole orders."""
        known = self.base.renyi().orders
        return (*known, *(float(math.floor(order)) for order in known if order >= 2))

    def words(self) -> str:
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


def doubled(pair: Pair) -> Pair | None:
    """The pair of a sum that moves twice as far; None where this is no additive noise."""
    return pair.doubled() if isinstance(pair, LocationPair | LatticePair) else None


def _gaussian_replace(s: arb, rate: arb, odds: arb) -> arb:
    """(1-rate) N(0) + rate N(s) against (1-rate) N(0) + rate N(-s): the likelihood ratio is odds at one point y.

    With k = rate e^{-s^2/2} and u = e^{s y}: k u^2 + (1 - rate)(1 - odds) u - odds k = 0.
    """
    k = rate * (-s * s / 2).exp()
    half = (1 - rate) * (odds - 1) / 2
    y = ((half + (half * half + k * k * odds).sqrt()) / k).log() / s
    return (1 - rate) * (1 - odds) * normal_tail(y) + rate * (normal_tail(y - s) - odds * normal_tail(y + s))
