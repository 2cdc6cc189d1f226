"""Renyi divergences of pairs without sampling, and the largest privacy loss of any pair: all rounded up.

Every result is inflated by 2^-40 of the sizes that entered it, thousands of roundings, so the exact value never
exceeds it.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from ..pairs import (
    ApproximateDpPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomizedResponsePair,
    RenyiLines,
    SubsampledPair,
    ZcdpBound,
)
from ..rounding import UNIT

_SLACK = 2.0**-40


def largest_loss(pair: Pair) -> float:
    """An upper bound on log(dP/dQ), the Renyi divergence of order infinity; inf where the loss is unbounded."""
    value = _largest_loss(pair)
    return value + _SLACK * value


def _largest_loss(pair: Pair) -> float:
    if isinstance(pair, LaplacePair):
        return pair.shift
    if isinstance(pair, DiscreteLaplacePair):
        return pair.shift / pair.scale
    if isinstance(pair, RandomizedResponsePair):
        return log_odds(pair)
    if isinstance(pair, ApproximateDpPair):
        return pair.epsilon if pair.delta == 0 else math.inf
    if not isinstance(pair, SubsampledPair):
        return math.inf
    base = _largest_loss(pair.base)
    if pair.order == "add":
        return -math.log1p(-pair.rate * -math.expm1(-base))
    if pair.order == "visible" or base > 600:
        return base
    if pair.order == "replace":
        # dN(s)/dN(0) is at most e^base, and dN(-s)/dN(0) at least e^-base
        return math.log1p(pair.rate * math.expm1(base)) - math.log1p(-pair.rate * -math.expm1(-base))
    return math.log1p(pair.rate * math.expm1(base))


def log_odds(pair: RandomizedResponsePair) -> float:
    """log((1 - flip)(categories - 1)/flip), at least, though its two logarithms may cancel."""
    high, low = math.log1p(-pair.flip), math.log(pair.flip / (pair.categories - 1))
    return max(0.0, high - low) + 32 * UNIT * (1 - high - low)


def base_divergence(pair: Pair, alpha: float) -> float:
    """An upper bound on D_alpha(P||Q) = D_alpha(Q||P) of a pair without sampling; finite alpha > 1.

    Gaussian, Laplace: Mironov 2017, arXiv 1702.07476, Propositions 6 and 7. Randomized response: Proposition 5
    there (two categories). Discrete Gaussian: Canonne, Kamath, Steinke 2020, arXiv 2004.00010, Proposition 5 and
    the exact ratio of theta functions in its proof. zCDP: its definition.
    """
    if isinstance(pair, GaussianPair):
        value = alpha * pair.shift * pair.shift / 2
        return value + _SLACK * value
    if isinstance(pair, ZcdpBound):
        return pair.rho * alpha * (1 + _SLACK)
    if isinstance(pair, RenyiLines):
        return min(_on_chord(slope, constant, alpha) for slope, constant in pair.lines) * (1 + _SLACK)
    if isinstance(pair, DiscreteGaussianPair):
        return _discrete_gaussian(pair, alpha)
    return _from_terms(_log_terms(pair, alpha), alpha, largest_loss(pair))


def _on_chord(slope: float, constant: float, alpha: float) -> float:
    """At least D_alpha, when D_n <= slope n + constant at all integers n > 1: (alpha - 1) D_alpha is convex in alpha
    and 0 at 1 (van Erven, Harremoes 2014, Corollary 2), so it is below the chord between two integers."""
    below = math.floor(alpha)
    share = alpha - below
    left, right = (n * (slope * (n + 1) + constant) for n in (below - 1, below))
    return ((1 - share) * left + share * right) / (alpha - 1)


def _log_terms(pair: Pair, alpha: float) -> list[float]:
    """Logarithms of the terms whose sum is E_Q[(dP/dQ)^alpha]."""
    t = alpha - 1
    if isinstance(pair, LaplacePair):
        double = math.log1p(t / (t + 1))
        return [t * pair.shift - double, math.log(t / (t + 1)) - double - alpha * pair.shift]
    if isinstance(pair, DiscreteLaplacePair):
        return _discrete_laplace_terms(pair, alpha)
    if isinstance(pair, RandomizedResponsePair):
        other = pair.flip / (pair.categories - 1)
        high, low = math.log1p(-pair.flip), math.log(other)
        rest = [math.log((pair.categories - 2) * other)] if pair.categories > 2 else []
        return [alpha * high - t * low, alpha * low - t * high, *rest]
    assert isinstance(pair, ApproximateDpPair)
    high = -math.log1p(math.exp(-pair.epsilon))
    return [high + t * pair.epsilon, high - alpha * pair.epsilon]


def _discrete_laplace_terms(pair: DiscreteLaplacePair, alpha: float) -> list[float]:
    """x <= 0 and x >= shift in closed form; between, a geometric series with ratio e^((2 alpha - 1) / scale)."""
    step, shift = 1 / pair.scale, pair.shift
    outside = -math.log1p(math.exp(-step))
    terms = [outside - alpha * shift * step, outside + (alpha - 1) * shift * step]
    if shift > 1:
        growth = (2 * alpha - 1) * step
        series = growth * (shift - 1) + math.log(-math.expm1(-growth * (shift - 1))) - math.log(-math.expm1(-growth))
        terms.append(math.log(-math.expm1(-step)) + outside - alpha * shift * step + series)
    return terms


def _from_terms(log_terms: list[float], alpha: float, largest: float) -> float:
    """log(sum) / (alpha - 1), rounded up; never above the largest loss.

    The terms' sum is 1 plus little when the loss is small; its absolute error then decides, and the bound
    alpha largest^2 / 2 (Bun, Steinke 2016, Proposition 3.3) is used where it is smaller.
    """
    total = float(logsumexp(np.array(log_terms)))
    size = max(abs(term) for term in log_terms if term > total - 45)
    value = (max(total, 0.0) + 64 * UNIT * (2 + size)) / (alpha - 1)
    return min(value * (1 + _SLACK), largest, alpha * largest * largest / 2 * (1 + _SLACK))


def _discrete_gaussian(pair: DiscreteGaussianPair, alpha: float) -> float:
    """alpha shift^2 / (2 sigma^2) + log(theta(alpha shift) / theta(0)) / (alpha - 1), and never above its first
    term. theta(c) = sum of e^(-(x - c)^2 / (2 sigma^2)) over the integers x, at most theta(0)."""
    variance = pair.sigma * pair.sigma
    gaussian = alpha * pair.shift * pair.shift / (2 * variance) * (1 + _SLACK)
    if pair.sigma > 3:
        return gaussian
    offset = (alpha * pair.shift) % 1.0
    x = np.arange(-60.0, 61.0)
    shifted, centred = (float(logsumexp(-((x - c) ** 2) / (2 * variance))) for c in (offset, 0.0))
    rounding = _SLACK * (1 + alpha * pair.shift) / variance
    return min(gaussian, gaussian + (shifted - centred + rounding) / (alpha - 1))
