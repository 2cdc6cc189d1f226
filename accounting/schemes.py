"""The pairs of one round of each sampling scheme: which dominate it, and which some neighbours attain.

Proofs: docs/theory/dominating_pairs.md; the section is named at each line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..mechanisms import (
    CorrelatedGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    TruncatedLaplace,
    TruncatedPoisson,
    VisibleParticipation,
    rounds_by_step,
    sensitivity,
)
from .additive import by_move
from .pairs import (
    AllocationPair,
    Composition,
    CutPair,
    GaussianPair,
    MixturePair,
    OpposedPair,
    Order,
    Pair,
    ProductPair,
    ReplacedAllocationPair,
    ScoredBlockPair,
    SubsampledPair,
    ZeroedPair,
)
from .rounding import UNIT, widened_down, widened_up
from .truncated import cut_law

Participation = Literal["hidden", "pooled", "visible"]
"""What the observer knows of who took part in a round.

"hidden": nothing. "pooled": every other unit knows whether it took part itself, and they pool that; it settles
the unit's own participation when the cohort has a fixed size, and says nothing about it under independent
Poisson coins. "visible": the observer sees the unit's own participation (its traffic, or the cohort itself).
"""

_ORDERS: tuple[Literal["remove", "add"], ...] = ("remove", "add")

_CUT = "zero-out or replace-one, where others know whether a full cohort left them out: a unit that is there does that"
_SEEN = "zero-out or replace-one when participation is visible: seeing a unit take part reveals that it is there"


_SAMPLERS = (Poisson, FixedSize, TruncatedPoisson, Shuffled, RandomAllocation, VisibleParticipation)

_MOST_ROUNDS, _SMALLEST_SHIFT, _LARGEST_SHIFT = 10**6, 1e-4, 6.0
"""Where the scores of a block are told apart; what is left out, or said of more noise, is a lower end all the same."""


@dataclass(frozen=True, slots=True)
class Round:
    """The pairs of one round, by the order in which the two neighbours are named."""

    upper: dict[str, Pair]
    lower: Mapping[str, Pair | Composition]


def tight(pairs: dict[str, Pair]) -> Round:
    """Pairs that dominate and are attained."""
    return Round(pairs, pairs)


def _sampled(pair: Pair, rate: float, *orders: Order) -> dict[str, Pair]:
    return {order: SubsampledPair(pair, rate, order) for order in orders}


_SAMPLED_TWICE = (
    "releases about the whole sample: dpcert prices a sample of a sample (the product of the rates), and no sample of "
    "which each of several releases draws its own part"
)
_PARTS = "FixedSize in a cohort of a fixed size, with its cohort as population, or Poisson in a Poisson sample"


def as_one_sample(part: Poisson | FixedSize) -> Poisson | FixedSize:
    """A sample of a sample as the one sample that it is: two independent coins are one, of the product of the rates;
    a uniform part of a uniform cohort is a uniform cohort. Any other round as it is."""
    inner = part.mechanism
    while isinstance(inner, Repeat) and inner.rounds == 1:
        inner = inner.mechanism
    if not isinstance(inner, Poisson | FixedSize):
        if isinstance(inner, Repeat | Sequence) and any(isinstance(step, _SAMPLERS) for step in rounds_by_step(inner)):
            raise InputError("mechanism", part, _SAMPLED_TWICE)
        return part
    if isinstance(part, Poisson) and isinstance(inner, Poisson):
        return as_one_sample(Poisson(inner.mechanism, part.sampling_rate * inner.sampling_rate))
    if isinstance(part, FixedSize) and isinstance(inner, FixedSize) and inner.population == part.cohort:
        return as_one_sample(FixedSize(inner.mechanism, part.population, inner.cohort))
    raise InputError("mechanism", part, _PARTS)


def poisson(part: Poisson, relation: Neighbouring) -> Round:
    """Poisson sampling with a hidden coin (docs: section "Poisson sampling")."""
    pair, rate = by_move(part.mechanism), part.sampling_rate
    if relation != "replace-one":
        return tight(_sampled(pair(1), rate, "remove", "add"))
    if isinstance(pair(1), ProductPair | CutPair):
        return Round(_sampled(pair(2), rate, "hybrid"), _sampled(pair(1), rate, "remove", "add"))
    return tight(_sampled(pair(1), rate, "replace"))


def truncated(part: TruncatedPoisson, relation: Neighbouring, participation: Participation) -> Round:
    """Poisson cohorts cut at a largest size (docs/theory/truncated_poisson.md).

    Hidden: whether the others alone fill the cohort has the same law under both neighbours. If they do not, the round
    is a Poisson round; if they do, the unit takes somebody's place. Attained: a Poisson round at the rate that is left.
    Otherwise a full cohort tells who is in it: charged, and where it is seen attained, as a seen round at that rate.
    """
    if participation != "hidden" and relation == "add-remove":
        raise InputError("neighbouring", relation, _CUT)
    law = cut_law(part)
    uncut = Poisson(part.mechanism, part.sampling_rate)
    left = Poisson(part.mechanism, law.rate)
    if participation != "hidden":
        at_most = Poisson(part.mechanism, min(law.rate_above, part.sampling_rate))
        attained = visible(left, relation) if participation == "visible" else poisson(left, relation)
        return Round(visible(at_most, relation).upper, attained.lower)
    if law.full == 0.0:
        return poisson(uncut, relation)
    filled = _replacing(by_move(part.mechanism), part.mechanism, law.rate_when_full, relation)
    upper: dict[str, Pair] = {
        order: MixturePair(((law.open, pair), (law.full, filled.get(order, next(iter(filled.values()))))))
        for order, pair in poisson(uncut, relation).upper.items()
    }
    return Round(upper, poisson(left, relation).lower)


def _replacing(pair: Callable[[float], Pair], noise: Mechanism, rate: float, relation: Neighbouring) -> dict[str, Pair]:
    """The pairs that dominate a round in which the unit, if it takes part, does so in another's place."""
    if relation == "add-remove":
        return _sampled(pair(2), rate, "remove", "add")
    if relation == "replace-one" or not isinstance(noise, Gaussian):
        return _sampled(pair(2), rate, "hybrid")
    shift = 1.0 / noise.noise_multiplier
    return {"remove": ZeroedPair(shift, rate, "remove"), "add": ZeroedPair(shift, rate, "add")}


