"""The pairs of one round of each sampling scheme: which dominate it, and which some neighbours attain.

Proofs: docs/theory/dominating_pairs.md; the section is named at each line.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ...mechanisms import (
    CorrelatedGaussian,
    FixedSize,
    Gaussian,
    Mechanism,
    NoNoise,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    TruncatedLaplace,
    TruncatedPoisson,
    VisibleParticipation,
)
from ...mechanisms.composition import has_step
from ...mechanisms.neighbours import Participation, Relation, sensitivity
from ...mechanisms.validate import InputError
from ..allocation.block import spread_of_loss, supports_base
from ..allocation.clones import SYMMETRIC
from ..pairs import (
    AllocationPair,
    CutPair,
    GaussianPair,
    LossesPair,
    OpposedPair,
    Order,
    Pair,
    ProductPair,
    ReplacedAllocationPair,
    ReplacedShuffledPair,
    Sampling,
    ScoredBlockPair,
    ShuffledPair,
    SubsampledPair,
    ZeroedPair,
)
from ..pairs.pair import largest_loss
from ..rounding import UNIT, widened_down, widened_up
from .additive import additive
from .round import ByOrder, Choice, Example, Round, bounded, either, once, plain, repeated, tight

_SEEN = "zero-out or replace-one when participation is visible: seeing a unit take part reveals that it is there"


_SAMPLERS = (Poisson, FixedSize, TruncatedPoisson, Shuffled, RandomAllocation, VisibleParticipation)

_LEAST_SPREAD, _LARGEST_SPREAD = 2e-3, 4.0
"""Standard deviations of one batch's loss between which shuffling is amplified."""

_LARGEST_LOSS = 50.0
"""Of bounded noise; where it is larger, next to nobody is a clone."""

_MOST_ROUNDS, _SMALLEST_SHIFT, _LARGEST_SHIFT = 10**6, 1e-4, 6.0
"""Where the scores of a block are told apart; what is left out, or said of more noise, is a lower end all the same."""


def _sampled(pair: Pair, rate: float) -> ByOrder:
    """What a unit with a coin of its own adds, or takes away."""
    return {order: SubsampledPair(pair, rate, Sampling.of(order)) for order in Order}


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
        if isinstance(inner, Repeat | Sequence) and has_step(inner, _SAMPLERS):
            raise InputError("mechanism", part, _SAMPLED_TWICE)
        return part
    if isinstance(part, Poisson) and isinstance(inner, Poisson):
        return as_one_sample(Poisson(inner.mechanism, part.sampling_rate * inner.sampling_rate))
    if isinstance(part, FixedSize) and isinstance(inner, FixedSize) and inner.population == part.cohort:
        return as_one_sample(FixedSize(inner.mechanism, part.population, inner.cohort))
    raise InputError("mechanism", part, _PARTS)


def poisson(part: Poisson, relation: Relation) -> Round:
    """Poisson sampling with a hidden coin (docs: section "Poisson sampling"); with rate 1 there is none to hide."""
    if part.sampling_rate == 1.0:
        return tight(either(additive(part.mechanism, sensitivity(relation))))
    pair, rate = additive(part.mechanism, 1), part.sampling_rate
    if relation != Relation.REPLACE_ONE:
        return tight(_sampled(pair, rate))
    if isinstance(pair, ProductPair | CutPair | LossesPair):
        apart = SubsampledPair(additive(part.mechanism, 2), rate, Sampling.HYBRID)
        return Round.of(either(apart), plain(_sampled(pair, rate)))
    return tight(either(SubsampledPair(pair, rate, Sampling.REPLACE)))


def replacing(noise: Mechanism, rate: float, relation: Relation) -> ByOrder:
    """The pairs that dominate a round in which the unit, if it takes part, does so in another's place."""
    if relation == Relation.ADD_REMOVE:
        return _sampled(additive(noise, 2), rate)
    if relation == Relation.REPLACE_ONE or not isinstance(noise, Gaussian):
        return either(SubsampledPair(additive(noise, 2), rate, Sampling.HYBRID))
    return {order: ZeroedPair(1.0 / noise.noise_multiplier, rate, order) for order in Order}


def fixed_size(part: FixedSize, relation: Relation) -> Round:
    """A hidden cohort of fixed size (docs: section "Fixed-size sampling").

    One client's absence is filled by another, whose contribution may be opposite: every move is up to 2.
    Valid for clients whose contribution depends on their data and the public transcript only.
    """
    rate = part.sampling_rate
    if relation == Relation.ADD_REMOVE:
        return tight(_sampled(additive(part.mechanism, 2), rate))
    known = plain(_sampled(additive(part.mechanism, sensitivity(relation)), rate))
    worst = replacing(part.mechanism, rate, relation)
    if isinstance(part.mechanism, Gaussian) and relation == Relation.REPLACE_ONE:
        for examples in known.values():
            examples[Example.BALANCED] = SubsampledPair(additive(part.mechanism, 1), rate, Sampling.REPLACE)
    elif isinstance(part.mechanism, Gaussian):
        known[Order.REMOVE][Example.OPPOSED] = OpposedPair(1.0 / part.mechanism.noise_multiplier, rate, Order.REMOVE)
    return Round.of(worst, known)


def visible(part: Poisson | FixedSize, relation: Relation) -> Round:
    """The observer sees whether the unit takes part (docs: "Visible participation"); InputError for add-remove."""
    refuse_seen_presence(part, relation, Participation.VISIBLE)
    pair = additive(part.mechanism, sensitivity(relation))
    return tight(either(SubsampledPair(pair, part.sampling_rate, Sampling.VISIBLE)))


