"""Samples of what is only known by a stated bound, or by a pair that does not depend on a move (stated_parameters.py).

Proof: docs/theory/dominating_pairs.md, "Sampling of a stated bound". Nothing is said from below.
"""

from __future__ import annotations

from ...mechanisms import FixedSize, LossDistribution, Mechanism, Poisson, rounds_by_step
from ...mechanisms.composition import has_step
from ...mechanisms.neighbours import Relation, sensitivity
from ...mechanisms.validate import InputError
from ..pairs import Order, Pair, Sampling, SubsampledPair, product_of
from ..rounding import UNIT, up
from .additive import additive
from .local_randomisers import LocalRandomiser
from .loss_distributions import dominating_losses
from .round import ByOrder, Round, bounded
from .stated_parameters import for_group, stated_pairs

_REPORTS = "replace-one for local randomisers: the unit always reports"
_NO_GROUP = "replace-one, where a unit takes another's place: what two steps cost is not known of this mechanism"


def of_sampled_bound(part: Poisson | FixedSize, relation: Relation, seen: bool) -> Round:
    """The pairs of a sampled round, for an observer who sees who takes part, or does not.

    Raises InputError for combinations without a meaning or a bound.
    """
    if has_step(part.mechanism, LocalRandomiser) and relation != Relation.REPLACE_ONE:
        raise InputError("neighbouring", relation, _REPORTS)
    rate = part.sampling_rate
    if isinstance(part, Poisson) and relation == Relation.ADD_REMOVE:
        return Round.of(drawn(part.mechanism, relation, 1, rate), {})
    if isinstance(part, Poisson) or seen:
        return Round.of({order: _seen(_base(part.mechanism, relation, 1, order), rate) for order in Order}, {})
    if relation == Relation.ADD_REMOVE:
        return Round.of(drawn(part.mechanism, relation, 2, rate), {})
    units = 1 if relation == Relation.REPLACE_ONE else 2
    return bounded(SubsampledPair(_base(part.mechanism, relation, units, Order.REMOVE), rate, Sampling.HYBRID))


def drawn(mechanism: Mechanism, relation: Relation, units: int, rate: float) -> ByOrder:
    """With a hidden coin; a SubsampledPair's base names the neighbour with the unit first, in either order."""
    removed, added = (_base(mechanism, relation, units, order) for order in (Order.REMOVE, Order.ADD))
    return {
        Order.REMOVE: SubsampledPair(removed, rate, Sampling.REMOVE),
        Order.ADD: SubsampledPair(added.mirrored(), rate, Sampling.ADD),
    }


def _seen(base: Pair, rate: float) -> Pair:
    """With the coin shown; two coins that are shown are one."""
    if isinstance(base, SubsampledPair) and base.order == Sampling.VISIBLE:
        return SubsampledPair(base.base, min(up(base.rate * rate), 1 - UNIT), Sampling.VISIBLE)
    return SubsampledPair(base, rate, Sampling.VISIBLE)


def _base(mechanism: Mechanism, relation: Relation, units: int, order: Order) -> Pair:
    """The pair of what is released about the sample, for so many steps from one neighbour to the next."""
    parts = [(_one(step, relation, units, order), rounds) for step, rounds in rounds_by_step(mechanism).items()]
    return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else product_of(tuple(parts))


def _one(step: Mechanism, relation: Relation, units: int, order: Order) -> Pair:
    if isinstance(step, LossDistribution) and units == 1:
        return dominating_losses(step, relation)[order]
    if isinstance(step, LossDistribution):
        raise InputError("neighbouring", relation, _NO_GROUP)
    if stated_pairs(step) is None:
        return additive(step, units * sensitivity(relation))
    several = step if units == 1 else for_group(step, units)
    known = None if several is None else stated_pairs(several)
    if known is None:
        raise InputError("neighbouring", relation, _NO_GROUP)
    return known.upper
