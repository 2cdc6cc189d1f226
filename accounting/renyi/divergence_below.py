"""Renyi divergences of attained pairs from below, in ball arithmetic: what refutes a claimed one.

D_alpha(P||Q) = log(E_Q[(dP/dQ)^alpha]) / (alpha - 1). Closed forms as in base.py; sampled Gaussian pairs:
sampled_gaussian.py. Moments of opposed pairs are integrated by Arb's rigorous quadrature over a bounded range, which
only makes them smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from flint import acb, arb, ctx

from ..pairs import (
    ApproximateDpPair,
    Composition,
    GaussianPair,
    LossesPair,
    OpposedPair,
    Order,
    Pair,
    Sampling,
    SubsampledPair,
)
from ..pairs.parameters import dominated_parameters
from ..rounding import down, float_below
from .sampled_gaussian import log_moments

_BITS = 96
_BY_QUADRATURE = (Sampling.REMOVE, Sampling.ADD, Sampling.REPLACE)
_RANGE = 12.0
"""Standard deviations on either side of the integrand's mass that are kept."""


def divergence_below(composition: Composition, alpha: float) -> float:
    """At most D_alpha of the product pair; rounds of which nothing is known from below count as 0.

    It holds for all parameters within rounding.PARAMETER of the given doubles.
    """
    total = 0.0
    for pair, rounds in composition:
        each = _below(pair, alpha)
        if each == math.inf:
            return math.inf
        total = down(total + down(rounds * each))
    return max(0.0, total)


@lru_cache(maxsize=4096)
def _below(pair: Pair, alpha: float) -> float:
    moved = dominated_parameters(pair)
    if isinstance(pair, ApproximateDpPair) and pair.delta > 0:
        return math.inf
    by_coin = isinstance(pair, SubsampledPair) and pair.order in (Sampling.REMOVE, Sampling.VISIBLE)
    shown = pair.base if by_coin else pair  # type: ignore[attr-defined] # a SubsampledPair has one
    if isinstance(shown, LossesPair) and shown.infinite > 0:
        return math.inf
    if isinstance(moved, SubsampledPair) and isinstance(moved.base, GaussianPair) and moved.order in _BY_QUADRATURE:
        return down(log_moments(moved.base.shift, moved.rate, moved.order, alpha)[0] / (alpha - 1), 2)
    with ctx.workprec(_BITS):
        moment = _moment(moved, arb(alpha))
        if moment is None or not moment > 0:
            return 0.0
        value = float_below(moment.log() / (arb(alpha) - 1))
    return max(0.0, value) if value == value else 0.0  # an indeterminate ball says nothing


def _moment(pair: Pair, alpha: arb) -> arb | None:
    """E_Q[(dP/dQ)^alpha], or at most that; None where nothing is known."""
    if isinstance(pair, OpposedPair):
        return _opposed(pair, alpha)
    return _sampled(pair, alpha) if isinstance(pair, SubsampledPair) else pair.moment(alpha)


def _sampled(pair: SubsampledPair, alpha: arb) -> arb | None:
    base, q = pair.base, arb(pair.rate)
    if pair.order == Sampling.VISIBLE:
        unsampled = _moment(base, alpha)
        return None if unsampled is None else 1 - q + q * unsampled
    if pair.order in (Sampling.REMOVE, Sampling.ADD):  # the add order is the power 1 - alpha (docs/theory/rdp.md)
        return base.sampled_moment(q, alpha if pair.order == Sampling.REMOVE else 1 - alpha)
    return None


def _opposed(pair: OpposedPair, alpha: arb) -> arb:
    """(1 - r) N(-s) + r N(s) against (1 - r) N(-s) + r N(0), both relative to N(-s)."""
    s, q = arb(pair.shift), arb(pair.rate)
    powers = (alpha, 1 - alpha) if pair.order == Order.REMOVE else (1 - alpha, alpha)

    def integrand(y: acb, analytic: bool) -> acb:
        far = (1 - q + q * (2 * s * y - 2 * s * s).exp()).log(analytic=analytic)
        near = (1 - q + q * (s * y - s * s / 2).exp()).log(analytic=analytic)
        return (powers[0] * far + powers[1] * near - y * y / 2).exp()

    farthest = 2 * alpha * s if pair.order == Order.REMOVE else s
    return _integrated(integrand, arb(-_RANGE), farthest + _RANGE) / (2 * arb.pi()).sqrt()


def _integrated(integrand: Callable[[acb, bool], acb], left: arb, right: arb) -> arb:
    """The integral over the range, in pieces whose integrands are alike in size."""
    pieces = max(1, min(64, math.ceil(float((right - left).mid()) / 12)))
    total = arb(0)
    for k in range(pieces):
        start, end = (acb(left + (right - left) * arb(i) / pieces) for i in (k, k + 1))
        total += acb.integral(integrand, start, end, rel_tol=arb(2) ** -50, eval_limit=20_000).real
    return total
