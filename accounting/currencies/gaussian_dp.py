"""Gaussian DP, non-asymptotic: the least mu whose trade-off curve G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu) lies below
the run's (Dong, Roth, Su 2022, arXiv 1905.02383, Definition 4), on all error rates or on those above a given one.

A point (alpha, beta) of a curve is on G_mu for mu = Phi^-1(1 - alpha) - Phi^-1(beta), and the least mu is the supremum
over the curve. From above: certified profiles at eps_0 = 0 < eps_1 < ... give lines below the curve, which meet in
vertices; G_mu is convex, so where it is below two vertices of a line it is below the line between them. From below: a
profile above that of G_mu at some eps proves a point of the curve below G_mu, with a type I error of at least the slope
of the next chord (accounting/currencies/known_profile.py).

Over all error rates the tail decides. For Poisson-sampled Gaussian rounds the least mu is sqrt(T) / z: with probability
rate^T the unit takes part in every round, and at tiny error rates that alone matters. A smaller mu is meant from some
error rate on: `error_rates_at_least`, of both kinds of errors; or down to some delta, `deltas_at_least`: the profiles
are compared at eps from 0 to the run's own at that delta (gaussian_knots.in_cells).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpq

from ...mechanisms import Gaussian, Group, Mechanism, Run, as_run, rounds_by_step
from ...mechanisms.neighbours import (
    Neighbouring,
    Notion,
    PrivacyNotion,
    Relation,
    Visibility,
    neighbouring_relation,
    relation_meant,
    sensitivity,
)
from ...mechanisms.validate import InputError, delta_below_one, number
from ..answer import answer, answers
from ..bracket import Bracket
from ..losses import gaussian_rounds as gaussian
from ..pairs import Composition, Pair, Sampling
from ..pairs.pair import largest_loss
from ..pairs.tails import normal_quantile
from ..pricing.dominating import dominating
from ..quantity import Quantity
from ..question import Question, seen_by
from ..rounding import down, float_above, up, widened_down, widened_up
from .gaussian_knots import Knots, around, at_least_rate, below, in_cells, vertices
from .known_profile import KnownProfile
from .pure_dp import decimal, pure_epsilon

METHOD = "trade-off"

_BITS = 128
_FIRST_KNOTS = 17
_MOST_KNOTS = 60
_SLACK = 2.0**-40


def mu(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    error_rates_at_least: float = 0.0,
    deltas_at_least: float = 0.0,
    rtol: float = 1e-4,
) -> Bracket:
    """The least mu for which the run is mu-GDP, as a certified bracket.

    error_rates_at_least: the comparison of the two curves is made where both error rates are at least this, below 1/2;
    0 compares them everywhere. deltas_at_least: in its place; at every delta from this on the run's epsilon is at most
    that of mu. rtol: the relative width at which the search ends; `reached` says whether it was.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> found = mu(Repeat(Gaussian(noise_multiplier=4.0), rounds=4))
    >>> 0.5 - 1e-12 < found.lower <= 0.5 <= found.upper < 0.5 + 1e-12
    True

    Raises InputError for error_rates_at_least outside [0, 1/2), deltas_at_least outside [0, 1) or beside it, and as
    accounting.epsilon does.
    """
    least, floor = _range(error_rates_at_least, deltas_at_least)
    run, relation = as_run(run), relation_meant(neighbouring, notion, participation)
    seen = seen_by(notion, participation)
    pairs = dominating(run, relation, seen)
    if (decimal_mu := _of_decimals(run, neighbouring_relation(relation))) is not None and pairs.lower:
        return decimal_mu
    if all(map(gaussian.supports, (*pairs.upper, *pairs.lower))) and pairs.upper and pairs.lower:
        least_shift = max(gaussian.composed_shift(product)[0] for product in pairs.lower)
        most_shift = max(gaussian.composed_shift(product)[1] for product in pairs.upper)
        return Bracket(min(least_shift, most_shift), most_shift, True, gaussian.METHOD)
    asked = Question.about(run, Quantity.DELTA, relation, notion, participation)
    profile = KnownProfile(lambda epsilons: answers(asked, epsilons))
    if floor > 0.0:
        end = answer(Question.about(run, Quantity.EPSILON, relation, notion, participation), floor)
        return _down_to(profile, floor, end, rtol)
    if least == 0.0:
        most = pure_epsilon(run, relation, seen).upper
        if most == math.inf:
            return _everywhere(pairs.upper, pairs.lower)
        _lay_out(profile, most * (1 - 1 / _FIRST_KNOTS))  # at the largest loss itself the profile is known to be 0
        return _searched(profile, 0.0, rtol, ((up(most), Bracket(0.0, 0.0, True, METHOD)),))
    last = answer(Question.about(run, Quantity.EPSILON, relation, notion, participation), min(0.5, least / 64)).upper
    if last == math.inf:
        return Bracket(0.0, math.inf, True, METHOD, reached=False)
    _lay_out(profile, max(last, 1e-12))
    return _searched(profile, least, rtol, ())


def _range(error_rates_at_least: float, deltas_at_least: float) -> tuple[float, float]:
    least = number("error_rates_at_least", error_rates_at_least)
    floor = delta_below_one("deltas_at_least", deltas_at_least)
    if not 0.0 <= least < 0.5:
        raise InputError("error_rates_at_least", error_rates_at_least, "an error rate from 0 to below 1/2")
    if least > 0.0 and floor > 0.0:
        raise InputError("deltas_at_least", deltas_at_least, "no such range beside error_rates_at_least")
    return least, floor


def _of_decimals(run: Mechanism, relation: Relation) -> Bracket | None:
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


def _lay_out(profile: KnownProfile, last: float) -> None:
    profile.ask(last * k / (_FIRST_KNOTS - 1) for k in range(_FIRST_KNOTS))


def _down_to(profile: KnownProfile, floor: float, end: Bracket, rtol: float) -> Bracket:
    """At eps up to the run's own at delta = floor, which is in `end`."""
    if end.upper == math.inf:
        return Bracket(0.0, math.inf, True, METHOD, reached=False)
    if end.upper == 0.0:  # no eps is compared
        return Bracket(0.0, 0.0, True, METHOD)
    _lay_out(profile, end.upper)
    with ctx.workprec(_BITS):
        at_end = gaussian.shift_below(end.lower, floor)
    found = _searched(profile, 0.0, rtol, (), floor)
    lower = min(max(found.lower, at_end), found.upper)
    return Bracket(lower, found.upper, True, METHOD, reached=found.upper <= lower * (1 + rtol))


