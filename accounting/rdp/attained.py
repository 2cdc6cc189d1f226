"""Renyi divergences of attained pairs from below, in ball arithmetic: what refutes a claimed one.

D_alpha(P||Q) = log(E_Q[(dP/dQ)^alpha]) / (alpha - 1). Closed forms as in base.py; moments of a sampled Gaussian or
Laplace pair are integrated by Arb's rigorous quadrature over a bounded range, which only makes them smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from flint import acb, arb, ctx

from ..pairs import (
    ApproximateDpPair,
    Composition,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    OpposedPair,
    Pair,
    RandomizedResponsePair,
    SubsampledPair,
)
from ..parameters import dominated_parameters
from ..rounding import down, float_below

_BITS = 96
_RANGE = 12.0
"""Standard deviations on either side of the integrand's mass that are kept."""


def divergence_below(composition: Composition, alpha: float) -> float:
    """At most D_alpha of the product pair; rounds of which nothing is known from below count as 0.

    It holds for all parameters within rounding.PARAMETER of the given doubles.
    """
    total = 0.0
    for pair, rounds in composition:
        total = down(total + down(rounds * _below(pair, alpha)))
    return max(0.0, total)


@lru_cache(maxsize=4096)
def _below(pair: Pair, alpha: float) -> float:
    moved = dominated_parameters(pair)
    if isinstance(pair, ApproximateDpPair) and pair.delta > 0:
        return math.inf
    with ctx.workprec(_BITS):
        moment = _moment(moved, arb(alpha))
        if moment is None or not moment > 0:
            return 0.0
        value = float_below(moment.log() / (arb(alpha) - 1))
    return max(0.0, value) if value == value else 0.0  # an indeterminate ball says nothing


def _moment(pair: Pair, alpha: arb) -> arb | None:
    """E_Q[(dP/dQ)^alpha], or at most that; None where nothing is known."""
    if isinstance(pair, GaussianPair):
        return (alpha * (alpha - 1) * arb(pair.shift) ** 2 / 2).exp()
    if isinstance(pair, LaplacePair):
        s = arb(pair.shift)
        return (alpha * ((alpha - 1) * s).exp() + (alpha - 1) * (-alpha * s).exp()) / (2 * alpha - 1)
    if isinstance(pair, DiscreteLaplacePair):
        return _discrete_laplace(pair, alpha)
    if isinstance(pair, DiscreteGaussianPair):
        return _discrete_gaussian(pair, alpha)
    if isinstance(pair, RandomizedResponsePair):
        return _two_categories(1 - arb(pair.flip), arb(pair.flip) / (pair.categories - 1), pair.categories - 2, alpha)
    if isinstance(pair, ApproximateDpPair):
        high = 1 / (1 + (-arb(pair.epsilon)).exp())
        return _two_categories(high, 1 - high, 0, alpha)
    if isinstance(pair, OpposedPair):
        return _opposed(pair, alpha)
    return _sampled(pair, alpha) if isinstance(pair, SubsampledPair) else None


def _two_categories(high: arb, low: arb, others: int, alpha: arb) -> arb:
    """Reported as `high` against `low`, the reverse, and `others` categories that are `low` under both."""
    return high**alpha * low ** (1 - alpha) + low**alpha * high ** (1 - alpha) + others * low


def _discrete_laplace(pair: DiscreteLaplacePair, alpha: arb) -> arb:
    """x <= 0 and x >= shift in closed form, the points between one by one."""
    a, s = (-1 / arb(pair.scale)).exp(), pair.shift
    weight = (1 - a) / (1 + a)
    between = sum((a ** (alpha * (s - x) + (1 - alpha) * x) for x in range(1, s)), arb(0)) if s <= 4096 else arb(0)
    return weight * (between + (a ** (alpha * s) + a ** ((1 - alpha) * s)) / (1 - a))


