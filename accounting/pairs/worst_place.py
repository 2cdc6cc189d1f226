"""Noise within a public range, at the value that is worst (docs/theory/public_ranges.md, "The worst value").

P about q + 1, Q about q, each given that it is in [0, width], all in units of the sensitivity. Which q from 0 to
width - 1 is worst depends on epsilon: the largest is found by halving, each part bounded by its Taylor polynomial.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from dataclasses import dataclass

from flint import arb, arb_series

from ..rounding import float_above
from .envelope import EnvelopePair
from .moments import SLACK
from .pair import largest_loss
from .tails import normal_tail, positive
from .taylor_model import TaylorModel

_NARROW, _ENOUGH = 2.0**-27, 2.0**-14
"""How near the bound of the largest delta is to one that is attained: where it is asked for, and for chords."""

_MOST_PARTS = 300


@dataclass(frozen=True, slots=True)
class WorstPlacePair(EnvelopePair):
    """The exact profile of one release, and no single pair: in several releases it bounds from above only.

    Its numbers are the doubles that they are.
    """

    scale: float
    width: float

    @abstractmethod
    def tail(self, z: arb_series, side: int) -> arb_series:
        """P(noise > z), z in scales; side: the sign of z, 1 or -1, which a ball about 0 does not tell."""

    @abstractmethod
    def place(self, loss: arb_series) -> arb_series:
        """How far above q the loss is this one, were there no normalisers."""

    def profile(self, epsilon: arb) -> arb:
        """A ball from the largest value found to a bound of all."""
        if epsilon >= self.supremum():
            return arb(0)
        found, bound = self._largest(epsilon, 1 + _NARROW)
        return found.union(found.max(arb(bound)))

    def bound(self, epsilon: float) -> float:
        """The same, less near."""
        return max(0.0, self._largest(arb(epsilon), 1 + _ENOUGH)[1])

    def least_known(self, epsilon: arb) -> arb:
        """A bound of the profile that is known beforehand."""
        return arb(1)

    def supremum(self) -> arb:
        """At the end of the range, of a value at one end or the other (docs)."""
        first, last = (self.largest_at(_constant(arb(q))) for q in (0.0, self.width - 1))
        return first.max(last)

    @abstractmethod
    def largest_at(self, q: arb_series) -> arb:
        """The largest loss of this value's pair."""

    def _largest(self, epsilon: arb, narrow: float) -> tuple[arb, float]:
        """Over all values: the largest delta found, and a bound."""
        known, parts = float_above(self.least_known(epsilon)), [self._part(epsilon, 0.0, self.width - 1)]
        found = positive(self._attained(epsilon, 0.0).max(self._attained(epsilon, self.width - 1)))
        for _ in range(_MOST_PARTS):
            bound, left, right = parts[0]
            middle = (left + right) / 2
            if min(-bound, known) <= float(found.lower()) * narrow or not left < middle < right:
                break
            found = found.max(self._attained(epsilon, middle))
            heapq.heapreplace(parts, self._part(epsilon, left, middle))
            heapq.heappush(parts, self._part(epsilon, middle, right))
        return found, min(-parts[0][0], known)

    def _attained(self, epsilon: arb, q: float) -> arb:
        """This value's own delta; 0 above its largest loss."""
        value = self._value(epsilon, q)
        return value if epsilon < self.largest_at(_constant(arb(q))) else arb(0)

    def _part(self, epsilon: arb, left: float, right: float) -> tuple[float, float, float]:
        """Minus a bound of delta for all values from left to right; the part."""
        try:
            bound = self._taylor(epsilon, left, right)
        except ValueError:  # so wide a part that a normaliser may be 0
            bound = arb(1)
        return max(-1.0, min(0.0, -float_above(bound))) if bound.is_finite() else -1.0, left, right

    def _taylor(self, epsilon: arb, left: float, right: float) -> arb:
        """Beyond a value's largest loss its delta is 0, and the formula some number: at most what it is bounded by."""
        middle, whole = (left + right) / 2, arb(left).union(arb(right))
        if self.largest_at(_constant(whole)) <= epsilon:
            return arb(0)
        half = (arb(right) - middle).max(middle - arb(left))
        model = self._delta(epsilon, TaylorModel.of(arb(middle), whole, half))
        at, slope, bend = model.at, model.around[1], model.around[2]
        if slope < 0 or slope > 0:
            return self._value(epsilon, left if slope < 0 else right)
        if bend > 0:  # convex: the larger end
            return self._value(epsilon, left).max(self._value(epsilon, right))
        if bend < 0:  # concave: the top of the parabola that is above it
            return at[0] + at[1] * at[1] / (-4 * bend)
        return at[0] + abs(at[1]) * half + abs(bend) * half * half

    def _value(self, epsilon: arb, q: float) -> arb:
        """The formula at one value."""
        point = arb(q)
        return self._delta(epsilon, TaylorModel(_constant(point), _constant(point), arb(0))).at[0]

    def _delta(self, epsilon: arb, q: TaylorModel) -> TaylorModel:
        """At the threshold where the loss is epsilon, as a function of the value."""
        unit, end = arb(self.scale), arb(self.width)
        near = q.mapped(lambda q: self.tail((end - q - 1) / unit, 1))
        far = q.mapped(lambda q: self.tail((end - q) / unit, 1))
        first = q.mapped(lambda q, near: self.tail((-1 - q) / unit, -1) - near, near)
        second = q.mapped(lambda q, far: self.tail(-q / unit, -1) - far, far)
        above = first.mapped(lambda first, second: self.place(epsilon - (second / first).log()), second)
        p = above.mapped(lambda above, near: self.tail((above - 1) / unit, -1) - near, near)
        r = above.mapped(lambda above, far: self.tail(above / unit, 1) - far, far)
        whole = epsilon.exp()
        return p.mapped(lambda p, first, r, second: p / first - whole * (r / second), first, r, second)

    def normalisers(self, q: arb_series) -> arb_series:
        """What they add to the loss: the log of the ratio of what noise about q, and about q + 1, has in the range."""
        unit, end = arb(self.scale), arb(self.width)
        masses = (self.tail(-at / unit, -1) - self.tail((end - at) / unit, 1) for at in (q, q + 1))
        second, first = masses
        return (second / first).log()


