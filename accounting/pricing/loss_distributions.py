"""The pairs of a stated distribution of the privacy loss (mechanisms/loss_distribution.py), in each order.

A law that bounds from above is that of a pair that dominates (Zhu, Dong, Wang 2022, arXiv 2106.08567, Definition 7);
pairs that dominate compose (the same, Theorem 10), and the pair with its two sides exchanged dominates the neighbours
exchanged (Lemma 20 there: the profile of one order is a function of the other's). A law from below is one of outputs:
losses that are rounded down, or masses that are left out, make delta smaller, alone and in a sum of losses.
docs/theory/dominating_pairs.md, "Stated losses".
"""

from __future__ import annotations

import math

from ...mechanisms import InputError, Relation
from ...mechanisms.loss_distribution import Law, LossDistribution
from ..pairs import LossesPair, Order
from ..pairs.losses import lighter
from ..rounding import UNIT, up
from .round import ByOrder, Choice, Example, Round

_ROUNDED = 2.0**-40
"""What masses may lack of 1 by rounding alone; LossesPair allows for it."""

_ONE_LAW = "losses_added left out, or the same as losses: of a replaced unit both data sets have one"


def of_losses(mechanism: LossDistribution, relation: Relation) -> Round:
    """The pairs of one round. Raises InputError for two laws of a replaced unit."""
    given: dict[Order, Law | None] = {Order.REMOVE: mechanism.optimistic, Order.ADD: mechanism.optimistic_added}
    lower: dict[Order, dict[Choice, LossesPair]] = {
        order: {Example.PLAIN: _below(law)} for order, law in given.items() if law is not None
    }
    return Round.of(dominating_losses(mechanism, relation), lower)


def dominating_losses(mechanism: LossDistribution, relation: Relation) -> ByOrder:
    """What bounds it from above, in each order."""
    removed, added = _above(mechanism.losses), mechanism.losses_added
    if relation != Relation.REPLACE_ONE:
        return {Order.REMOVE: removed, Order.ADD: removed.mirrored() if added is None else _above(added)}
    if added is not None and added != mechanism.losses:
        raise InputError("losses_added", f"{len(added)} losses", _ONE_LAW)
    return dict.fromkeys(Order, removed)


def _above(law: Law) -> LossesPair:
    """What lacks of 1 is at infinity, under P and under Q, unless it is lost by rounding. Where Q has too much there is
    no such pair: larger losses are one's, and dominate."""
    finite = [(loss, mass) for loss, mass in law if loss < math.inf]
    stated = math.fsum(mass for loss, mass in law if loss == math.inf)
    lacking = 1.0 - math.fsum(mass for _, mass in law)
    only_q = 1.0 - math.fsum(mass * math.exp(-loss) for loss, mass in finite) + 16 * UNIT
    if only_q < -_ROUNDED:
        raised = up(math.log1p(-only_q), 8)
        finite, only_q = [(up(loss + raised), mass) for loss, mass in finite], 0.0
    return LossesPair(
        tuple(loss for loss, _ in finite),
        tuple(mass for _, mass in finite),
        up(stated + lacking, 2) if lacking > _ROUNDED else stated,
        up(only_q, 2) if only_q > _ROUNDED else 0.0,
    )


def _below(law: Law) -> LossesPair:
    """Losses rounded down may have more than 1 under Q, and are no pair's: as many times less mass is one's, or more
    than one's."""
    finite = [(loss, mass) for loss, mass in law if -700.0 < loss < math.inf]
    pair = LossesPair(
        tuple(loss for loss, _ in finite),
        tuple(mass for _, mass in finite),
        math.fsum(mass for loss, mass in law if loss == math.inf),
    )
    most = max(math.fsum(mass for _, mass in law), math.fsum(mass * math.exp(-loss) for loss, mass in finite), 1.0)
    return lighter(pair, 1.0 / up(most, 8)) if most > 1.0 + _ROUNDED else pair
