"""Upper bounds on the moments of sampled pairs other than Gaussian ones: Laplace and the discrete ones.

The likelihood ratio of a discrete pair takes countably many values ("atoms"); that of the Laplace pair has an
atom on each side and a smooth part between (docs/theory/rdp.md, section "Sampled pairs"). All directions round up.
"""

from __future__ import annotations

import math

import numpy as np
from flint import acb, arb, ctx
from scipy.special import logsumexp

from ...mechanisms.arrays import Floats
from ..pairs import (
    DiscreteGaussianPair,
    LaplacePair,
    Pair,
    Sampling,
)
from ..rounding import UNIT, float_above, up
from .excess import log_excess, log_mixture

_TAIL = 14.0
_FARTHEST = 2_000.0
"""Orders times shifts of Laplace noise beyond which sampling is given up."""

_BITS = 128
_MOST_ATOMS = 1_000_000


def log_moment_excess(base: Pair, rate: float, order: Sampling, alpha: float) -> float:
    """log of an upper bound on E_Q[(dP/dQ)^alpha] - 1, alpha > 1, 0 < rate < 1; inf where none is computed."""
    if isinstance(base, LaplacePair) and order != Sampling.ADD and alpha * base.shift > _FARTHEST:
        return math.inf
    powers = {Sampling.REMOVE: (alpha,), Sampling.ADD: (1 - alpha,), Sampling.HYBRID: (alpha, 1 - alpha)}[order]
    one_sided = order == Sampling.HYBRID
    parts = [_part(base, rate, power, one_sided) for power in powers]
    return float(np.logaddexp.reduce(np.array(parts)))


def _part(base: Pair, rate: float, power: float, one_sided: bool) -> float:
    """E[excess of x^power], over x > 1 only if one_sided."""
    if isinstance(base, LaplacePair):
        ends = np.array([-math.log(2), -base.shift - math.log(2)]), np.array([-base.shift, base.shift])
        return float(np.logaddexp(_sum(*ends, rate, power, one_sided), _between(base.shift, rate, power, one_sided)))
    if isinstance(base, DiscreteGaussianPair):
        return _discrete_gaussian(base, rate, power, one_sided)
    known = base.ratios()
    if known is None:
        raise TypeError(f"no likelihood ratio of {base}")
    return _sum(*known, rate, power, one_sided)


def _between(shift: float, rate: float, power: float, one_sided: bool) -> float:
    """log of at least the smooth part's mean of x^power - 1 - power (x - 1), x = 1 - rate + rate e^(2t), by Arb's
    rigorous integral of it against the density e^(-t - shift/2) / 2, |t| < shift/2."""
    with ctx.workprec(_BITS - 2 * math.ceil(math.log2(rate))):
        s, q, p = arb(shift), arb(rate), arb(power)

        def integrand(t: acb, analytic: bool) -> acb:
            change = q * ((2 * t).exp() - 1)
            excess = (p * (1 + change).log(analytic=analytic)).exp() - 1 - p * change
            return excess * (-t - s / 2).exp() / 2

        start = acb(0) if one_sided else acb(-s / 2)
        found = acb.integral(integrand, start, acb(s / 2), rel_tol=arb(2) ** -40, eval_limit=20_000).real
        return up(float_above(found.log())) if found > 0 else math.inf


def _sum(log_mass: Floats, log_ratio: Floats, rate: float, power: float, one_sided: bool) -> float:
    """log_mass, log_ratio: of the unsampled ratio's law under Q0, rounded to nearest."""
    kept = log_ratio > 0 if one_sided else np.full(log_ratio.shape, True)
    log_mass, log_ratio = log_mass[kept], log_ratio[kept]
    change = rate * np.expm1(np.minimum(log_ratio, 600.0))
    terms = log_mass + log_excess(power, log_mixture(rate, log_ratio), change)
    top = float(np.max(terms, initial=-math.inf))
    if top == -math.inf:
        return top
    counted = terms > top - 45.0
    inner = 4 - math.log1p(-rate) + 3 * np.abs(log_ratio[counted])
    slack = 40 * UNIT * (2 + np.abs(terms[counted]) + 3 * np.abs(log_mass[counted]) + (abs(power) + 1) * inner)
    return float(logsumexp(terms)) + float(np.max(slack)) + len(terms) * (2 * UNIT + math.exp(-45))


def _discrete_gaussian(base: DiscreteGaussianPair, rate: float, power: float, one_sided: bool) -> float:
    """Masses e^(-x^2 / 2 sigma^2) / normaliser, the normaliser rounded down: its terms within 14 sigma.

    Left out on each side: above `high` the excess is at most x^power (power > 1) or |power| rate ratio, whose
    terms fall at least by the factor e^-gap from one integer to the next; below `low` it is at most its value at
    the smallest ratio, 1 - rate.
    """
    sigma, shift = base.sigma, base.shift
    reach = math.ceil(_TAIL * sigma) + 1
    depth = math.ceil(sigma * math.sqrt(_TAIL**2 + 2 * max(0.0, power * math.log1p(-rate)))) + 1
    high = math.ceil(max(power, 1.0) * shift) + reach
    if high + depth > _MOST_ATOMS or 2 * reach > _MOST_ATOMS:
        return math.inf
    variance = sigma * sigma
    log_normaliser = float(logsumexp(-0.5 * np.arange(-reach, reach + 1.0) ** 2 / variance))
    x = np.arange(-depth, high + 1.0)
    log_mass, log_ratio = -0.5 * x * x / variance - log_normaliser, shift * (x - shift / 2) / variance
    total = _sum(log_mass, log_ratio, rate, power, one_sided)
    total = float(np.logaddexp(total, _upper_rest(base, rate, power, high + 1.0) - log_normaliser))
    if one_sided:
        return total
    smallest = math.log1p(-rate)
    largest = float(log_excess(power, np.array([smallest]), np.array([-rate]))[0])
    gap = (depth + 1.0) / variance
    rest = largest - 0.5 * (depth + 1.0) ** 2 / variance - log_normaliser - math.log(-math.expm1(-gap))
    return float(np.logaddexp(total, rest + 2.0**-40 * (1 + abs(rest))))


def _upper_rest(base: DiscreteGaussianPair, rate: float, power: float, start: float) -> float:
    """log of a bound on the un-normalised terms from `start` on: a geometric series."""
    variance = base.sigma**2
    ratio = base.shift * (start - base.shift / 2) / variance
    if power > 0:
        first = power * float(log_mixture(rate, np.array([ratio]))[0])
        gap = (start - power * base.shift) / variance
    else:
        first = math.log(-power * rate) + ratio
        gap = (start - base.shift) / variance
    value = first - 0.5 * start * start / variance - math.log(-math.expm1(-gap))
    return value + 2.0**-40 * (1 + abs(value) + abs(first) + start * start / variance)
