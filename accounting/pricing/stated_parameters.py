"""Mechanisms whose parameters are stated for the neighbours that are asked about: their pair does not depend on a move.

`stated_pairs.register(Mechanism)` with a function to StatedPairs: the one place where such a mechanism is registered.
docs/theory/selection.md, docs/theory/local_randomisers.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import singledispatch

from flint import arb, ctx

from ...mechanisms import (
    ApproximateDp,
    InputError,
    LossDistribution,
    Mechanism,
    PureDp,
    RandomizedResponse,
    RenyiDp,
    ReportNoisyMax,
    SparseVector,
    Staircase,
    Zcdp,
    rounds_by_step,
)
from ...mechanisms.selection import SelectionNoise
from ..pairs import (
    ApproximateDpPair,
    BoundedRangePair,
    EventPair,
    LaplaceMaximumPair,
    LaplacePair,
    Pair,
    RandomizedResponsePair,
    RenyiPoints,
    Sampling,
    SubsampledPair,
    ZcdpBound,
)
from ..rounding import float_above, float_below, up
from . import sparse_vector, tied_candidates

_BITS = 128


@dataclass(frozen=True, slots=True)
class StatedPairs:
    """upper: dominates, for all neighbours and both orders. lower: pairs, each of which some neighbours have.

    alone: dominates too, and at every epsilon some neighbours have its delta in one release by itself (different ones
    at different epsilons, so that in several releases it bounds from above only); None where no such pair is known.
    """

    upper: Pair
    lower: tuple[Pair, ...] = ()
    alone: Pair | None = None


@singledispatch
def stated_pairs(mechanism: Mechanism) -> StatedPairs | None:
    """The pairs of one round; None for mechanisms of another kind."""
    return None


def is_stated(mechanism: Mechanism) -> bool:
    """Whether a release, or one of several about one sample, has a stated pair, or states its losses."""
    return any(
        isinstance(step, LossDistribution) or stated_pairs(step) is not None for step in rounds_by_step(mechanism)
    )


@stated_pairs.register
def _pure_dp(mechanism: PureDp) -> StatedPairs:
    return StatedPairs(ApproximateDpPair(mechanism.epsilon, 0.0))


@stated_pairs.register
def _approximate_dp(mechanism: ApproximateDp) -> StatedPairs:
    return StatedPairs(ApproximateDpPair(mechanism.epsilon, mechanism.delta))


@stated_pairs.register
def _zcdp(mechanism: Zcdp) -> StatedPairs:
    return StatedPairs(ZcdpBound(mechanism.rho))


@stated_pairs.register
def _renyi_dp(mechanism: RenyiDp) -> StatedPairs:
    """At a stated order its epsilon, between orders by convexity (pairs/renyi_bounds.py). It becomes (epsilon, delta)
    at the best order by Asoodeh et al. 2020 (renyi/optimal_conversion.py), the best that one order allows; samples:
    renyi/sampled_divergence.py. Nothing is known from below: no mechanism need have all divergences at their bounds."""
    return StatedPairs(RenyiPoints(mechanism.points))


@stated_pairs.register
def _randomized_response(mechanism: RandomizedResponse) -> StatedPairs:
    pair = RandomizedResponsePair(mechanism.flip_probability, mechanism.categories)
    return StatedPairs(pair, (pair,))


@stated_pairs.register
def _noisy_max(mechanism: ReportNoisyMax) -> StatedPairs:
    """Bounded range for Gumbel noise; for exponential noise Laplace noise's pair, as the scores move gradually (docs:
    "Moved gradually"), which two candidates attain; for Laplace noise less. Attained: events of a few neighbours."""
    noise = SelectionNoise(mechanism.noise)
    with ctx.workprec(_BITS):
        e = arb(mechanism.epsilon)
        events = {
            SelectionNoise.GUMBEL: lambda: _gumbel_events(e),
            SelectionNoise.EXPONENTIAL: lambda: _exponential_events(e),
            SelectionNoise.LAPLACE: lambda: tied_candidates.events(mechanism.epsilon),
        }[noise]()
        ends = [(max(0.0, float_below(p)), min(1.0, float_above(q))) for p, q in events]
    upper = _MAXIMA[noise](mechanism.epsilon)
    attained = tuple(EventPair(likely, unlikely) for likely, unlikely in ends if likely > unlikely)
    return StatedPairs(upper, attained, None if noise == SelectionNoise.LAPLACE else upper)


_MAXIMA = {
    SelectionNoise.GUMBEL: BoundedRangePair,
    SelectionNoise.EXPONENTIAL: LaplacePair,
    SelectionNoise.LAPLACE: LaplaceMaximumPair,
}


def _gumbel_events(e: arb) -> list[tuple[arb, arb]]:
    """Two candidates whose odds change by e^-epsilon: loss t or t - epsilon, the generalised random response of Dong,
    Durfee, Rogers 2020 (arXiv 1909.13830), Section 4."""
    losses = [e * share / 32 for share in (16, 20, 24, 28, 31)]
    likely = [(1 - (t - e).exp()) / (1 - (-e).exp()) for t in losses]
    return [(p, p * (-t).exp()) for p, t in zip(likely, losses, strict=True)]


def _exponential_events(e: arb) -> list[tuple[arb, arb]]:
    """n candidates, n - 1 of them tied: one is best by -log(a) scales, then worse by epsilon + log(a).

    It is chosen with probability (1 - (1 - a)^n) / (n a), by its place among those that the coins accept, then with
    e^-epsilon / (n a): first of all in the order, and accepted.
    """
    choices = [(n, (-e * share / 4).exp()) for n in (2, 3, 6) for share in (0, 1, 2, 3)]
    return [((1 - (1 - a) ** n) / (n * a), (-e).exp() / (n * a)) for n, a in choices]


@stated_pairs.register
def _sparse_vector(mechanism: SparseVector) -> StatedPairs:
    """Lyu, Su, Li 2017 (arXiv 1603.01699), Theorems 4 and 5: each hit costs 2 / scale where queries move either way,
    1 / scale where all move the same way; the threshold is paid once, and each released value. Half a move costs half
    of that: Laplace noise's pair dominates (docs: "Moved gradually")."""
    with ctx.workprec(_BITS):
        each = (1 if mechanism.monotone else 2) / arb(mechanism.query_scale)
        if mechanism.value_scale is not None:
            each += 1 / arb(mechanism.value_scale)
        total = 1 / arb(mechanism.threshold_scale) + mechanism.hits * each
        return StatedPairs(LaplacePair(float_above(total)), sparse_vector.events(mechanism))


