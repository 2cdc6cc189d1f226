"""The trade-off curve of a run: how small an attacker's two error rates can be at once.

f(alpha) is the smallest type II error that any test of type I error alpha can have, over all neighbours and both
orders of naming them, made convex: the largest symmetric f for which the run is f-DP (Dong, Roth, Su 2022, arXiv
1905.02383, Definition 3 and Proposition F.1). It is the supremum of the lines that the profile gives (Proposition 6),

    f(alpha) = sup over eps >= 0 of max(0, 1 - delta(eps) - e^eps alpha, e^-eps (1 - delta(eps) - alpha)).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flint import arb, ctx

from ..mechanisms import InputError, Mechanism, Neighbouring, Notion, Run, Visibility, as_run, default_relation
from ..mechanisms.validate import count, number
from . import gaussian
from .bracket import Bracket
from .dominating import dominating
from .epsilon import delta as delta_of
from .epsilon import epsilon as epsilon_of
from .rounding import float_above, float_below

_BITS = 200

_SMALLEST = 1e-12
"""The knots reach to the epsilon at this delta."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A trade-off curve known by its profile at some eps >= 0, increasing: (eps, bracket of delta(eps)).

    mu: (at most, at least) the parameter of a curve that is exactly Gaussian, Phi(Phi^-1(1 - alpha) - mu).
    """

    knots: tuple[tuple[float, Bracket], ...]
    mu: tuple[float, float] | None = None

    def beta(self, alpha: float) -> Bracket:
        """The smallest type II error at type I error alpha in [0, 1], as a certified bracket.

        Raises InputError for other alpha.
        """
        if not 0.0 <= number("alpha", alpha) <= 1.0:
            raise InputError("alpha", alpha, "a number from 0 to 1")
        certified = all(bracket.certified for _, bracket in self.knots)
        with ctx.workprec(_BITS):
            low = max(0.0, *(float_below(value) for value in _lines(_ruled_out(self.knots), alpha)))
            high = max(0.0, *(float_above(value) for value in _lines(_possible(self.knots), alpha)))
            high = min(high, 1.0, float_above(1 - arb(alpha)) if alpha < 1.0 else 0.0)
            if self.mu is not None:
                low = max(low, float_below(_gaussian(alpha, self.mu[1])))
                high = min(high, float_above(_gaussian(alpha, self.mu[0])))
        return Bracket(low, high, certified, "tradeoff")

    __call__ = beta

    def betas(self, alphas: Sequence[float]) -> tuple[Bracket, ...]:
        """beta at each alpha."""
        return tuple(self.beta(alpha) for alpha in alphas)


def tradeoff(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
    points: int = 65,
) -> TradeOff:
    """The run's trade-off curve from certified brackets of its profile at `points` values of eps >= 0.

    More points make the bracket of beta narrower between the lines; Gaussian rounds are exact for any number.

    >>> from dpcert.mechanisms import Gaussian
    >>> round(tradeoff(Gaussian(noise_multiplier=1.0))(0.1).upper, 6)  # Phi(Phi^-1(0.9) - 1)
    0.610856

    Raises InputError as accounting.delta does.
    """
    count("points", points, least=2)
    neighbouring = neighbouring or default_relation(notion, participation)
    run = as_run(run)
    most = epsilon_of(run, _SMALLEST, neighbouring, notion=notion, participation=participation).upper
    if most == math.inf:
        raise InputError("run", run, "a run whose epsilon is finite at delta = 1e-12")
    grid = [most * k / (points - 1) for k in range(points)] if most > 0.0 else [0.0]
    knots = tuple((eps, delta_of(run, eps, neighbouring, notion=notion, participation=participation)) for eps in grid)
    return TradeOff(knots, _exact_mu(run, neighbouring) if notion == "dp" and participation is None else None)


def _exact_mu(run: Mechanism, neighbouring: Neighbouring) -> tuple[float, float] | None:
    pairs = dominating(run, neighbouring)
    if len(pairs.upper) == 1 and pairs.upper == pairs.lower and gaussian.supports(pairs.upper[0]):
        return gaussian.composed_shift(pairs.upper[0])
    return None


def _gaussian(alpha: float, mu: float) -> arb:
    """Phi(Phi^-1(1 - alpha) - mu)."""
    if alpha in (0.0, 1.0):
        return 1 - arb(alpha)
    return ((arb(mu) / arb(2).sqrt()) - (2 * arb(alpha)).erfcinv()).erfc() / 2


def _lines(points: list[tuple[arb, arb]], alpha: float) -> Iterator[arb]:
    """At every (x, D), both of 1 - D - x alpha and (1 - D - alpha) / x."""
    for x, profile in points:
        yield 1 - profile - x * arb(alpha)
        yield (1 - profile - arb(alpha)) / x


def _ruled_out(knots: tuple[tuple[float, Bracket], ...]) -> list[tuple[arb, arb]]:
    """(e^eps, at least delta(eps))."""
    return [(arb(eps).exp(), arb(bracket.upper)) for eps, bracket in knots]


def _possible(knots: tuple[tuple[float, Bracket], ...]) -> list[tuple[arb, arb]]:
    """The corners of a lower bound of D(x) = delta(log x), x >= 1, which is convex with slope at least -1.

    Between two knots D is above the chords of the cells on either side, extended; past the last knot it is at
    least 0. On each straight piece, 1 - D - x alpha and (1 - D - alpha) / x are monotone in x, so the corners have
    their suprema.
    """
    x = [arb(eps).exp() for eps, _ in knots]
    low, high = [arb(bracket.lower) for _, bracket in knots], [arb(bracket.upper) for _, bracket in knots]
    corners = [*zip(x, low, strict=True), (x[-1], arb(0))]
    for i in range(len(x) - 1):
        left = (low[i] - high[i - 1]) / (x[i] - x[i - 1]) if i > 0 else arb(-1)
        right = (high[i + 2] - low[i + 1]) / (x[i + 2] - x[i + 1]) if i + 2 < len(x) else arb(0)
        right = right if right < 0 else arb(0)
        meeting = (low[i + 1] - low[i] + left * x[i] - right * x[i + 1]) / (left - right)
        if x[i] < meeting < x[i + 1]:
            corners.append((meeting, low[i] + left * (meeting - x[i])))
        else:
            corners.append((x[i], low[i + 1]))
    return corners
