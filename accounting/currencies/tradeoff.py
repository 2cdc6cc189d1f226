"""The trade-off curve of a run: how small an attacker's two error rates can be at once.

f(alpha) is the smallest type II error that any test of type I error alpha can have, over all neighbours and both
orders of naming them, made convex: the largest symmetric f for which the run is f-DP (Dong, Roth, Su 2022, arXiv
1905.02383, Definition 3 and Proposition F.1). It is the supremum of the lines that the profile gives (Proposition 6),

    f(alpha) = sup over eps >= 0 of max(0, 1 - delta(eps) - e^eps alpha, e^-eps (1 - delta(eps) - alpha)).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, ctx

from ...mechanisms import Mechanism, Run, as_run
from ...mechanisms.arrays import Floats
from ...mechanisms.neighbours import Neighbouring, Notion, PrivacyNotion, Visibility, relation_meant
from ...mechanisms.validate import InputError, count, listed, number, open_probability
from ..answer import answer
from ..bracket import Bracket
from ..losses import gaussian_rounds as gaussian
from ..pairs.tails import normal_quantile, normal_tail
from ..pricing.counterexamples import profiles_at
from ..pricing.dominating import dominating
from ..quantity import Quantity
from ..question import RTOL, Question
from ..rounding import float_above, float_below
from .tradeoff_lines import WIDER, Lines, Sides, highest_lines, possible, ruled_out

_BITS = 200

_NARROW = 1e-6
"""About the relative width of the power where it is asked to be narrow."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A trade-off curve known by its profile at some eps >= 0, increasing: (eps, bracket of delta(eps)).

    mu: (at most, at least) the parameter of a curve that is exactly Gaussian, Phi(Phi^-1(1 - alpha) - mu).
    attained: the profile of one order of two neighbours alone, at the same eps; empty where none is known.

    knots: the pairs (eps, bracket of delta(eps)).

    >>> from dpcert import Gaussian, tradeoff
    >>> tradeoff(Gaussian(1.0)).power(0.05).upper < 0.26
    True
    """

    knots: tuple[tuple[float, Bracket], ...]
    mu: tuple[float, float] | None = None
    attained: tuple[tuple[float, Bracket], ...] = ()

    def from_above(self) -> TradeOff:
        """The curve of a run that is at most as bad as this one's: how bad it is at least is not known."""
        knots = tuple((epsilon, replace(delta, lower=0.0)) for epsilon, delta in self.knots)
        return TradeOff(knots, None if self.mu is None else (0.0, self.mu[1]))

    def beta(self, alpha: float, lines: Sides | None = None) -> Bracket:
        """The smallest type II error at type I error alpha in [0, 1], as a certified bracket.

        lines: those that `betas` has at hand. Raises InputError for other alpha.
        """
        certified = self._checked(alpha)
        with ctx.workprec(_BITS):
            low, high = self._beta(alpha, lines)
            return Bracket(max(0.0, float_below(low)), min(1.0, float_above(high)), certified, "tradeoff")

    def power(self, alpha: float) -> Bracket:
        """The largest true-positive rate of an attack with false-positive rate alpha in [0, 1].

        From above it is 1 - beta(alpha). From below it is that of one attacker, who knows both neighbours, and not of
        the convex curve, which takes the worst of several. Computed before rounding: a tiny one keeps its digits.
        Raises InputError for other alpha.
        """
        certified = self._checked(alpha)
        with ctx.workprec(_BITS + (max(0, -2 * math.frexp(alpha)[1]) if alpha else 0)):
            high = min(1.0, float_above(1 - self._beta(alpha)[0]))
            low = arb(0)
            if self.mu is not None:
                low = 1 - _gaussian(alpha, self.mu[0])
            elif self.attained:
                low = _power_below(self.attained, alpha)
            found = max(alpha, float_below(low))  # whoever accuses at random finds out as many
        return Bracket(min(found, high), high, certified, "tradeoff")

    def _checked(self, alpha: float) -> bool:
        if not 0.0 <= number("alpha", alpha) <= 1.0:
            raise InputError("alpha", alpha, "a number from 0 to 1")
        return all(bracket.certified for _, bracket in self.knots)

    def _beta(self, alpha: float, lines: Sides | None = None) -> tuple[arb, arb]:
        """Balls whose lower and upper ends bracket beta(alpha). lines: those of the knots, at this precision."""
        below, above = lines or self._lines()
        low, high = below.highest(alpha), above.highest(alpha).min(1 - arb(alpha))
        if self.mu is not None:
            low = low.max(_gaussian(alpha, self.mu[1]))
            high = high.min(_gaussian(alpha, self.mu[0]))
        return low, high

    def _lines(self) -> Sides:
        return Lines(ruled_out(self.knots)), Lines(possible(self.knots))

    __call__ = beta

    def band(self, alphas: Floats) -> tuple[Floats, Floats]:
        """(at most, at least) beta at each of many alphas above 0, from the profile alone: each end up to 2^-44 wider
        than that of `beta`, and a hundred times faster."""
        with ctx.workprec(_BITS):
            below, above = ruled_out(self.knots), possible(self.knots)
        low, high = highest_lines(below, alphas) - WIDER, highest_lines(above, alphas) + WIDER
        return np.maximum(0.0, low), np.minimum(high, 1.0 - alphas + WIDER)

    def betas(self, alphas: Sequence[float]) -> tuple[Bracket, ...]:
        """beta at each alpha: many at once take a tenth of the time."""
        with ctx.workprec(_BITS):
            lines = self._lines()
        return tuple(self.beta(alpha, lines) for alpha in alphas)