def _searched(profile: KnownProfile, least: float, rtol: float, beyond: Knots, floor: float = 0.0) -> Bracket:
    """Knots are added on both sides of the vertex that needs the largest mu; floor: the least delta compared."""
    lower = 0.0
    with ctx.workprec(_BITS):
        while True:
            knots = profile.knots + beyond
            needed = in_cells(knots, lower) if floor > 0.0 else vertices(knots, least)
            upper, worst = max(needed, default=(math.inf, 0))
            lower = max(lower, *(below(knots[i : i + 2], least, floor) for i in range(len(knots) - 1)))
            lower = max(lower, at_least_rate(knots, least) if least > 0.0 else 0.0)
            found = Bracket(min(lower, upper), upper, True, METHOD, reached=upper <= lower * (1 + rtol))
            if found.reached or len(knots) >= _MOST_KNOTS:
                return found
            known = len(profile.knots)
            if upper == math.inf and not beyond and floor == 0.0:  # the lines end above the smallest error rate
                profile(1.5 * knots[-1][0])
            halves = [(left, 0.5 * (left + right), right) for left, right in around(knots, worst)]
            profile.ask(middle for left, middle, right in halves if left < middle < right)
            if len(profile.knots) == known:
                return found


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
    shown = pair.revealed() or pair
    noise = shown.gaussian()
    if noise is not None:
        return widened_up(noise.shift, _SLACK)
    largest = max(largest_loss(shown), largest_loss(shown.mirrored()))
    return _of_loss(widened_up(largest, _SLACK))


def _of_loss(loss: float) -> float:
    """Randomized response with odds e^loss has the lowest curve of all losses up to that: its corner is on G_mu."""
    if loss > 600.0:
        return math.inf
    share = 1 / (1 + arb(loss).exp())
    return float_above(2 * normal_quantile(share))


def _pair_below(pair: Pair) -> float:
    """The least mu of one round's attained pair that is seen at tiny error rates: rate times the whole shift."""
    noise = pair.gaussian()
    hidden = noise is None or noise.coin in (Sampling.ADD, Sampling.HYBRID)
    return 0.0 if noise is None or hidden else widened_down(noise.shift, _SLACK)