def fixed_size(part: FixedSize, relation: Neighbouring) -> Round:
    """A hidden cohort of fixed size (docs: section "Fixed-size sampling").

    One client's absence is filled by another, whose contribution may be opposite: every move is up to 2.
    Valid for clients whose contribution depends on their data and the public transcript only.
    """
    pair, rate = by_move(part.mechanism), part.sampling_rate
    if relation == "add-remove":
        return tight(_sampled(pair(2), rate, "remove", "add"))
    attained = _sampled(pair(2 if relation == "replace-one" else 1), rate, "remove", "add")
    worst = _replacing(pair, part.mechanism, rate, relation)
    if not isinstance(part.mechanism, Gaussian):
        return Round(worst, attained)
    if relation == "replace-one":
        return Round(worst, attained | _sampled(pair(1), rate, "replace"))
    opposed = OpposedPair(1.0 / part.mechanism.noise_multiplier, rate, "remove")
    return Round(worst, attained | {"remove opposed": opposed})


def visible(part: Poisson | FixedSize, relation: Neighbouring) -> Round:
    """The observer sees the unit's participation (docs: section "Visible participation")."""
    if relation == "add-remove":
        raise InputError("neighbouring", relation, _SEEN)
    return tight(_sampled(by_move(part.mechanism)(sensitivity(relation)), part.sampling_rate, "visible"))


def shuffled(part: Shuffled, relation: Neighbouring) -> Round:
    """One epoch of shuffled batches: revealing the order leaves one round per unit and no amplification.

    Attained (docs: section "Shuffled batches"): a block of random allocation, in every epoch, of which .1% is enough;
    and with a unit that is left out, all others against it. accounting/shuffled.py has a lower bound of another kind,
    for one epoch.
    """
    if relation == "add-remove":
        raise InputError("neighbouring", relation, "zero-out or replace-one with shuffled batches of a fixed size")
    pair = by_move(part.mechanism)
    if isinstance(part.mechanism, Repeat | Sequence | TruncatedLaplace):
        return Round({"both": pair(sensitivity(relation))}, {})
    stands_out = AllocationPair(pair(sensitivity(relation)), part.batches, 1, "remove", 0.03)
    attained: dict[str, Pair] = {"remove": stands_out}
    if relation == "zero-out" and isinstance(part.mechanism, Gaussian):
        attained |= _scored("remove opposed", part.mechanism, part.batches, 1, (2, 1))
    return Round({"both": pair(sensitivity(relation))}, attained)


