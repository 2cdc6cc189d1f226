"""Poisson cohorts that are cut at a largest size, hidden: what others' coins leave of a unit's chance, and the pairs.

A public coin says what the others' coins came to; given that, a round is a Poisson round, or one in which the unit
takes another's place (docs/theory/truncated_poisson.md, after Ganesh 2025, arXiv 2508.15089).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from flint import arb, ctx

from ...mechanisms import InputError, Mechanism, Participation, Poisson, Relation, TruncatedPoisson
from ..pairs import Composition, MixturePair, Order, Pair, Side
from ..pairs.tails import binomial_tail
from ..rounding import float_above, float_below
from .round import Round, once
from .sampled_bounds import drawn, of_sampled_bound
from .schemes import poisson, replacing, visible
from .stated_parameters import is_stated

_CUT = "zero-out or replace-one, where others know whether a full cohort left them out: a unit that is there does that"

_PROFILE = "a mechanism whose profile is known, for add-remove neighbours: a full cohort's unit takes another's place"

_MATCHED = (1.0, 0.25)
"""Of full cohorts with the unit, shares that are compared with cohorts one short of full; by themselves, with others
of which another is in the unit's place. All where cuts are rare, none where hardly any cohort is not full."""

_RARELY, _LITTLE = 2.0, 0.2
"""Where cohorts one short of full become likelier by the unit by no more than so many sampling rates, and no larger
share, matching all is all that is asked."""

_BITS = 200
_SHARP = 80
_TINY = 2.0**-1000
_ALMOST = 1 - 2**-50


@dataclass(frozen=True, slots=True)
class CutLaw:
    """full: at least the probability that the others' coins alone come up for a full cohort, and open: at least that
    they do not. rate_when_full: at least the unit's chance to take part given the former; rate and rate_above: at most
    and at least its chance in all."""

    full: float
    open: float
    rate_when_full: float
    rate: float
    rate_above: float


@lru_cache(maxsize=64)
def cut_law(step: TruncatedPoisson) -> CutLaw:
    """With N units, a rate r and cohorts of at most M: K ~ Bin(N - 1, r) others' coins, full if K >= M, and

        P[takes part | K >= M] = E[r M / (K + 1) | K >= M] = (M / N) P[Bin(N, r) > M] / P[Bin(N - 1, r) >= M],

    since r P[K = k] / (k + 1) = P[Bin(N, r) = k + 1] / N.
    """
    n, r, m = step.population, step.sampling_rate, step.max_cohort
    if m >= n:
        return CutLaw(0.0, 1.0, r, r, r)
    with ctx.workprec(_BITS):
        rate = arb(r)
        full, share = binomial_tail(n - 1, rate, m), arb(m) / n * binomial_tail(n, rate, m + 1)
        least = rate * (1 - full) + share
        if full > 0 and least > 0:
            chance = float_above(share / full)
            return CutLaw(
                float_above(full), float_above(1 - full), min(chance, r), min(float_below(least), r), float_above(least)
            )
    unlikely = _chernoff(n - 1, r, m)
    return CutLaw(unlikely, 1.0, r, r * (1 - unlikely) * (1 - 2**-50), r)


@dataclass(frozen=True, slots=True)
class Case:
    """What others' coins leave, and where the unit's goes: under both neighbours, one of them with the unit.

    present, absent: probabilities, for neighbours with the unit, and without it; excess: log of their quotient,
    infinite where no cohort is one short of full. The three are nearest doubles, which a `Side` takes for what is near.
    rate: at least the unit's chance to take part, given present. full: whether it does so in another's place.
    """

    present: float
    absent: float
    excess: float
    rate: float
    full: bool


@lru_cache(maxsize=64)
def cases(step: TruncatedPoisson, matched: float) -> tuple[Case, ...]:
    """Of cohorts that are full with the unit, a share is compared with those that are one short of full without it
    (docs/theory/truncated_poisson.md, "Matched"). Empty where balls are too wide.
    """
    n, r, m = step.population, step.sampling_rate, step.max_cohort
    if m >= n:
        return ()
    with ctx.workprec(_BITS):
        rate, others = arb(r), n - 1
        full, kept_in = binomial_tail(others, rate, m), arb(m) / n * binomial_tail(n, rate, m + 1)
        ways = (arb(n).lgamma() - arb(m).lgamma() - arb(n - m + 1).lgamma()).exp()
        short = ways * rate ** (m - 1) * (1 - rate) ** (others - m + 1)
        fewer = binomial_tail(others, 1 - rate, n - m + 1)
        moved, rest = kept_in * arb(matched), kept_in * (1 - arb(matched))
        found = (
            (fewer, fewer, rate, False),
            (short + moved, short, (rate * short + moved) / (short + moved), False),
            (full - moved, full, rest / (full - moved), True),
        )
        known = [case for case in found if not case[0].is_zero()]
        if not all(_is_sharp(number) for case in known for number in case[:3] if not number.is_zero()):
            return ()
        return tuple(
            Case(float(p.mid()), float(q.mid()), _excess(p, q), _chance(chance), where) for p, q, chance, where in known
        )