def _constant(q: arb) -> arb_series:
    return arb_series([q], prec=1)


@dataclass(frozen=True, slots=True)
class WorstBoundedLaplacePair(WorstPlacePair):
    """Laplace noise of this scale."""

    def words(self) -> str:
        return f"Laplace noise of scale {self.scale:.6g} within [0, {self.width:.6g}], about the worst value"

    def tail(self, z: arb_series, side: int) -> arb_series:
        """By the side of the centre."""
        return (-z).exp() / 2 if side > 0 else 1 - z.exp() / 2

    def place(self, loss: arb_series) -> arb_series:
        """The loss is 2 x - 1 scales between the values."""
        return (arb(self.scale) * loss + 1) / 2

    def largest_at(self, q: arb_series) -> arb:
        """Above both values."""
        return (1 / arb(self.scale) + self.normalisers(q))[0]

    def _divergence(self, alpha: float) -> float:
        """alpha (2 / scale)^2 / 8, as of every pair whose losses are within a range of 2 / scale (Cesar, Rogers 2021,
        arXiv 2004.07223, Lemma 3.2)."""
        return min(alpha / (2 * self.scale * self.scale) * (1 + SLACK), largest_loss(self))


@dataclass(frozen=True, slots=True)
class WorstTruncatedGaussianPair(WorstPlacePair):
    """Gaussian noise of standard deviation scale."""

    def words(self) -> str:
        return f"Gaussian noise of {self.scale:.6g} within [0, {self.width:.6g}], about the worst value"

    def tail(self, z: arb_series, side: int) -> arb_series:
        """Of the normal law."""
        return (z / arb(2).sqrt()).erfc() / 2

    def place(self, loss: arb_series) -> arb_series:
        """The loss grows with x."""
        return arb(0.5) + loss * arb(self.scale) ** 2

    def largest_at(self, q: arb_series) -> arb:
        """At the end of the range."""
        end = (arb(self.width) - q - arb(0.5)) / arb(self.scale) ** 2
        return (end + self.normalisers(q))[0]

    def _divergence(self, alpha: float) -> float:
        """That of the Gaussian before truncation (docs: it is GDP with the same shift)."""
        return min(alpha / (2 * self.scale * self.scale) * (1 + SLACK), largest_loss(self))

    def least_known(self, epsilon: arb) -> arb:
        """The Gaussian's before truncation (Balle, Wang 2018, arXiv 1805.06530, Theorem 8)."""
        half, place = 1 / (2 * arb(self.scale)), epsilon * arb(self.scale)
        return normal_tail(place - half) - epsilon.exp() * normal_tail(place + half)
