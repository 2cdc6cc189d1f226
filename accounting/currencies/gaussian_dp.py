"""Gaussian DP, non-asymptotic: the least mu whose trade-off curve G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu) lies below
the run's (Dong, Roth, Su 2022, arXiv 1905.02383, Definition 4), on all error rates or on those above a given one.

A point (alpha, beta) of a curve is on G_mu for mu = Phi^-1(1 - alpha) - Phi^-1(beta), and the least mu is the supremum
over the curve. From above: certified profiles at eps_0 = 0 < eps_1 < ... give lines below the curve, which meet in
vertices; G_mu is convex, so where it is below two vertices of a line it is below the line between them. From below: a
profile above that of G_mu at some eps proves a point of the curve below G_mu, with a type I error of at least the slope
of the next chord (accounting/profile.py).

Over all error rates the tail decides. For Poisson-sampled Gaussian rounds the least mu is sqrt(T) / z: with probability
rate^T the unit takes part in every round, and at tiny error rates that alone matters. A smaller mu is meant from some
error rate on: `error_rates_at_least`, of both kinds of errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from flint import arb, ctx, fmpq

from ...mechanisms import (
    Gaussian,
    Group,
    InputError,
    Mechanism,
    Neighbouring,
    Notion,
    Run,
    Visibility,
    as_run,
    default_relation,
    neighbouring_relation,
    rounds_by_step,
    sensitivity,
)
from ...mechanisms.validate import number
from .. import gaussian
from ..answer import answer
from ..bracket import Bracket
from ..dominating import dominating
from ..pairs import Composition, GaussianPair, OpposedPair, Pair, SubsampledPair, ZeroedPair
from ..profile import Profile, steepness
from ..question import Question, seen_by
from ..rdp.largest_loss import largest_loss
from ..rounding import down, float_above, float_below, up, widened_down, widened_up
from ..tradeoff import TradeOff
from .pure_dp import decimal, pure_epsilon

METHOD = "trade-off"

_BITS = 128
_FIRST_KNOTS = 17
_MOST_KNOTS = 60
_SLACK = 2.0**-40

Knots = tuple[tuple[float, Bracket], ...]


def mu(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
    error_rates_at_least: float = 0.0,
    rtol: float = 1e-4,
) -> Bracket:
    """The least mu for which the run is mu-GDP, as a certified bracket.

    error_rates_at_least: the comparison of the two curves is made where both error rates are at least this, below 1/2;
    0 compares them everywhere. rtol: the relative width at which the search ends; `reached` says whether it was.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> found = mu(Repeat(Gaussian(noise_multiplier=4.0), rounds=4))
    >>> 0.5 - 1e-12 < found.lower <= 0.5 <= found.upper < 0.5 + 1e-12
    True

    Raises InputError for error_rates_at_least outside [0, 1/2), and as accounting.epsilon does.
    """
    least = number("error_rates_at_least", error_rates_at_least)
    if not 0.0 <= least < 0.5:
        raise InputError("error_rates_at_least", error_rates_at_least, "an error rate from 0 to below 1/2")
    run, relation = as_run(run), neighbouring or default_relation(notion, participation)
    seen = seen_by(notion, participation)
    pairs = dominating(run, relation, seen)
    if (decimal_mu := _of_decimals(run, neighbouring_relation(relation))) is not None and pairs.lower:
        return decimal_mu
    if all(map(gaussian.supports, (*pairs.upper, *pairs.lower))) and pairs.upper and pairs.lower:
        least_shift = max(gaussian.composed_shift(product)[0] for product in pairs.lower)
        most_shift = max(gaussian.composed_shift(product)[1] for product in pairs.upper)
        return Bracket(min(least_shift, most_shift), most_shift, True, gaussian.METHOD)
    profile = Profile(lambda eps: answer(Question.about(run, "delta", relation, notion, participation), eps))
    if least == 0.0:
        most = pure_epsilon(run, relation, seen).upper
        if most == math.inf:
            return _everywhere(pairs.upper, pairs.lower)
        _lay_out(profile, most * (1 - 1 / _FIRST_KNOTS))  # at the largest loss itself the profile is known to be 0
        return _searched(profile, 0.0, rtol, ((up(most), Bracket(0.0, 0.0, True, METHOD)),))
    last = answer(Question.about(run, "epsilon", relation, notion, participation), min(0.5, least / 64)).upper
    if last == math.inf:
        return Bracket(0.0, math.inf, True, METHOD, reached=False)
    _lay_out(profile, max(last, 1e-12))
    return _searched(profile, least, rtol, ())


def _of_decimals(run: Mechanism, relation: Neighbouring) -> Bracket | None:
    """The root of the exact sum of decimals (move / noise)^2 where every round has Gaussian noise (the same paper,
    Corollary 3.3); None where one has not."""
    square = Fraction(0)
    for part, rounds in rounds_by_step(run).items():
        base, units = (part.mechanism, part.units) if isinstance(part, Group) else (part, 1)
        if type(base) is not Gaussian:  # not noise that units bring themselves
            return None
        square += rounds * (Fraction(units) * int(sensitivity(relation)) / decimal(base.noise_multiplier)) ** 2
    with ctx.workprec(_BITS):
        nearest = float(arb(fmpq(square.numerator, square.denominator)).sqrt().mid())
    below = nearest if decimal(nearest) ** 2 <= square else down(nearest)
    above = nearest if decimal(nearest) ** 2 >= square else up(nearest)
    return Bracket(below, above, True, gaussian.METHOD)


def _lay_out(profile: Profile, last: float) -> None:
    for k in range(_FIRST_KNOTS):
        profile(last * k / (_FIRST_KNOTS - 1))


def _searched(profile: Profile, least: float, rtol: float, beyond: Knots) -> Bracket:
    """Knots are added on both sides of the vertex that needs the largest mu."""
    lower = 0.0
    with ctx.workprec(_BITS):
        while True:
            knots = profile.knots + beyond
            upper, worst = max(_vertices(knots, least), default=(math.inf, 0))
            lower = max(lower, *(_below(knots[i : i + 2], least) for i in range(len(knots) - 1)))
            lower = max(lower, _at_least_rate(knots, least) if least > 0.0 else 0.0)
            found = Bracket(min(lower, upper), upper, True, METHOD, reached=upper <= lower * (1 + rtol))
            if found.reached or len(knots) >= _MOST_KNOTS:
                return found
            known = len(profile.knots)
            if upper == math.inf and not beyond:  # the lines end above the smallest error rate
                profile(1.5 * knots[-1][0])
            for left, right in _around(knots, worst):
                middle = 0.5 * (left + right)
                if left < middle < right:
                    profile(middle)
            if len(profile.knots) == known:
                return found


def _around(knots: Knots, worst: int) -> Iterator[tuple[float, float]]:
    """The cells next to a vertex, which is between the lines of two neighbouring knots."""
    for i in range(max(0, worst - 1), min(len(knots) - 1, worst + 2)):
        yield knots[i][0], knots[i + 1][0]


def _vertices(knots: Knots, least: float) -> Iterator[tuple[float, int]]:
    """(at least the mu through a vertex of the lines, which one), from type I error `least` to the diagonal."""
    lines = [(arb(eps).exp(), 1 - arb(bracket.upper)) for eps, bracket in knots]  # 1 - D - x alpha
    diagonal = lines[0][1] / (1 + lines[0][0])
    yield _mu_above(diagonal, diagonal), 0
    from_rate = arb(least)
    reached = least == 0.0
    for i, ((x, top), (x_next, top_next)) in enumerate(pairwise(lines)):
        alpha = (top_next - top) / (x_next - x)
        if alpha > from_rate:
            yield _mu_above(alpha, top - x * alpha), i
        else:  # the last line that matters: it leaves the range at the smallest error rate
            reached = True
            yield _mu_above(from_rate, top - x * from_rate), i
            break
    if not reached:
        yield math.inf, len(knots) - 2


def _mu_above(alpha: arb, beta: arb) -> float:
    return float_above(_mu(alpha, beta)) if alpha > 0 and beta > 0 else math.inf


def _mu(alpha: arb, beta: arb) -> arb:
    """Phi^-1(1 - alpha) - Phi^-1(beta)."""
    return arb(2).sqrt() * ((2 * alpha).erfcinv() + (2 * beta).erfcinv())


def _below(ends: Knots, least: float) -> float:
    """A mu that the curve needs: its profile at the first knot is above that of G_mu, and it touches the line there at
    a type I error of at least the chord's slope."""
    slope, _ = steepness(*ends)
    if not slope >= arb(least):
        return 0.0
    eps, bracket = ends[0]
    return _gaussian_below(widened_up(eps, 2.0**-52), bracket.lower)


