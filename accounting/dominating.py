"""From what ran to the pairs of distributions that bound, or attain, what it reveals.

For each neighbouring relation: which product pairs dominate every pair of neighbouring federations (the
true profile is at most the largest of theirs: `upper`), and which are attained by some pair of federations
(the true profile is at least each of theirs: `lower`). Where both agree the accounting is tight.
Proofs: docs/theory/dominating_pairs.md; the section is named at each line.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import TypeVar

from ..mechanisms import (
    BestOfSeveral,
    CorrelatedGaussian,
    Cyclic,
    DistributedDiscreteGaussian,
    FixedSize,
    Group,
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    RandomAllocation,
    Run,
    Shuffled,
    ShuffledReports,
    Skellam,
    StableHistogram,
    TruncatedPoisson,
    VisibleParticipation,
    as_run,
    neighbouring_relation,
    sensitivity,
)
from ..mechanisms.client_noise import refuse_absent_shares, refuse_known_shares
from .additive import by_move
from .groups import group_pairs
from .local_randomisers import LocalRandomiser
from .pairs import Composition, Pair, PoissonSelectionPair, RenyiLines, SelectionPair
from .rounding import UNIT, widened_up
from .schemes import (
    Participation,
    Round,
    allocated,
    as_one_sample,
    correlated,
    fixed_size,
    poisson,
    refuse_seen_presence,
    shuffled,
    tight,
    truncated,
    visible,
)
from .shuffle_model import of_shuffled_reports
from .stable_histogram import pairs_of_new_group
from .stated import stated
from .ways import Change, Way, ways

AnyPair = TypeVar("AnyPair", bound=Pair | Composition)

_COUNTED_RUNS = "hidden, with BestOfSeveral: who knows when units take part counts the runs, and their number is secret"


@dataclass(frozen=True, slots=True)
class Dominating:
    """truth <= max over `upper`; truth >= max over `lower` (empty: no attained pair is known).

    The products of `lower` are those of the steps that have an attained pair: leaving out the outputs of the others is
    post-processing, whatever they are, and keeping all steps that have one reveals no less than keeping some.
    """

    upper: tuple[Composition, ...]
    lower: tuple[Composition, ...]


def dominating(run: Run, neighbouring: Neighbouring, participation: Participation = "hidden") -> Dominating:
    """The product pairs of a run.

    >>> from dpcert.mechanisms import Gaussian, Repeat
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


def _changed(part: Mechanism, change: Change, relation: Neighbouring, participation: Participation) -> Round:
    """A round that the unit is in under both neighbours, or under the first of them only, or the second."""
    if change == "stays":
        return _round(part, relation, participation)
    step = _round(part, "add-remove", participation)
    return step if change == "leaves" else Round(_exchanged(step.upper), _exchanged(step.lower))


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
            names = (order, order.split()[0], "both", "remove")  # in one direction, whichever the others' names are
            found = next((pairs[name] for name in names if name in pairs), None) or next(iter(pairs.values()))
            for pair, times in ((found, 1),) if isinstance(found, Pair) else found:
                counts[pair] = counts.get(pair, 0) + rounds * times
        products[tuple(counts.items())] = None
    return tuple(products)


def _round(part: Mechanism, relation: Neighbouring, participation: Participation) -> Round:
    refuse_seen_presence(part, relation, participation)
    if isinstance(part, VisibleParticipation):
        return _round(part.mechanism, relation, "visible")
    if isinstance(part, Poisson | FixedSize):
        part = as_one_sample(part)
        if part.sampling_rate == 1.0:
            return _round(part.mechanism, relation, participation)
        if participation == "visible" or (participation == "pooled" and isinstance(part, FixedSize)):
            return visible(part, relation)
        return poisson(part, relation) if isinstance(part, Poisson) else fixed_size(part, relation)
    if isinstance(part, Group) and part.units == 1:
        return _round(part.mechanism, relation, participation)
    if isinstance(part, Group):
        return _grouped(part, relation, participation)
    if isinstance(part, TruncatedPoisson):
        return truncated(part, relation, participation)
    if isinstance(part, Cyclic):  # a public schedule: in each pass one round with the unit, which one is known
        return _round(part.mechanism, relation, participation)
    if isinstance(part, Shuffled):
        return shuffled(part, relation)
    if isinstance(part, RandomAllocation):
        return allocated(part, relation, participation)
    if isinstance(part, LocalRandomiser | ShuffledReports) and relation != "replace-one":
        raise InputError("neighbouring", relation, "replace-one for local randomisers: the unit always reports")
    if isinstance(part, StableHistogram):  # of its groups, one that the unit alone is in: the others are in `ways`
        return Round({**pairs_of_new_group(part, 1)}, pairs_of_new_group(part, -1))
    if isinstance(part, BestOfSeveral):
        return _best_of_several(part, relation, participation)
    known = of_shuffled_reports(part) if isinstance(part, ShuffledReports) else stated(part)
    if isinstance(part, ShuffledReports) and participation == "pooled":
        return _round(part.report, relation, participation)  # the others know their reports
    if known is not None:
        return Round({"both": known.upper}, _named(known.lower))
    if isinstance(part, Skellam | DistributedDiscreteGaussian):
        return Round({"both": RenyiLines(part.renyi_lines(sensitivity(relation)))}, {})
    if isinstance(part, CorrelatedGaussian):
        return correlated(part, relation)
    return tight({"both": by_move(part)(sensitivity(relation))})


def _best_of_several(part: BestOfSeveral, relation: Neighbouring, participation: Participation) -> Round:
    """Attained: all results are equally good, and the first is kept (docs/theory/selection.md); of a Poisson
    distributed number of runs there may be none (answer.py has what that shows)."""
    if participation != "hidden":
        raise InputError("participation", participation, _COUNTED_RUNS)
    single = dominating(part.mechanism, relation, participation)
    mean = widened_up(part.mean, 64 * UNIT)
    if part.gamma is None:
        return Round({"both": PoissonSelectionPair(single.upper, mean)}, {})
    pair = SelectionPair(single.upper, part.gamma, part.shape, mean)
    return Round({"both": pair}, {f"both {at}": product for at, product in enumerate(single.lower)})


def _grouped(part: Group, relation: Neighbouring, participation: Participation) -> Round:
    """Several units at once (docs: section "Groups")."""
    if isinstance(part.mechanism, CorrelatedGaussian):
        return correlated(part.mechanism, relation, part.units)
    if isinstance(part.mechanism, Skellam | DistributedDiscreteGaussian):
        return Round({"both": RenyiLines(part.mechanism.renyi_lines(part.units * sensitivity(relation)))}, {})
    if participation == "visible" and isinstance(part.mechanism, Poisson):
        raise InputError("participation", participation, "hidden participation, for a group in Poisson rounds")
    pairs, attained = group_pairs(part, relation)
    return Round(pairs, pairs if attained else {})


def _named(pairs: tuple[Pair, ...]) -> dict[str, Pair]:
    """The only pair, or several that are alternatives."""
    return {"both": pairs[0]} if len(pairs) == 1 else {f"both {at}": pair for at, pair in enumerate(pairs)}
