"""From what ran to the pairs of distributions that bound, or attain, what it reveals.

For each neighbouring relation: which product pairs dominate every pair of neighbouring federations (the
true profile is at most the largest of theirs: `upper`), and which are attained by some pair of federations
(the true profile is at least each of theirs: `lower`). Where both agree the accounting is tight.
Proofs: docs/theory/dominating_pairs.md; the section is named at each line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Literal, TypeVar

from ..mechanisms import (
    BestOfSeveral,
    CorrelatedGaussian,
    Cyclic,
    DistributedDiscreteGaussian,
    FixedSize,
    Gaussian,
    Group,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    RandomAllocation,
    Run,
    Sequence,
    Shuffled,
    ShuffledReports,
    Skellam,
    TruncatedPoisson,
    VisibleParticipation,
    as_run,
    neighbouring_relation,
    sensitivity,
)
from ..mechanisms.client_noise import refuse_absent_shares, refuse_known_shares
from . import shuffle_model  # noqa: F401 (it registers its mechanism)
from .additive import by_move
from .groups import group_pairs
from .local_randomisers import LocalRandomiser
from .pairs import (
    AllocationPair,
    Composition,
    GaussianPair,
    MixturePair,
    OpposedPair,
    Order,
    Pair,
    ProductPair,
    RenyiLines,
    ReplacedAllocationPair,
    SelectionPair,
    SubsampledPair,
    ZeroedPair,
)
from .rounding import UNIT, widened_down, widened_up
from .stated import stated
from .truncated import cut_law
from .ways import Change, Way, ways

Participation = Literal["hidden", "pooled", "visible"]
"""What the observer knows of who took part in a round.

"hidden": nothing. "pooled": every other unit knows whether it took part itself, and they pool that; it settles
the unit's own participation when the cohort has a fixed size, and says nothing about it under independent
Poisson coins. "visible": the observer sees the unit's own participation (its traffic, or the cohort itself).
"""

AnyPair = TypeVar("AnyPair", bound=Pair | Composition)

_ORDERS: tuple[Literal["remove", "add"], ...] = ("remove", "add")

_CUT = "zero-out or replace-one, where others know whether a full cohort left them out: a unit that is there does that"
_SEEN = "zero-out or replace-one when participation is visible: seeing a unit take part reveals that it is there"


@dataclass(frozen=True, slots=True)
class Dominating:
    """truth <= max over `upper`; truth >= max over `lower` (empty: no attained pair is known).

    The products of `lower` are those of the steps that have an attained pair: leaving out the outputs of the others is
    post-processing, whatever they are, and keeping all steps that have one reveals no less than keeping some.
    """

    upper: tuple[Composition, ...]
    lower: tuple[Composition, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """The single-round pairs, by the order in which the two neighbours are named."""

    upper: dict[str, Pair]
    lower: Mapping[str, Pair | Composition]


def dominating(run: Run, neighbouring: Neighbouring, participation: Participation = "hidden") -> Dominating:
    """The product pairs of a run.

    >>> from dpcert.mechanisms import Repeat
    >>> dominating(Repeat(Gaussian(2.0), rounds=3), "replace-one").upper
    (((GaussianPair(shift=1.0), 3),),)

    Raises InputError for combinations that have no meaning or no known bound.
    """
    relation = neighbouring_relation(neighbouring)
    found = [of_way(way, relation, participation) for way in ways(as_run(run), relation)]
    return Dominating(
        upper=tuple(dict.fromkeys(product for each in found for product in each.upper)),
        lower=tuple(dict.fromkeys(product for each in found for product in each.lower)),
    )


def of_way(way: Way, relation: Neighbouring, participation: Participation) -> Dominating:
    """The product pairs of one way in which neighbours' data enter a run."""
    for part, change in way:
        refuse_absent_shares(part, "add-remove" if change != "stays" else relation)
        if participation == "pooled":
            refuse_known_shares(part)
    steps = [(_changed(part, change, relation, participation), rounds) for (part, change), rounds in way.items()]
    return Dominating(
        upper=_products([(step.upper, rounds) for step, rounds in steps]),
        lower=_products([(step.lower, rounds) for step, rounds in steps if step.lower]),
    )


