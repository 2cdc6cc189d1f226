"""Renyi divergences of sampled pairs other than Gaussian ones: Laplace and the discrete ones.

The likelihood ratio of a discrete pair takes countably many values ("atoms"); that of the Laplace pair has an
atom on each side and a smooth part between (docs/theory/rdp.md, section "Sampled pairs"). All directions round up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx
from scipy.special import logsumexp

from ...mechanisms.arrays import Floats
from ..pairs.moments import SLACK
from ..pairs.order import Sampling
from ..rounding import UNIT, float_above, up
from .excess import log_excess, log_mixture

if TYPE_CHECKING:
    from ..pairs import Pair

_TAIL = 14.0
_FARTHEST = 2_000.0
"""Orders times shifts of Laplace noise beyond which sampling is given up."""

_BITS = 128
_MOST_ATOMS = 1_000_000


Part = Callable[[float, bool], float]
"""log of at least E[excess of x^power], over x > 1 only where that is asked for."""


def of_ratios(ratios: tuple[Floats, Floats], rate: float, coin: Sampling, alpha: float) -> float:
    """At least D_alpha behind a coin of a pair with finitely many likelihood ratios; ratios: log(Q-masses) and
    log(dP/dQ) on them, to nearest."""
    return _divergence(lambda power, one_sided: _sum(*ratios, rate, power, one_sided), coin, alpha)


def of_laplace(shift: float, rate: float, coin: Sampling, alpha: float) -> float:
    """Of Laplace noise of scale 1."""
    if coin != Sampling.ADD and alpha * shift > _FARTHEST:
        return math.inf

    def part(power: float, one_sided: bool) -> float:
        ends = np.array([-math.log(2), -shift - math.log(2)]), np.array([-shift, shift])
        return float(np.logaddexp(_sum(*ends, rate, power, one_sided), _between(shift, rate, power, one_sided)))

    return _divergence(part, coin, alpha)


def of_discrete_gaussian(sigma: float, shift: int, rate: float, coin: Sampling, alpha: float) -> float:
    """Of discrete Gaussian noise."""
    return _divergence(lambda *asked: _discrete_gaussian(sigma, shift, rate, *asked), coin, alpha)


def as_hybrid(doubled: Pair, rate: float, alpha: float) -> float | None:
    """Of the replace order, by the hybrid pair of twice the move, which dominates it (docs/theory/rdp.md)."""
    return doubled.renyi().behind_coin(rate, Sampling.HYBRID, alpha)


def behind_public_coin(divergence: float, rate: float, alpha: float) -> float:
    """At least D_alpha of a pair behind a coin that is seen; divergence: at least the pair's."""
    log_moment = (alpha - 1) * divergence
    if not log_moment > 0:
        return 0.0
    value = log_moment + math.log(-math.expm1(-log_moment))
    return _from_excess(math.log(rate) + value + SLACK * (1 + abs(value)), alpha)


def _divergence(part: Part, coin: Sampling, alpha: float) -> float:
    powers = {Sampling.REMOVE: (alpha,), Sampling.ADD: (1 - alpha,), Sampling.HYBRID: (alpha, 1 - alpha)}[coin]
    parts = [part(power, coin == Sampling.HYBRID) for power in powers]
    return _from_excess(float(np.logaddexp.reduce(np.array(parts))), alpha)


def _from_excess(log_excess: float, alpha: float) -> float:
    """log(1 + e^log_excess) / (alpha - 1), rounded up."""
    return float(np.logaddexp(0.0, log_excess)) / (alpha - 1) * (1 + SLACK)


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


def _discrete_gaussian(sigma: float, shift: int, rate: float, power: float, one_sided: bool) -> float:
    """Masses e^(-x^2 / 2 sigma^2) / normaliser, the normaliser rounded down: its terms within 14 sigma.

    Left out on each side: above `high` the excess is at most x^power (power > 1) or |power| rate ratio, whose
    terms fall at least by the factor e^-gap from one integer to the next; below `low` it is at most its value at
    the smallest ratio, 1 - rate.
    """
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
    total = float(np.logaddexp(total, _upper_rest(sigma, shift, rate, power, high + 1.0) - log_normaliser))
    if one_sided:
        return total
    smallest = math.log1p(-rate)
    largest = float(log_excess(power, np.array([smallest]), np.array([-rate]))[0])
    gap = (depth + 1.0) / variance
    rest = largest - 0.5 * (depth + 1.0) ** 2 / variance - log_normaliser - math.log(-math.expm1(-gap))
    return float(np.logaddexp(total, rest + 2.0**-40 * (1 + abs(rest))))


def _upper_rest(sigma: float, shift: int, rate: float, power: float, start: float) -> float:
    """log of a bound on the un-normalised terms from `start` on: a geometric series."""
    variance = sigma**2
    ratio = shift * (start - shift / 2) / variance
    if power > 0:
        first = power * float(log_mixture(rate, np.array([ratio]))[0])
        gap = (start - power * shift) / variance
    else:
        first = math.log(-power * rate) + ratio
        gap = (start - shift) / variance
    value = first - 0.5 * start * start / variance - math.log(-math.expm1(-gap))
    return value + 2.0**-40 * (1 + abs(value) + abs(first) + start * start / variance)
