"""Cohorts of fixed size under zero-out (docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from flint import acb, arb

from ..losses.atoms import edges, laws, sampled_cells, zeroed_cells
from ..losses.atoms.cells import Cells
from ..rounding import UNIT
from .gaussian import GaussianPair
from .moments import integrated
from .order import Order, Sampling, order_of
from .pair import Pair
from .subsampled import SubsampledPair
from .tails import normal_tail, positive

_RANGE = 12.0
"""Standard deviations on either side of a moment's mass that are kept."""


@dataclass(frozen=True, slots=True)
class ZeroOutPair(Pair):
    """A round of a cohort of fixed size under zero-out, Gaussian noise of scale 1: shift > 0, 0 < rate < 1."""

    attained: ClassVar[bool]
    """Whether some neighbours have this pair itself."""

    shift: float
    rate: float
    order: Order

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(Order, self, self.order))

    def moved(self, factor: float) -> Self:
        return replace(self, shift=self.shift * factor, rate=min(self.rate * factor, 1 - UNIT))

    def revealed(self) -> Pair | None:
        """Seen, the unit takes part or nothing does."""
        return SubsampledPair(GaussianPair(self.shift), self.rate, Sampling.VISIBLE)

    def _divergence(self, alpha: float) -> float | None:
        """Of the nearer of replace-one and visible participation, which dominate it in either order
        (docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise")."""
        seen = SubsampledPair(GaussianPair(self.shift), self.rate, Sampling.VISIBLE)
        replaced = SubsampledPair(GaussianPair(2.0 * self.shift), self.rate, Sampling.HYBRID)
        known = [pair.renyi().divergence(alpha) for pair in (seen, replaced)]
        return min((each for each in known if each is not None), default=None)

    def _slope(self, order: float) -> tuple[float, float]:
        """With the coin shown."""
        return 0.0, GaussianPair(self.shift).renyi().slope(order)[1]


@dataclass(frozen=True, slots=True)
class OpposedPair(ZeroOutPair):
    """A cohort of fixed size, zero-out, Gaussian noise of scale 1; the unit's substitute contributes its opposite.

    order: "remove": P = (1 - rate) N(-shift) + rate N(shift) against Q = (1 - rate) N(-shift) + rate N(0); "add": Q
    against P. shift > 0, 0 < rate < 1.
    """

    attained: ClassVar[bool] = True

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """Of this pair itself, by Arb's rigorous integral over a bounded range, which only makes it smaller.
        (1 - r) N(-s) + r N(s) against (1 - r) N(-s) + r N(0), both relative to N(-s)."""
        if rate is not None:
            return None
        s, q = arb(self.shift), arb(self.rate)
        powers = (power, 1 - power) if self.order == Order.REMOVE else (1 - power, power)

        def integrand(y: acb, analytic: bool) -> acb:
            far = (1 - q + q * (2 * s * y - 2 * s * s).exp()).log(analytic=analytic)
            near = (1 - q + q * (s * y - s * s / 2).exp()).log(analytic=analytic)
            return (powers[0] * far + powers[1] * near - y * y / 2).exp()

        farthest = 2 * power * s if self.order == Order.REMOVE else s
        return integrated(integrand, arb(-_RANGE), farthest + _RANGE) / (2 * arb.pi()).sqrt()

    def losses(self) -> laws.Losses | None:
        return laws.of_cells(
            lambda resolution: zeroed_cells.opposed_cells(self, edges.opposed_edges(self, resolution), resolution.tail),
            self.rate,
        )

    def profile(self, epsilon: arb) -> arb:
        """At epsilon >= 0."""
        return _opposed(arb(self.shift), arb(self.rate), epsilon.exp(), self.order)

    def words(self) -> str:
        return (
            f"N(-{self.shift:.6g}, 1), or with probability {self.rate:.6g} N({self.shift:.6g}, 1); "
            f"against N(-{self.shift:.6g}, 1), or with probability {self.rate:.6g} N(0, 1)"
        )


@dataclass(frozen=True, slots=True)
class ZeroedPair(ZeroOutPair):
    """The tight pair of one round of a cohort of fixed size under zero-out, with Gaussian noise of scale 1.

    order: "remove": the profile is that of the OpposedPair "remove" for eps >= 0, and for eps < 0 that of "add" of a
    SubsampledPair with this shift (its substitute contributes the same as the unit); "add": with P and Q exchanged.
    """

    attained: ClassVar[bool] = False

    def losses(self) -> laws.Losses | None:
        """Cut where it counts: above 0 as the opposed pair, below 0 as the sampled one that it agrees with there."""

        def cells(resolution: edges.Resolution) -> Cells:
            line = edges.opposed_edges(OpposedPair(self.shift, self.rate, self.order), resolution)
            base = GaussianPair(self.shift)
            below = SubsampledPair(base, self.rate, Sampling.of(self.order.exchanged))
            others = edges.sampled_edges(base, below, resolution)
            return sampled_cells.joined(zeroed_cells.zeroed_cells(self, line, others, resolution.tail))

        return laws.of_cells(cells, self.rate)

    def profile(self, epsilon: arb) -> arb | None:
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