def _changed(part: Mechanism, change: Change, relation: Neighbouring, participation: Participation) -> _Step:
    """A round that the unit is in under both neighbours, or under the first of them only, or the second."""
    if change == "stays":
        return _step(part, relation, participation)
    step = _step(part, "add-remove", participation)
    return step if change == "leaves" else _Step(_exchanged(step.upper), _exchanged(step.lower))


def _exchanged(pairs: Mapping[str, AnyPair]) -> dict[str, AnyPair]:
    """With the neighbours named the other way round."""
    names = {"remove": "add", "add": "remove"}
    return {names.get(order, order): pair for order, pair in pairs.items()}


def _products(steps: SequenceOf[tuple[Mapping[str, Pair | Composition], int]]) -> tuple[Composition, ...]:
    """One product pair for each order of the neighbours.

    A step without that order contributes the pair of the same neighbours (the order's first word), or its only pair.
    """
    orders = sorted({order for pairs, _ in steps for order in pairs})
    products: dict[Composition, None] = {}
    for order in orders:
        counts: dict[Pair, int] = {}
        for pairs, rounds in steps:
            same = order if order in pairs else order.split()[0]
            found = pairs[same] if same in pairs else next(iter(pairs.values()))
            for pair, times in ((found, 1),) if isinstance(found, Pair) else found:
                counts[pair] = counts.get(pair, 0) + rounds * times
        products[tuple(counts.items())] = None
    return tuple(products)


def _step(part: Mechanism, relation: Neighbouring, participation: Participation) -> _Step:
    _refuse_seen_presence(part, relation, participation)
    if isinstance(part, VisibleParticipation):
        return _step(part.mechanism, relation, "visible")
    if isinstance(part, Poisson | FixedSize):
        if part.sampling_rate == 1.0:
            return _step(part.mechanism, relation, participation)
        if participation == "visible" or (participation == "pooled" and isinstance(part, FixedSize)):
            return _visible(part, relation)
        return _poisson(part, relation) if isinstance(part, Poisson) else _fixed_size(part, relation)
    if isinstance(part, Group) and part.units == 1:
        return _step(part.mechanism, relation, participation)
    if isinstance(part, Group):
        return _grouped(part, relation, participation)
    if isinstance(part, TruncatedPoisson):
        return _truncated(part, relation, participation)
    if isinstance(part, Cyclic):  # a public schedule: in each pass one round with the unit, which one is known
        return _step(part.mechanism, relation, participation)
    if isinstance(part, Shuffled):
        return _shuffled(part, relation)
    if isinstance(part, RandomAllocation):
        return _allocated(part, relation, participation)
    if isinstance(part, LocalRandomiser | ShuffledReports) and relation != "replace-one":
        raise InputError("neighbouring", relation, "replace-one for local randomisers: the unit always reports")
    if isinstance(part, BestOfSeveral):
        return _best_of_several(part, relation, participation)
    if isinstance(part, ShuffledReports) and participation != "hidden":
        return _step(part.report, relation, participation)  # who knows the others' reports, or sees the unit's
    known = stated(part)
    if known is not None:
        return _Step({"both": known.upper}, _named(known.lower))
    if isinstance(part, Skellam | DistributedDiscreteGaussian):
        return _Step({"both": RenyiLines(part.renyi_lines(sensitivity(relation)))}, {})
    if isinstance(part, CorrelatedGaussian):
        return _correlated(part, relation)
    return _tight({"both": by_move(part)(sensitivity(relation))})


def _best_of_several(part: BestOfSeveral, relation: Neighbouring, participation: Participation) -> _Step:
    """Attained: all results are equally good, and the first is kept (docs/theory/selection.md)."""
    single = dominating(part.mechanism, relation, participation)
    pair = SelectionPair(single.upper, part.gamma, part.shape, widened_up(part.mean, 64 * UNIT))
    return _Step({"both": pair}, {f"both {at}": product for at, product in enumerate(single.lower)})


