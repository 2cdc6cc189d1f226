"""The best conversion that one Renyi bound allows: Asoodeh et al. 2020, arXiv 2001.05990.

A pair with D_alpha(P||Q) <= rdp violates (epsilon, delta)-DP only through an event of probabilities p and q with
p - e^epsilon q > delta; by data processing the event's own divergence obeys

    h = p^alpha q^(1-alpha) + (1-p)^alpha (1-q)^(1-alpha) <= e^((alpha-1) rdp),

and two-point pairs attain it. So (epsilon, delta) is guaranteed exactly when the smallest h along
q = (p - delta) e^-epsilon, delta < p <= 1, reaches e^((alpha-1) rdp). Canonne, Kamath and Steinke's formula is
what remains when the second term is dropped (docs/theory/rdp.md, section "Conversions").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..losses.crossing import Excess, crossing

_SLACK = 2.0**-44
_MOMENT_LIMIT = 30.0
"""Above e^30 the second term, at most 1, no longer matters: the closed form is used."""

CLOSE = 1e-10

ROUGHLY = 1e-6
"""As close as a search for the best order needs to know."""


def asoodeh_epsilon(alpha: float, rdp: float, delta: float, close: float = CLOSE) -> float:
    """The smallest guaranteed epsilon >= 0 at 0 < delta < 1, rounded up; close: to this relative distance."""
    high = max(0.0, _one_term_epsilon(alpha, rdp, delta))
    if high == 0 or math.isinf(alpha) or (alpha - 1) * rdp > _MOMENT_LIMIT:
        return high

    flat = 0.0

    def margin(epsilon: float) -> Excess:
        nonlocal flat
        event = _Violation(alpha, epsilon, delta)
        found, flat = event.margin(rdp, flat)
        return event.excess(found, flat, rdp)

    return min(high, crossing(margin, high, close=close)[1])


def asoodeh_delta(alpha: float, rdp: float, epsilon: float, close: float = CLOSE) -> float:
    """The smallest guaranteed delta at epsilon >= 0, rounded up, at most 1; close: to this relative distance."""
    high = _one_term_delta(alpha, rdp, epsilon)
    if high == 0 or math.isinf(alpha) or (alpha - 1) * rdp > _MOMENT_LIMIT:
        return high

    flat = 0.0

    def margin(delta: float) -> Excess:
        nonlocal flat
        if not 0.0 < delta < 1.0:
            return Excess(math.inf if delta <= 0.0 else -math.inf)
        found, flat = _Violation(alpha, epsilon, delta).margin(rdp, flat)
        return Excess(-found)

    return min(high, crossing(margin, high, close=close)[1])


def _one_term_epsilon(alpha: float, rdp: float, delta: float) -> float:
    """Without the second term. Its minimum over p is at p = alpha delta, or at p = 1 when that is beyond."""
    if alpha * delta >= 1:
        return rdp + math.log1p(-delta) + _SLACK * (rdp - math.log1p(-delta))
    shrink, log_order = math.log1p(-1 / alpha), math.log(delta) + math.log(alpha)
    size = rdp + abs(shrink) + (abs(math.log(delta)) + math.log(alpha)) / (alpha - 1)
    return rdp + shrink - log_order / (alpha - 1) + _SLACK * size


def _one_term_delta(alpha: float, rdp: float, epsilon: float) -> float:
    if alpha < math.inf:
        shrink = (alpha - 1) * math.log1p(-1 / alpha)
        exponent = (alpha - 1) * (rdp - epsilon) + shrink - math.log(alpha)
        exponent += _SLACK * (1 + (alpha - 1) * (rdp + epsilon) + abs(shrink) + math.log(alpha))
        if exponent < -math.log(alpha):
            return math.exp(exponent)
    return min(1.0, -math.expm1(min(0.0, epsilon - rdp - _SLACK * (rdp + epsilon))) * (1 + _SLACK))


@dataclass(frozen=True, slots=True)
class _Violation:
    """An event that would violate (epsilon, delta)-DP: probability p against (p - delta) e^-epsilon."""

    alpha: float
    epsilon: float
    delta: float

    def margin(self, rdp: float, near: float) -> tuple[float, float]:
        """At least 0 only if the smallest h is proven to reach e^((alpha-1) rdp): the relative excess, rounded down;
        and the p that it was found at. near: where to look for that first, a guess.

        h is convex in p (jointly convex in (p, q), and q is affine in p), so a tangent bounds it from below.
        Its first term is least at p = alpha delta and the second one falls, so smaller p need not be searched;
        nor larger ones than where the first term alone reaches the target.
        """
        target = math.exp((self.alpha - 1) * rdp) * (1 + _SLACK * (1 + (self.alpha - 1) * rdp))
        low = high = min(1.0, self.alpha * self.delta)
        while high < 1 and self._first(high) * (1 - self._rounding(high)) < target:
            high = min(1.0, 2 * high)
        at = self._flattest(low, high, near)
        slope, slope_error = self._slope(at)
        bound = (self._first(at) + self._second(at)) * (1 - self._rounding(at))
        bound -= max(0.0, slope + slope_error) * (1 - self.delta / at)
        bound -= max(0.0, slope_error - slope) * (high / at - 1)
        return bound / target - 1, at

    def _flattest(self, low: float, high: float, near: float) -> float:
        """A point in [low, high] near which the slope changes sign; where exactly only decides how tight."""
        if self._slope(high)[0] <= 0:
            return high
        if self._slope(low)[0] >= 0:
            return low

        flattest = low, math.inf

        def falling(past: float) -> Excess:
            nonlocal flattest
            place = min(low + past, high)
            slope, error = self._slope(place)
            flattest = min(flattest, (place, abs(slope)), key=lambda found: found[1])
            flat = abs(slope) < 0.25 * error  # which counts at least as much
            return Excess(-slope, -self._bend(place) / place, math.inf if flat else 2.0**-52 * (low + past))

        crossing(falling, near - low if near > low else 2.0**-10 * low, farthest=high - low)
        return flattest[0]

    def _rest(self, p: float) -> float:
        """1 - q, as a sum of positive terms."""
        return (1 - p) + self.delta + (p - self.delta) * -math.expm1(-self.epsilon)

    def _rounding(self, p: float) -> float:
        """Relative rounding error of either term: exponents of this size carry their own."""
        logs = abs(math.log(p)) + abs(math.log(p - self.delta)) + self.epsilon + abs(math.log(self._rest(p)))
        return _SLACK * (1 + self.alpha * logs)

    def _first(self, p: float) -> float:
        exponent = self.alpha * math.log(p) + (1 - self.alpha) * (math.log(p - self.delta) - self.epsilon)
        return math.exp(min(exponent, 600.0))

    def _second(self, p: float) -> float:
        if p >= 1:
            return 0.0
        return math.exp(self.alpha * math.log(1 - p) + (1 - self.alpha) * math.log(self._rest(p)))

    def _slope(self, p: float) -> tuple[float, float]:
        """p dh/dp and a bound on its rounding error."""
        first, second = self._first(p), self._second(p)
        falling = second * self.alpha * p / (1 - p) if p < 1 else 0.0
        rising = second * (self.alpha - 1) * math.exp(-self.epsilon) * p / self._rest(p)
        parts = (first * self.alpha, -first * (self.alpha - 1) * (p / (p - self.delta)), -falling, rising)
        return math.fsum(parts), math.fsum(abs(part) for part in parts) * self._rounding(p)

    def _bend(self, p: float) -> float:
        """About p times the derivative of `_slope`: where to look next."""
        if p >= 1:
            return math.nan
        odds, past = math.exp(-self.epsilon) * p / self._rest(p), p / (p - self.delta)
        first = self.alpha - (self.alpha - 1) * past
        second = (self.alpha - 1) * odds - self.alpha * p / (1 - p)
        bend = (self.alpha - 1) * past * (past - 1)
        other = (self.alpha - 1) * odds * (1 + odds) - self.alpha * p / (1 - p) / (1 - p)
        return self._first(p) * (first * first + bend) + self._second(p) * (second * second + other)

    def excess(self, found: float, p: float, rdp: float) -> Excess:
        """-`found` for a search by slopes in epsilon, with its sign: the logarithm of what the first term lacks over
        that term, which is nearly a line."""
        first, second, target = self._first(p), self._second(p), math.exp((self.alpha - 1) * rdp)
        lacking = 1 - found * target / first if first > 0.0 else 0.0
        if not 0.0 < lacking < math.inf or lacking == 1.0:
            return Excess(-found)
        shown = second * (p - self.delta) * math.exp(-self.epsilon) / self._rest(p)
        slope = (self.alpha - 1) * (shown / (lacking * first) - 1)
        return Excess(math.log(lacking), slope)