def _discrete_gaussian(pair: DiscreteGaussianPair, alpha: arb) -> arb:
    """e^(alpha (alpha - 1) shift^2 / (2 sigma^2)) theta(alpha shift) / theta(0); theta(c) a sum over integers."""
    variance, centre = arb(pair.sigma) ** 2, alpha * pair.shift
    if pair.sigma > 100:  # Poisson summation: theta(c) is at least 1 - 2 e^(-2 pi^2 sigma^2) of theta(0)
        ratio = 1 - 4 * (-2 * arb.pi() ** 2 * variance).exp()
    else:
        middle, reach = math.floor(float(centre.mid())), math.ceil(_RANGE * pair.sigma) + 2
        shifted = sum(
            ((-((x - centre) ** 2) / (2 * variance)).exp() for x in range(middle - reach, middle + reach)), arb(0)
        )
        around = sum(((-(arb(x) ** 2) / (2 * variance)).exp() for x in range(-reach, reach + 1)), arb(0))
        tail = (-(arb(reach) ** 2) / (2 * variance)).exp() * (1 + 2 * variance)
        ratio = shifted / (around + 2 * tail)
    return (alpha * (alpha - 1) * pair.shift**2 / (2 * variance)).exp() * ratio


def _sampled(pair: SubsampledPair, alpha: arb) -> arb | None:
    base, q = pair.base, arb(pair.rate)
    if pair.order == "visible":
        unsampled = _moment(base, alpha)
        return None if unsampled is None else 1 - q + q * unsampled
    if isinstance(base, GaussianPair) and pair.order in ("remove", "add", "replace"):
        return _sampled_gaussian(arb(base.shift), q, pair.order, alpha)
    if isinstance(base, RandomizedResponsePair | ApproximateDpPair) and pair.order in ("remove", "add"):
        return _sampled_categories(base, q, alpha if pair.order == "remove" else 1 - alpha)
    return None


def _sampled_categories(base: RandomizedResponsePair | ApproximateDpPair, q: arb, power: arb) -> arb:
    """E_Q of a power of 1 - q + q P/Q; the add order is the power 1 - alpha (docs/theory/rdp.md)."""
    if isinstance(base, ApproximateDpPair):
        high, others = 1 / (1 + (-arb(base.epsilon)).exp()), 0
        low = 1 - high
    else:
        high, low, others = 1 - arb(base.flip), arb(base.flip) / (base.categories - 1), base.categories - 2
    rarer, commoner = 1 - q + q * high / low, 1 - q + q * low / high
    return low * rarer**power + high * commoner**power + others * low


def _sampled_gaussian(s: arb, q: arb, order: str, alpha: arb) -> arb:
    """The integral of the standard normal density times a power of 1 - q + q e^(s y - s^2 / 2)."""
    power = 1 - alpha if order == "add" else alpha

    def integrand(y: acb, analytic: bool) -> acb:
        ratio = (1 - q + q * (s * y - s * s / 2).exp()).log(analytic=analytic)
        exponent = power * ratio - y * y / 2
        if order == "replace":
            exponent += (1 - alpha) * (1 - q + q * (-s * y - s * s / 2).exp()).log(analytic=analytic)
        return exponent.exp()

    farthest = alpha * s if order != "add" else arb(0)
    return _integrated(integrand, arb(-_RANGE), farthest + _RANGE) / (2 * arb.pi()).sqrt()


def _opposed(pair: OpposedPair, alpha: arb) -> arb:
    """(1 - r) N(-s) + r N(s) against (1 - r) N(-s) + r N(0), both relative to N(-s)."""
    s, q = arb(pair.shift), arb(pair.rate)
    powers = (alpha, 1 - alpha) if pair.order == "remove" else (1 - alpha, alpha)

    def integrand(y: acb, analytic: bool) -> acb:
        far = (1 - q + q * (2 * s * y - 2 * s * s).exp()).log(analytic=analytic)
        near = (1 - q + q * (s * y - s * s / 2).exp()).log(analytic=analytic)
        return (powers[0] * far + powers[1] * near - y * y / 2).exp()

    farthest = 2 * alpha * s if pair.order == "remove" else s
    return _integrated(integrand, arb(-_RANGE), farthest + _RANGE) / (2 * arb.pi()).sqrt()


def _integrated(integrand: Callable[[acb, bool], acb], left: arb, right: arb) -> arb:
    """The integral over the range, in pieces whose integrands are alike in size."""
    pieces = max(1, min(64, math.ceil(float((right - left).mid()) / 12)))
    total = arb(0)
    for k in range(pieces):
        start, end = (acb(left + (right - left) * arb(i) / pieces) for i in (k, k + 1))
        total += acb.integral(integrand, start, end, rel_tol=arb(2) ** -50, eval_limit=20_000).real
    return total