def _grouped(part: Group, relation: Neighbouring, participation: Participation) -> _Step:
    """Several units at once (docs: section "Groups")."""
    if isinstance(part.mechanism, CorrelatedGaussian):
        return _correlated(part.mechanism, relation, part.units)
    if isinstance(part.mechanism, Skellam | DistributedDiscreteGaussian):
        return _Step({"both": RenyiLines(part.mechanism.renyi_lines(part.units * sensitivity(relation)))}, {})
    if participation == "visible" and isinstance(part.mechanism, Poisson):
        raise InputError("participation", participation, "hidden participation, for a group in Poisson rounds")
    pairs, attained = group_pairs(part, relation)
    return _Step(pairs, pairs if attained else {})


def _refuse_seen_presence(part: Mechanism, relation: Neighbouring, participation: Participation) -> None:
    """Whoever sees who takes part sees who is there, also where everybody takes part in every round."""
    if relation == "add-remove" and (participation == "visible" or isinstance(part, VisibleParticipation)):
        raise InputError("neighbouring", relation, _SEEN)


def _allocated(part: RandomAllocation, relation: Neighbouring, participation: Participation) -> _Step:
    """A unit's rounds of a block, drawn uniformly by itself (docs/theory/allocation.md).

    Seen: so many rounds. Hidden, also from the others, whose choices are independent: amplified. With its two bounds
    an AllocationPair is what a constant contribution attains, and with one participation the worst.
    """
    base, times = part.mechanism, part.participations
    if isinstance(base, Sequence):
        raise InputError("mechanism", base, "one release a round, with random allocation")
    if participation == "visible":
        return _visible_allocation(base, times, relation)
    if relation != "replace-one":
        pair = by_move(base)(1)
        remove, add = (AllocationPair(pair, part.rounds, times, order) for order in _ORDERS)
        return _tight({"remove": remove, "add": add})
    if not isinstance(base, Gaussian):
        raise InputError("mechanism", base, "Gaussian noise, with random allocation and a replaced unit")
    apart = AllocationPair(GaussianPair(widened_up(1 / base.noise_multiplier, 4 * UNIT)), part.rounds, times, "remove")
    total = 2 * times / (base.noise_multiplier * math.sqrt(part.rounds))
    return _Step({"both": ReplacedAllocationPair(apart)}, {"both": GaussianPair(widened_down(total, 8 * UNIT))})


def _visible_allocation(base: Mechanism, times: int, relation: Neighbouring) -> _Step:
    if times == 1:
        return _tight({"both": by_move(base)(sensitivity(relation))})
    if not isinstance(base, Gaussian):
        raise InputError("mechanism", base, "Gaussian noise, where several rounds of a block are seen")
    move = widened_up(sensitivity(relation) * math.sqrt(times) / base.noise_multiplier, 4 * UNIT)
    return _tight({"both": GaussianPair(move)})


def _correlated(part: CorrelatedGaussian, relation: Neighbouring, units: int = 1) -> _Step:
    """All rounds together are one Gaussian release, whoever sees the cohorts (docs/theory/correlated_noise.md)."""
    attained, most = part.squared_sensitivity()
    move = units * sensitivity(relation) / part.noise_multiplier
    least = GaussianPair(widened_down(move * math.sqrt(attained), 4 * UNIT))
    return _Step({"both": GaussianPair(widened_up(move * math.sqrt(most), 4 * UNIT))}, {"both": least})


def _named(pairs: tuple[Pair, ...]) -> dict[str, Pair]:
    """The only pair, or several that are alternatives."""
    return {"both": pairs[0]} if len(pairs) == 1 else {f"both {at}": pair for at, pair in enumerate(pairs)}


def _tight(pairs: dict[str, Pair]) -> _Step:
    return _Step(pairs, pairs)


def _sampled(pair: Pair, rate: float, *orders: Order) -> dict[str, Pair]:
    return {order: SubsampledPair(pair, rate, order) for order in orders}