def _excess(present: arb, absent: arb) -> float:
    return math.inf if absent.is_zero() else float((present / absent).log().mid())


def _chance(ball: arb) -> float:
    return 0.0 if ball.is_zero() else min(float_above(ball), _ALMOST)


def _is_sharp(ball: arb) -> bool:
    """Whether its middle stands for all of it, and can be told from 0."""
    return ball > _TINY and ball.rel_accuracy_bits() > _SHARP


def _chernoff(n: int, r: float, m: int) -> float:
    """At least P[Bin(n, r) >= m], by its exponent, where balls are too wide."""
    if m <= n * r:
        return 1.0
    share = m / n
    exponent = m * math.log(share / r) + (n - m) * (math.log1p(-share) - math.log1p(-r))
    return max(math.exp(-exponent * (1 - 1e-9)), _TINY)


def truncated(part: TruncatedPoisson, relation: Relation, participation: Participation) -> Round:
    """Poisson cohorts cut at a largest size (docs/theory/truncated_poisson.md).

    Hidden: whether the others alone fill the cohort has the same law under both neighbours. If they do not, the round
    is a Poisson round; if they do, the unit takes somebody's place. Attained: a Poisson round at the rate that is left.
    Otherwise a full cohort tells who is in it: charged, and where it is seen attained, as a seen round at that rate.
    """
    if participation != Participation.HIDDEN and relation == Relation.ADD_REMOVE:
        raise InputError("neighbouring", relation, _CUT)
    law = cut_law(part)
    if is_stated(part.mechanism):
        return _of_bound(part.mechanism, part.sampling_rate, law, relation)
    uncut = Poisson(part.mechanism, part.sampling_rate)
    left = Poisson(part.mechanism, law.rate)
    if participation != Participation.HIDDEN:
        at_most = Poisson(part.mechanism, min(law.rate_above, part.sampling_rate))
        known = visible(left, relation) if participation == Participation.VISIBLE else poisson(left, relation)
        return Round(visible(at_most, relation).upper, known.lower)
    if law.full == 0.0:
        return poisson(uncut, relation)
    lower = poisson(left, relation).lower
    bounds = [bound for matched in _MATCHED if (bound := _matched(part, relation, matched))]
    if bounds and cases(part, 1.0)[-2].excess <= min(_RARELY * part.sampling_rate, _LITTLE):
        return Round(bounds[0], lower)
    filled = replacing(part.mechanism, law.rate_when_full, relation)
    upper = {
        order: once(MixturePair((Side(law.open, pair), Side(law.full, filled[order]))))
        for order, ((pair, _),) in poisson(uncut, relation).upper.items()
    }
    return Round(upper, lower, tuple(bounds))


def _of_bound(mechanism: Mechanism, rate: float, law: CutLaw, relation: Relation) -> Round:
    """Of what is known by a stated bound, from above alone. A unit that is there under both neighbours may be seen."""
    if relation != Relation.ADD_REMOVE:
        return of_sampled_bound(Poisson(mechanism, min(law.rate_above, rate)), relation, True)
    uncut = of_sampled_bound(Poisson(mechanism, rate), relation, False)
    if law.full == 0.0:
        return uncut
    filled = drawn(mechanism, relation, 2, law.rate_when_full)
    if filled[Order.REMOVE].profile(arb(1)) is None:
        raise InputError("mechanism", mechanism, _PROFILE)
    upper = {
        order: MixturePair((Side(law.open, pair), Side(law.full, filled[order])))
        for order, ((pair, _),) in uncut.upper.items()
    }
    return Round.of(upper, {})


def _matched(part: TruncatedPoisson, relation: Relation, matched: float) -> Mapping[Order, Composition]:
    """The same, where this share of full cohorts with the unit is compared with those that are one short of full."""
    sides: dict[Order, list[Side]] = {order: [] for order in Order}
    known = cases(part, matched)
    if relation == Relation.ADD_REMOVE and any(math.isinf(case.excess) for case in known):
        return {}
    for case in known:
        for order in Order:
            likely, loss = (case.present, 0.0)
            if relation == Relation.ADD_REMOVE:
                likely, loss = (case.present, case.excess) if order == Order.REMOVE else (case.absent, -case.excess)
            sides[order].append(Side(likely, _in_case(part.mechanism, case, relation, order), loss))
    return {order: once(MixturePair(tuple(each))) for order, each in sides.items()} if known else {}


def _in_case(noise: Mechanism, case: Case, relation: Relation, order: Order) -> Pair | None:
    if case.rate == 0.0:
        return None
    if case.full:
        return replacing(noise, case.rate, relation)[order]
    ((pair, _),) = poisson(Poisson(noise, case.rate), relation).upper[order]
    return pair