def _gaussian_below(eps: float, delta: float) -> float:
    """A mu with delta(eps; mu) <= delta, close to the largest."""
    if delta <= 0.0:
        return 0.0
    low, high = 0.0, 1.0
    while gaussian.profile_above(eps, high) <= delta and high < 1e9:
        low, high = high, 2 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low < 1e-13 * high:
            break
        low, high = (middle, high) if gaussian.profile_above(eps, middle) <= delta else (low, middle)
    return low


def _at_least_rate(knots: Knots, least: float) -> float:
    """The mu through the curve's point at type I error `least`, where it is at most what the knots leave possible."""
    beta = TradeOff(knots).beta(least).upper
    if beta < least:  # the other kind of error is out of range there
        return 0.0
    return max(0.0, float_below(_mu(arb(least), arb(beta))))


def _everywhere(upper: tuple[Composition, ...], lower: tuple[Composition, ...]) -> Bracket:
    """Over all error rates, where the loss has no bound: each round's own mu adds up in squares (the same paper,
    Corollary 3.3), and what a sampled Gaussian shows at tiny error rates is its base pair."""
    most = max((_root_sum(product, _pair_above, up) for product in upper), default=math.inf)
    least = max((_root_sum(product, _pair_below, down) for product in lower), default=0.0)
    return Bracket(max(0.0, min(least, most)), most, True, METHOD)