def tradeoff(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    points: int = 65,
    narrow_at: Sequence[float] = (),
    rtol: float = RTOL,
    smallest_delta: float = 1e-12,
) -> TradeOff:
    """The run's trade-off curve from certified brackets of its profile at `points` values of eps >= 0.

    More points make the bracket of beta narrower between the lines; Gaussian rounds are exact for any number.

    points: at how many values of eps the profile is computed, at least 2.

    >>> from dpcert.mechanisms import Gaussian
    >>> round(tradeoff(Gaussian(noise_multiplier=1.0))(0.1).upper, 6)  # Phi(Phi^-1(0.9) - 1)
    0.610856

    narrow_at: type I errors, in (0, 1/2], around which four more points each make it narrow.
    rtol: relative width of the bracket at each point.
    smallest_delta: the points reach to the epsilon at this delta, or at a smaller one where narrow_at is smaller. At
    error rates below 64 times it, the bracket of beta is valid and wide.
    Raises InputError as accounting.delta does.
    """
    count("points", points, least=2)
    smallest = open_probability("smallest_delta", smallest_delta)
    for alpha in (narrow_at := listed("narrow_at", narrow_at)):
        if not 0.0 < number("narrow_at", alpha) <= 0.5:
            raise InputError("narrow_at", alpha, "an error rate above 0 and at most 1/2")
        smallest = min(smallest, alpha / 64)
    neighbouring = relation_meant(neighbouring, notion, participation)
    run = as_run(run)
    reach = Question.about(run, Quantity.EPSILON, neighbouring, notion, participation, "best", rtol)
    most = answer(reach, smallest).upper
    if most == math.inf:
        told = f"At delta = {smallest:g} the epsilon of this run is infinite, so there is no trade-off curve of it."
        raise InputError("run", run, "a run whose epsilon is finite", told)
    most = min(most, -math.log(smallest))  # further out a line of slope e^eps is above 1 at every such error rate
    asked = Question.about(run, Quantity.DELTA, neighbouring, notion, participation, "best", rtol)
    knots: dict[float, tuple[Bracket, Bracket | None]] = {}

    def ask(places: Iterable[float]) -> None:
        new = [eps for eps in dict.fromkeys(places) if eps not in knots]
        knots.update(zip(new, profiles_at(asked, new), strict=True))

    def profile() -> tuple[tuple[float, Bracket], ...]:
        return _tightened(tuple((eps, whole) for eps, (whole, _) in sorted(knots.items())))

    ask(most * k / (points - 1) for k in range(points if most > 0.0 else 1))
    exact = _exact_mu(run, neighbouring) if notion == PrivacyNotion.DP and participation is None else None
    if exact is None and most > 0.0:
        ask(_touching(profile(), narrow_at))
    known = tuple((eps, alone) for eps, (_, alone) in sorted(knots.items()) if alone is not None)
    return TradeOff(profile(), exact, _tightened(known) if len(known) == len(knots) > 1 else ())


