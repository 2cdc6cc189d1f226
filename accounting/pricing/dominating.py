"""From what ran to the pairs of distributions that bound, or attain, what it reveals.

For each neighbouring relation: which product pairs dominate every pair of neighbouring federations (the
true profile is at most the largest of theirs: `upper`), and which are attained by some pair of federations
(the true profile is at least each of theirs: `lower`). Where both agree the accounting is tight.
Proofs: docs/theory/dominating_pairs.md; the section is named at each line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...mechanisms import (
    BestOfSeveral,
    CorrelatedGaussian,
    Cyclic,
    DistributedDiscreteGaussian,
    FixedSize,
    Group,
    LossDistribution,
    Mechanism,
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
)
from ...mechanisms.client_noise import refuse_absent_shares, refuse_known_shares
from ...mechanisms.neighbours import (
    Neighbouring,
    Participation,
    Relation,
    Visibility,
    neighbouring_relation,
    sensitivity,
)
from ...mechanisms.validate import InputError
from ..pairs import Composition, Order, Pair, PoissonSelectionPair, RenyiLines, SelectionPair
from ..rounding import UNIT, End, widened_up
from .additive import additive
from .change import Change, NeighbourCase
from .cut_cohorts import truncated
from .groups import group_pairs
from .local_randomisers import LocalRandomiser
from .loss_distributions import of_losses
from .neighbour_cases import neighbour_cases
from .round import Alternatives, Choice, Round, bounded, bounds_together, either, listed, once, plain, tight
from .sampled_bounds import of_sampled_bound
from .schemes import allocated, as_one_sample, correlated, fixed_size, poisson, refuse_seen_presence, shuffled, visible
from .shuffle_model import of_shuffled_reports
from .stable_histogram import pairs_of_new_group
from .stated_orders import of_stated_orders
from .stated_parameters import is_stated, stated_pairs

_COUNTED_RUNS = "hidden, with BestOfSeveral: who knows when units take part counts the runs, and their number is secret"


@dataclass(frozen=True, slots=True)
class Dominating:
    """truth <= max over `upper`; truth >= max over `lower` (empty: no attained pair is known).

    The products of `lower` are those of the steps that have an attained pair: leaving out the outputs of the others is
    post-processing, whatever they are, and keeping all steps that have one reveals no less than keeping some.
    amplified: truth <= max over each of these, too (round.py).
    """

    upper: tuple[Composition, ...]
    lower: tuple[Composition, ...]
    amplified: tuple[tuple[Composition, ...], ...] = ()


def dominating(run: Run, neighbouring: Neighbouring, participation: Visibility = Participation.HIDDEN) -> Dominating:
    """The product pairs of a run.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> dominating(Repeat(Gaussian(2.0), rounds=3), "replace-one").upper
    (((GaussianPair(shift=1.0), 3),),)

    Raises InputError for combinations that have no meaning or no known bound.
    """
    relation, seen = neighbouring_relation(neighbouring), Participation.named("participation", participation)
    found = [_ordered(case, relation, seen) for case in neighbour_cases(as_run(run), relation)]
    upper, *amplified = (
        _distinct(product for each in bounds for product in each.values()) for bounds in bounds_together(found)
    )
    attained = _distinct(product for each in found for known in each.lower.values() for product in known.values())
    return Dominating(upper, attained, tuple(amplified))


def of_case(case: NeighbourCase, relation: Relation, participation: Participation) -> Dominating:
    """The product pairs of one way in which neighbours' data enter a run."""
    found = _ordered(case, relation, participation)
    attained = _distinct(product for known in found.lower.values() for product in known.values())
    return Dominating(_distinct(found.upper.values()), attained)


def _distinct(products: Iterable[Composition]) -> tuple[Composition, ...]:
    return tuple(dict.fromkeys(products))


def _ordered(case: NeighbourCase, relation: Relation, participation: Participation) -> Round:
    """The products of one way, in each order of the neighbours, as of one round."""
    for part, change in case:
        refuse_absent_shares(part, Relation.ADD_REMOVE if change != Change.STAYS else relation)
        if participation == Participation.POOLED:
            refuse_known_shares(part)
    steps = [(_changed(part, change, relation, participation), rounds) for (part, change), rounds in case.items()]
    lower = {order: _combined([(step.lower[order], n) for step, n in steps if order in step.lower]) for order in Order}
    upper, *amplified = (
        {
            order: _product((bound[order], rounds) for bound, (_, rounds) in zip(bounds, steps, strict=True))
            for order in Order
        }
        for bounds in bounds_together([step for step, _ in steps])
    )
    return Round(upper, {order: known for order, known in lower.items() if known}, tuple(amplified))


def _changed(part: Mechanism, change: Change, relation: Relation, participation: Participation) -> Round:
    """A round that the unit is in under both neighbours, or under the first of them only, or the second."""
    if change == Change.STAYS:
        return _round(part, relation, participation)
    step = _round(part, Relation.ADD_REMOVE, participation)
    return step if change == Change.LEAVES else step.exchanged()


