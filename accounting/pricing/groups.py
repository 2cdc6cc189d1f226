"""The pairs of one round in which a group of units changes at once (docs/theory/dominating_pairs.md, "Groups")."""

from __future__ import annotations

from ...mechanisms import Gaussian, Group, Poisson
from ...mechanisms.neighbours import Relation, sensitivity
from ...mechanisms.validate import InputError
from ..pairs import MixedGaussianPair, Order
from ..pairs.mixed_gaussian import MOST_UNITS
from .additive import additive
from .public_ranges import PublicRange, over_more
from .round import ByOrder, either
from .stated_parameters import for_group, stated_pairs

_KNOWN = (
    "unsampled additive noise, local reports, a stated bound, or Poisson rounds of Gaussian noise: no other round is "
    "priced for a group"
)


def group_pairs(part: Group, relation: Relation) -> tuple[ByOrder, bool]:
    """The pairs that dominate, by the order of the neighbours, and whether they are attained.

    Raises InputError for rounds whose price for a group is not known.
    """
    base, n = part.mechanism, part.units
    if isinstance(base, Poisson) and base.sampling_rate < 1.0:
        return _poisson(base, n, relation), True
    if isinstance(base, Poisson):
        return group_pairs(Group(base.mechanism, n), relation)
    same = over_more(base, n) if isinstance(base, PublicRange) else for_group(base, n)
    if same is not None:
        known = stated_pairs(same)
        assert known is not None
        return either(known.upper), False
    try:
        return either(additive(base, n * sensitivity(relation))), True
    except InputError:
        raise InputError("mechanism", base, _KNOWN) from None


def _poisson(part: Poisson, n: int, relation: Relation) -> ByOrder:
    """Each of the n units by its own coin: all contributions in one direction are worst (Choquette-Choo, Ganesh,
    Steinke, Thakurta 2023, arXiv 2310.15526, Section 4, "mixture of Gaussians mechanisms")."""
    if relation == Relation.REPLACE_ONE or not isinstance(part.mechanism, Gaussian):
        expected = "add-remove or zero-out, and one release of Gaussian noise a round, for a group in Poisson rounds"
        raise InputError("neighbouring", relation, expected)
    if n > MOST_UNITS:
        raise InputError("units", n, f"at most {MOST_UNITS} units of a group in Poisson rounds")
    shift = 1.0 / part.mechanism.noise_multiplier
    return {order: MixedGaussianPair(shift, part.sampling_rate, n, order) for order in Order}