@stated_pairs.register
def _staircase(mechanism: Staircase) -> StatedPairs:
    """Loss +-epsilon on masses that a visible coin tells apart from the rest, where there is none."""
    with ctx.workprec(_BITS):
        pair = three_valued(mechanism.epsilon, staircase_apart(mechanism))
    return StatedPairs(pair, (pair,))


def staircase_apart(mechanism: Staircase) -> arb:
    """The probability of an output that is not as likely under both: the density of Geng, Viswanath 2014 (arXiv
    1212.1186), Section 3."""
    ratio, gamma = (-arb(mechanism.epsilon)).exp(), arb(mechanism.gamma)
    height = (1 - ratio) / (2 * (gamma + ratio * (1 - gamma)))
    return (arb(0.5) + height * min(mechanism.gamma, 1 - mechanism.gamma)) * (1 + ratio)


def three_valued(epsilon: float, apart: arb) -> Pair:
    """Loss epsilon or -epsilon with this probability, as randomized response, and else none."""
    base, rate = ApproximateDpPair(epsilon, 0.0), float(apart.mid())
    return base if rate >= 1.0 else SubsampledPair(base, rate, Sampling.VISIBLE)


def for_group(mechanism: Mechanism, units: int) -> Mechanism | None:
    """What costs one unit as much as the mechanism costs a group; None for mechanisms of another kind.

    Pure DP: n epsilon (Dwork, Roth 2014, Theorem 2.2). (epsilon, delta): n epsilon, and `grouped_delta`. zCDP: n^2 rho
    (Bun, Steinke 2016, arXiv 1605.02065, Proposition 1.9). Renyi DP: RenyiDp.for_group. Selection: the scores move n
    times as far.
    """
    if isinstance(mechanism, PureDp | ReportNoisyMax):
        return replace(mechanism, epsilon=units * mechanism.epsilon)
    if isinstance(mechanism, SparseVector):
        scales = {name: getattr(mechanism, name) for name in ("threshold_scale", "query_scale", "value_scale")}
        return replace(mechanism, **{name: scale and scale / units for name, scale in scales.items()})
    if isinstance(mechanism, Zcdp):
        return Zcdp(up(units * units * mechanism.rho, 2))
    if isinstance(mechanism, RenyiDp):
        return mechanism.for_group(units)
    if isinstance(mechanism, Staircase):
        return PureDp(units * mechanism.epsilon)
    if isinstance(mechanism, ApproximateDp):
        failure = grouped_delta(mechanism.epsilon, mechanism.delta, units)
        if failure >= 1.0:
            raise InputError("units", units, f"a smaller group: {mechanism} says nothing of this one")
        return ApproximateDp(units * mechanism.epsilon, failure)
    return None


def grouped_delta(epsilon: float, delta: float, units: int) -> float:
    """At least delta (1 + e^eps + ... + e^((units - 1) eps)): what (eps, delta)-DP leaves a group (Vadhan 2017, "The
    complexity of differential privacy", Lemma 2.2)."""
    if delta == 0.0:
        return 0.0
    if math.isinf(epsilon):
        return 1.0
    with ctx.workprec(200):
        growth = arb(epsilon)
        total = arb(units) if epsilon == 0.0 else (units * growth).expm1() / growth.expm1()
        return float_above(arb(delta) * total)