def _combined(steps: list[tuple[Alternatives, int]]) -> Alternatives:
    """One product for each example, of neighbours in one order: of a step that has it not, the first that it has."""
    examples = dict.fromkeys(which for known, _ in steps for which in known)
    return {
        which: _product((known[which] if which in known else next(iter(known.values())), n) for known, n in steps)
        for which in examples
    }


def _product(steps: Iterable[tuple[Composition, int]]) -> Composition:
    (only, times_of_it), *others = steps
    if not others:
        return tuple((pair, times_of_it * times) for pair, times in only)
    counts: dict[Pair, int] = {}
    for found, rounds in ((only, times_of_it), *others):
        for pair, times in found:
            counts[pair] = counts.get(pair, 0) + rounds * times
    return tuple(counts.items())


def _round(part: Mechanism, relation: Relation, participation: Participation) -> Round:
    refuse_seen_presence(part, relation, participation)
    if isinstance(part, VisibleParticipation):
        return _round(part.mechanism, relation, Participation.VISIBLE)
    if isinstance(part, Poisson | FixedSize):
        part = as_one_sample(part)
        if part.sampling_rate == 1.0:
            return _round(part.mechanism, relation, participation)
        seen = participation == Participation.VISIBLE or (
            participation == Participation.POOLED and isinstance(part, FixedSize)
        )
        if seen:
            refuse_seen_presence(part, relation, Participation.VISIBLE)
        if is_stated(part.mechanism):
            return of_sampled_bound(part, relation, seen)
        if seen:
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
        return shuffled(part, relation, participation)
    if isinstance(part, RandomAllocation):
        return allocated(part, relation, participation)
    of_orders = of_stated_orders(part, relation)
    if of_orders is not None:
        return of_orders
    if isinstance(part, LocalRandomiser | ShuffledReports) and relation != Relation.REPLACE_ONE:
        raise InputError("neighbouring", relation, "replace-one for local randomisers: the unit always reports")
    if isinstance(part, LossDistribution):
        return of_losses(part, relation)
    if isinstance(part, StableHistogram):  # a group that the unit alone is in: others are cases of their own
        return Round.of(pairs_of_new_group(part, End.UPPER), plain(pairs_of_new_group(part, End.LOWER)))
    if isinstance(part, BestOfSeveral):
        return _best_of_several(part, relation, participation)
    known = of_shuffled_reports(part) if isinstance(part, ShuffledReports) else stated_pairs(part)
    if isinstance(part, ShuffledReports) and participation == Participation.POOLED:
        return _round(part.report, relation, participation)  # the others know their reports
    if known is not None:
        return Round.of(either(known.upper), listed(known.lower))
    if isinstance(part, Skellam | DistributedDiscreteGaussian):
        return bounded(RenyiLines(part.renyi_lines(sensitivity(relation))))
    if isinstance(part, CorrelatedGaussian):
        return correlated(part, relation)
    return tight(either(additive(part, sensitivity(relation))))


def _best_of_several(part: BestOfSeveral, relation: Relation, participation: Participation) -> Round:
    """Attained: all results are equally good, and the first is kept (docs/theory/selection.md); of a Poisson
    distributed number of runs there may be none (answer.py has what that shows)."""
    if participation != Participation.HIDDEN:
        raise InputError("participation", participation, _COUNTED_RUNS)
    single = [_ordered(case, relation, participation) for case in neighbour_cases(part.mechanism, relation)]
    upper = _distinct(product for each in single for product in each.upper.values())
    mean = widened_up(part.mean, 64 * UNIT)
    if part.gamma is None:
        return bounded(PoissonSelectionPair(upper, mean))
    pair = SelectionPair(upper, part.gamma, part.shape, mean)
    lower: dict[Order, dict[Choice, Composition]] = {}
    for at, each in enumerate(single):
        for order, known in each.lower.items():
            lower.setdefault(order, {}).update(known if len(single) == 1 else {at: next(iter(known.values()))})
    return Round({order: once(pair) for order in Order}, lower)


def _grouped(part: Group, relation: Relation, participation: Participation) -> Round:
    """Several units at once (docs: section "Groups")."""
    if isinstance(part.mechanism, CorrelatedGaussian):
        return correlated(part.mechanism, relation, part.units)
    if isinstance(part.mechanism, Skellam | DistributedDiscreteGaussian):
        return bounded(RenyiLines(part.mechanism.renyi_lines(part.units * sensitivity(relation))))
    if participation == Participation.VISIBLE and isinstance(part.mechanism, Poisson):
        raise InputError("participation", participation, "hidden participation, for a group in Poisson rounds")
    pairs, attained = group_pairs(part, relation)
    return tight(pairs) if attained else Round.of(pairs, {})