def _root_sum(product: Composition, of_pair: Callable[[Pair], float], direction: Callable[[float], float]) -> float:
    """The root of the sum of squares, every step moved in the direction."""
    total = 0.0
    for pair, rounds in product:
        total = direction(total + direction(rounds * direction(of_pair(pair) ** 2)))
    return direction(math.sqrt(max(0.0, total)))


def _pair_above(pair: Pair) -> float:
    """At least a mu for which one round of the pair is mu-GDP; infinite where none is known."""
    if isinstance(pair, GaussianPair | OpposedPair | ZeroedPair):
        return widened_up(pair.shift, _SLACK)
    if isinstance(pair, SubsampledPair):
        doubled = 2.0 if pair.order == "replace" else 1.0  # both ends of the mixtures move apart
        return doubled * _pair_above(pair.base)
    return _of_loss(largest_loss(pair))


def _of_loss(loss: float) -> float:
    """Randomized response with odds e^loss has the lowest curve of all losses up to that: its corner is on G_mu."""
    if loss > 600.0:
        return math.inf
    share = 1 / (1 + arb(loss).exp())
    return float_above(2 * arb(2).sqrt() * (2 * share).erfcinv())


def _pair_below(pair: Pair) -> float:
    """The least mu of one round's attained pair that is seen at tiny error rates: rate times the whole shift."""
    if isinstance(pair, SubsampledPair) and pair.order in ("remove", "replace", "visible"):
        pair = pair.base
    if isinstance(pair, GaussianPair):
        return widened_down(pair.shift, _SLACK)
    return 0.0