def _scored(name: str, noise: Gaussian, rounds: int, times: int, moves: tuple[int, int]) -> dict[str, Pair]:
    """What a sum of scores reveals, by that name; nothing where scores are not told apart."""
    shift = min(widened_down(1 / noise.noise_multiplier, 8 * UNIT), _LARGEST_SHIFT)
    if shift < _SMALLEST_SHIFT or rounds > _MOST_ROUNDS:
        return {}
    return {name: ScoredBlockPair(shift, rounds, times, *moves)}


def allocated(part: RandomAllocation, relation: Neighbouring, participation: Participation) -> Round:
    """A unit's rounds of a block, drawn uniformly by itself (docs/theory/allocation.md).

    Seen: so many rounds. Hidden, also from the others, whose choices are independent: amplified. With its two bounds
    an AllocationPair is what a constant contribution attains, and with one participation the worst.
    """
    base, times = part.mechanism, part.participations
    if isinstance(base, Repeat | Sequence | TruncatedLaplace):
        raise InputError("mechanism", base, "one release of untruncated noise a round, with random allocation")
    if participation == "visible":
        return _visible_allocation(base, times, relation)
    if relation != "replace-one":
        pair = by_move(base)(1)
        remove, add = (AllocationPair(pair, part.rounds, times, order) for order in _ORDERS)
        return tight({"remove": remove, "add": add})
    if not isinstance(base, Gaussian):
        raise InputError("mechanism", base, "Gaussian noise, with random allocation and a replaced unit")
    apart = AllocationPair(GaussianPair(widened_up(1 / base.noise_multiplier, 4 * UNIT)), part.rounds, times, "remove")
    total = 2 * times / (base.noise_multiplier * math.sqrt(part.rounds))
    attained: dict[str, Pair] = {"both": GaussianPair(widened_down(total, 8 * UNIT))}
    attained |= _scored("both scored", base, part.rounds, times, (1, -1))
    if times == 1:  # Theorem 6: the pair itself is attained; where its profile is not seen from below, the scores are
        attained["both exact"] = ReplacedAllocationPair(apart)
    return Round({"both": ReplacedAllocationPair(apart)}, attained)


def _visible_allocation(base: Mechanism, times: int, relation: Neighbouring) -> Round:
    if times == 1:
        return tight({"both": by_move(base)(sensitivity(relation))})
    if not isinstance(base, Gaussian):
        raise InputError("mechanism", base, "Gaussian noise, where several rounds of a block are seen")
    move = widened_up(sensitivity(relation) * math.sqrt(times) / base.noise_multiplier, 4 * UNIT)
    return tight({"both": GaussianPair(move)})


def correlated(part: CorrelatedGaussian, relation: Neighbouring, units: int = 1) -> Round:
    """All rounds together are one Gaussian release, whoever sees the cohorts (docs/theory/correlated_noise.md)."""
    attained, most = part.squared_sensitivity()
    move = units * sensitivity(relation) / part.noise_multiplier
    bound: dict[str, Pair] = {"both": GaussianPair(widened_up(move * math.sqrt(most), 4 * UNIT))}
    if attained == 0:  # nothing is known to be moved for certain
        return Round(bound, {})
    return Round(bound, {"both": GaussianPair(widened_down(move * math.sqrt(attained), 4 * UNIT))})


def refuse_seen_presence(part: Mechanism, relation: Neighbouring, participation: Participation) -> None:
    """Whoever sees who takes part sees who is there, also where everybody takes part in every round."""
    if relation == "add-remove" and (participation == "visible" or isinstance(part, VisibleParticipation)):
        raise InputError("neighbouring", relation, _SEEN)