def _touching(knots: tuple[tuple[float, Bracket], ...], alphas: Sequence[float]) -> Iterator[float]:
    """Four eps around each where the line of slope -e^eps touches the curve at type I error alpha: where
    delta(eps) + e^eps alpha is smallest, found on a spline through the logarithm of the profile."""
    from scipy.interpolate import CubicSpline  # here: it would double the time that importing the accountants takes

    known = [(eps, bracket.upper) for eps, bracket in knots if bracket.upper > 0.0]
    if len(known) < 4:
        return
    spline = CubicSpline(*map(np.array, zip(*((eps, math.log(value)) for eps, value in known), strict=True)))
    fine = np.linspace(0.0, known[-1][0], 4001)
    profile, slope, bend = np.exp(spline(fine)), spline(fine, 1), spline(fine, 2)
    for alpha in alphas:
        line = np.exp(fine + math.log(alpha))
        total = profile + line
        best = int(np.argmin(total))
        curvature = profile[best] * (bend[best] + slope[best] ** 2) + line[best]
        step = math.sqrt(8 * _NARROW * total[best] / curvature) if curvature > 0.0 else fine[1]
        for offset in (-1.5, -0.5, 0.5, 1.5):
            yield max(0.0, float(fine[best] + offset * max(step, fine[1])))


def _exact_mu(run: Mechanism, neighbouring: Neighbouring) -> tuple[float, float] | None:
    pairs = dominating(run, neighbouring)
    if len(pairs.upper) == 1 and pairs.upper == pairs.lower and gaussian.supports(pairs.upper[0]):
        return gaussian.composed_shift(pairs.upper[0])
    return None


def _power_below(knots: tuple[tuple[float, Bracket], ...], alpha: float) -> arb:
    """At most inf over x > 0 of D(x) + x alpha, D of one order.

    Where the infimum is at x >= 1, the corners have at most it. Where it is before 1, alpha is beyond the rate at
    which D(1) is reached, and the curve of the power is concave from that point above the diagonal to (1, 1). Where
    D surely falls faster than alpha at x = 1 it is the first; else it is the smaller of the two.
    """
    first, second = knots[0][1], knots[1][1]
    slope = (arb(second.upper) - arb(first.lower)) / (arb(knots[1][0]).exp() - 1)
    falls = slope + arb(alpha) < 0
    least = arb(1) if falls else arb(first.lower) * (1 - arb(alpha)) + arb(alpha)
    for x, profile in possible(knots):
        least = least.min(profile + x * arb(alpha))
    return least


def _tightened(knots: tuple[tuple[float, Bracket], ...]) -> tuple[tuple[float, Bracket], ...]:
    """The same profile, which falls and is convex in e^eps: what is wide among narrow ones is cut by its neighbours."""
    above, highest = [], 1.0
    for _, bracket in knots:
        highest = min(highest, bracket.upper)
        above.append(highest)
    found = list(knots)
    with ctx.workprec(_BITS):
        for i in range(len(knots) - 2, -1, -1):
            (eps, bracket), (near, known) = knots[i], found[i + 1]
            fall = arb(0)
            if i + 2 < len(knots):
                there, here = arb(knots[i + 2][0]).exp(), arb(near).exp()
                fall = (arb(known.lower) - arb(above[i + 2])) / (there - here) * (here - arb(eps).exp())
            lower = max(bracket.lower, known.lower, float_below(arb(known.lower) + fall))
            found[i] = eps, replace(bracket, lower=min(lower, above[i]), upper=above[i])
    return tuple(found)


def _gaussian(alpha: float, mu: float) -> arb:
    """Phi(Phi^-1(1 - alpha) - mu)."""
    if alpha in (0.0, 1.0):
        return 1 - arb(alpha)
    return normal_tail(arb(mu) - normal_quantile(arb(alpha)))