def _poisson(part: Poisson, relation: Neighbouring) -> _Step:
    """Poisson sampling with a hidden coin (docs: section "Poisson sampling")."""
    pair, rate = by_move(part.mechanism), part.sampling_rate
    if relation != "replace-one":
        return _tight(_sampled(pair(1), rate, "remove", "add"))
    if isinstance(pair(1), ProductPair):
        return _Step(_sampled(pair(2), rate, "hybrid"), _sampled(pair(1), rate, "remove", "add"))
    return _tight(_sampled(pair(1), rate, "replace"))


def _truncated(part: TruncatedPoisson, relation: Neighbouring, participation: Participation) -> _Step:
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
        attained = _visible(left, relation) if participation == "visible" else _poisson(left, relation)
        return _Step(_visible(at_most, relation).upper, attained.lower)
    if law.full == 0.0:
        return _poisson(uncut, relation)
    filled = _replacing(by_move(part.mechanism), part.mechanism, law.rate_when_full, relation)
    upper: dict[str, Pair] = {
        order: MixturePair(((law.open, pair), (law.full, filled.get(order, next(iter(filled.values()))))))
        for order, pair in _poisson(uncut, relation).upper.items()
    }
    return _Step(upper, _poisson(left, relation).lower)


def _replacing(pair: Callable[[float], Pair], noise: Mechanism, rate: float, relation: Neighbouring) -> dict[str, Pair]:
    """The pairs that dominate a round in which the unit, if it takes part, does so in another's place."""
    if relation == "add-remove":
        return _sampled(pair(2), rate, "remove", "add")
    if relation == "replace-one" or not isinstance(noise, Gaussian):
        return _sampled(pair(2), rate, "hybrid")
    shift = 1.0 / noise.noise_multiplier
    return {"remove": ZeroedPair(shift, rate, "remove"), "add": ZeroedPair(shift, rate, "add")}


def _fixed_size(part: FixedSize, relation: Neighbouring) -> _Step:
    """A hidden cohort of fixed size (docs: section "Fixed-size sampling").

    One client's absence is filled by another, whose contribution may be opposite: every move is up to 2.
    Valid for clients whose contribution depends on their data and the public transcript only.
    """
    pair, rate = by_move(part.mechanism), part.sampling_rate
    if relation == "add-remove":
        return _tight(_sampled(pair(2), rate, "remove", "add"))
    attained = _sampled(pair(2 if relation == "replace-one" else 1), rate, "remove", "add")
    worst = _replacing(pair, part.mechanism, rate, relation)
    if not isinstance(part.mechanism, Gaussian):
        return _Step(worst, attained)
    if relation == "replace-one":
        return _Step(worst, attained | _sampled(pair(1), rate, "replace"))
    opposed = OpposedPair(1.0 / part.mechanism.noise_multiplier, rate, "remove")
    return _Step(worst, attained | {"remove opposed": opposed})


def _visible(part: Poisson | FixedSize, relation: Neighbouring) -> _Step:
    """The observer sees the unit's participation (docs: section "Visible participation")."""
    if relation == "add-remove":
        raise InputError("neighbouring", relation, _SEEN)
    return _tight(_sampled(by_move(part.mechanism)(sensitivity(relation)), part.sampling_rate, "visible"))


def _shuffled(part: Shuffled, relation: Neighbouring) -> _Step:
    """One epoch of shuffled batches: revealing the order leaves one round per unit and no amplification.

    Attained (docs: section "Shuffled batches"): a block of random allocation, in every epoch, of which .1% is enough.
    accounting/shuffled.py has a lower bound of another kind, for one epoch.
    """
    if relation == "add-remove":
        raise InputError("neighbouring", relation, "zero-out or replace-one with shuffled batches of a fixed size")
    pair = by_move(part.mechanism)
    if isinstance(part.mechanism, Sequence):
        return _Step({"both": pair(sensitivity(relation))}, {})
    stands_out = AllocationPair(pair(sensitivity(relation)), part.batches, 1, "remove", 0.03)
    return _Step({"both": pair(sensitivity(relation))}, {"remove": stands_out})
