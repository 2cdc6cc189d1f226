"""Mechanisms whose parameters are stated, and whose pair is another one in each order of the neighbours."""

from __future__ import annotations

from ...mechanisms import InputError, Mechanism, MixtureOfGaussians, RandomizedResponse, Relation
from ..pairs import Order, StatedMixturePair, UniformReportPair
from .round import Round, tight

_MIXTURE = "add-remove or zero-out: how far a replacement moves the sum is not stated by a mixture of Gaussians"


def of_stated_orders(part: Mechanism, relation: Relation) -> Round | None:
    """The pairs of one round; None for mechanisms of another kind. Raises InputError for relations without a meaning.

    Under zero-out a unit that is left out of randomized response reports a uniformly random category (REPLACE_SPECIAL
    of dp_accounting).
    """
    if isinstance(part, MixtureOfGaussians):
        return _mixture(part, relation)
    if isinstance(part, RandomizedResponse) and relation == Relation.ZERO_OUT:
        return tight({order: UniformReportPair(part.flip_probability, part.categories, order) for order in Order})
    return None


def _mixture(part: MixtureOfGaussians, relation: Relation) -> Round:
    """As stated, in standard deviations of the noise (docs/theory/dominating_pairs.md, "Groups")."""
    if relation == Relation.REPLACE_ONE:
        raise InputError("neighbouring", relation, _MIXTURE)
    kept = sorted((move, share) for move, share in zip(part.sensitivities, part.probabilities, strict=True) if share)
    steps = [(move / part.standard_deviation, share) for move, share in kept if move]
    moves, shares = zip(*steps, strict=True)
    still = sum(share for move, share in kept if not move)
    return tight({order: StatedMixturePair(moves, shares, still, order) for order in Order})