def shuffled(part: Shuffled, relation: Relation, participation: Participation) -> Round:
    """One epoch of shuffled batches: revealing the order leaves one round per unit and no amplification.

    Where nobody knows who is in which batch the others hide the unit (docs/theory/shuffled.md): `amplified`.

    Attained (docs: section "Shuffled batches"): a block of random allocation, in every epoch, of which .1% is enough;
    and with a unit that is left out, all others against it. For one epoch there is a lower bound of another kind in
    accounting/allocation/shuffled_event.py.
    """
    if relation == Relation.ADD_REMOVE:
        raise InputError("neighbouring", relation, "zero-out or replace-one with shuffled batches of a fixed size")
    pair = additive(part.mechanism, sensitivity(relation))
    if isinstance(part.mechanism, NoNoise):  # of every unit, the batch that it is in
        return tight(either(pair))
    if isinstance(part.mechanism, Repeat | Sequence | TruncatedLaplace):
        return bounded(pair)
    stands_out = AllocationPair(pair, part.batches, 1, Order.REMOVE, 0.03)
    examples: dict[Choice, Pair] = {Example.PLAIN: stands_out}
    if relation == Relation.ZERO_OUT and isinstance(part.mechanism, Gaussian):
        examples |= _scored(Example.OPPOSED, part.mechanism, part.batches, 1, (2, 1))
    orders = tuple(Order) if relation == Relation.REPLACE_ONE else (Order.REMOVE,)  # of two units either stands out
    amplified = _amplified(part, relation) if participation == Participation.HIDDEN else {}
    known = Round.of(either(pair), dict.fromkeys(orders, examples))
    return replace(known, amplified=({order: once(bound) for order, bound in amplified.items()},) if amplified else ())


def _amplified(part: Shuffled, relation: Relation) -> ByOrder:
    """The bounds by clones, with two full batches or more; none for noise so small that nothing is hidden, or so large
    that losses are below what transforms tell apart."""
    apart, whole, batches = additive(part.mechanism, 1), additive(part.mechanism, 2), part.full_batches
    if (
        batches < 2
        or not isinstance(apart, SYMMETRIC)
        or not supports_base(apart)
        or _LARGEST_LOSS < largest_loss(apart) < math.inf
    ):
        return {}
    if not _LEAST_SPREAD <= spread_of_loss(apart) <= _LARGEST_SPREAD:
        return {}
    if relation == Relation.REPLACE_ONE:
        return either(ReplacedShuffledPair(apart, whole, batches))
    return {order: ShuffledPair(apart, batches, order) for order in Order}


def _scored(which: Example, noise: Gaussian, rounds: int, times: int, moves: tuple[int, int]) -> dict[Choice, Pair]:
    """What a sum of scores reveals of these neighbours; nothing where scores are not told apart."""
    shift = min(widened_down(1 / noise.noise_multiplier, 8 * UNIT), _LARGEST_SHIFT)
    if shift < _SMALLEST_SHIFT or rounds > _MOST_ROUNDS:
        return {}
    return {which: ScoredBlockPair(shift, rounds, times, *moves)}


def allocated(part: RandomAllocation, relation: Relation, participation: Participation) -> Round:
    """A unit's rounds of a block, drawn uniformly by itself (docs/theory/allocation.md).

    Seen, or of all rounds: so many. Hidden, also from the others, whose choices are independent: amplified; with
    its two bounds an AllocationPair is what a constant contribution attains, and with one participation the worst.
    """
    base, times = part.mechanism, part.participations
    if isinstance(base, NoNoise):
        return tight(either(additive(base, sensitivity(relation))))
    if isinstance(base, Repeat | Sequence | TruncatedLaplace):
        raise InputError("mechanism", base, "one release of untruncated noise a round, with random allocation")
    if participation == Participation.VISIBLE or times == part.rounds:
        return repeated(additive(base, sensitivity(relation)), times)
    if relation != Relation.REPLACE_ONE:
        pair = additive(base, 1)
        return tight({order: AllocationPair(pair, part.rounds, times, order) for order in Order})
    if not isinstance(base, Gaussian):
        raise InputError("mechanism", base, "Gaussian noise, with random allocation and a replaced unit")
    apart = AllocationPair(
        GaussianPair(widened_up(1 / base.noise_multiplier, 4 * UNIT)), part.rounds, times, Order.REMOVE
    )
    total = 2 * times / (base.noise_multiplier * math.sqrt(part.rounds))
    known: dict[Choice, Pair] = {Example.PLAIN: GaussianPair(widened_down(total, 8 * UNIT))}
    known |= _scored(Example.SCORED, base, part.rounds, times, (1, -1))
    if times == 1:  # Theorem 6: the pair itself is attained; where its profile is not seen from below, the scores are
        known[Example.EXACT] = ReplacedAllocationPair(apart)
    return Round.of(either(ReplacedAllocationPair(apart)), dict.fromkeys(Order, known))


def correlated(part: CorrelatedGaussian, relation: Relation, units: int = 1) -> Round:
    """All rounds together are one Gaussian release, whoever sees the cohorts (docs/theory/correlated_noise.md)."""
    least, most = part.squared_sensitivity()
    move = units * sensitivity(relation) / part.noise_multiplier
    bound = GaussianPair(widened_up(move * math.sqrt(most), 4 * UNIT))
    if least == 0:  # nothing is known to be moved for certain
        return bounded(bound)
    known = GaussianPair(widened_down(move * math.sqrt(least), 4 * UNIT))
    return Round.of(either(bound), plain(either(known)))


def refuse_seen_presence(part: Mechanism, relation: Relation, participation: Participation) -> None:
    """Whoever sees who takes part sees who is there, also where everybody takes part in every round."""
    if relation == Relation.ADD_REMOVE and (
        participation == Participation.VISIBLE or isinstance(part, VisibleParticipation)
    ):
        raise InputError("neighbouring", relation, _SEEN)
