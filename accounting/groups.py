"""The pairs of one round in which a group of units changes at once (docs/theory/dominating_pairs.md, "Groups")."""

from __future__ import annotations

import math

from ..mechanisms import (
    ApproximateDp,
    Gaussian,
    Group,
    InputError,
    Neighbouring,
    Poisson,
    PureDp,
    Zcdp,
    sensitivity,
)
from .additive import by_move
from .pairs import ApproximateDpPair, MixedGaussianPair, Pair, ZcdpBound
from .rounding import up

_KNOWN = (
    "unsampled additive noise, local reports, a stated bound, or Poisson rounds of Gaussian noise: no other round is "
    "priced for a group"
)


def group_pairs(part: Group, relation: Neighbouring) -> tuple[dict[str, Pair], bool]:
    """The pairs that dominate, by the order of the neighbours, and whether they are attained.

    Raises InputError for rounds whose price for a group is not known.
    """
    base, n = part.mechanism, part.units
    if isinstance(base, Poisson) and base.sampling_rate < 1.0:
        return _poisson(base, n, relation), True
    if isinstance(base, Poisson):
        return group_pairs(Group(base.mechanism, n), relation)
    bound = _stated(base, n)
    if bound is not None:
        return {"both": bound}, False
    try:
        return {"both": by_move(base)(n * sensitivity(relation))}, True
    except InputError:
        raise InputError("mechanism", base, _KNOWN) from None


def _stated(base: object, n: int) -> Pair | None:
    """What a bound on one unit is for n of them, one after the other.

    Pure DP: n epsilon (Dwork, Roth 2014, Theorem 2.2). (epsilon, delta): n epsilon, and delta (1 + e^eps + ... +
    e^((n-1) eps)) (Vadhan 2017, "The complexity of differential privacy", Lemma 2.2). zCDP: n^2 rho (Bun, Steinke 2016,
    arXiv 1605.02065, Proposition 1.9).
    """
    if isinstance(base, PureDp):
        return ApproximateDpPair(n * base.epsilon, 0.0)
    if isinstance(base, Zcdp):
        return ZcdpBound(up(n * n * base.rho, 2))
    if not isinstance(base, ApproximateDp):
        return None
    failure = base.delta
    for _ in range(n - 1):  # delta (1 + e^eps (1 + e^eps (...)))
        failure = up(base.delta + up(math.exp(min(base.epsilon, 700.0)) * failure, 8), 1)
        if failure >= 1.0:
            raise InputError("units", n, f"a smaller group: ({base.epsilon}, {base.delta})-DP says nothing of this one")
    return ApproximateDpPair(n * base.epsilon, failure)


def _poisson(part: Poisson, n: int, relation: Neighbouring) -> dict[str, Pair]:
    """Each of the n units by its own coin: all contributions in one direction are worst (Choquette-Choo, Ganesh,
    Steinke, Thakurta 2023, arXiv 2310.15526, Section 4, "mixture of Gaussians mechanisms")."""
    if relation == "replace-one" or not isinstance(part.mechanism, Gaussian):
        expected = "add-remove or zero-out, and Gaussian noise, for a group in Poisson rounds"
        raise InputError("neighbouring", relation, expected)
    shift = 1.0 / part.mechanism.noise_multiplier
    return {order: MixedGaussianPair(shift, part.sampling_rate, n, order) for order in ("remove", "add")}
