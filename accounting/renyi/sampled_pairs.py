"""Renyi divergences of sampled pairs: one entry for every base, every order of the neighbours, every real order."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..pairs import (
    CategoriesPair,
    FinitePair,
    GaussianPair,
    OpposedPair,
    Pair,
    ProductPair,
    RenyiPoints,
    Sampling,
    SubsampledPair,
    ZcdpBound,
    ZeroedPair,
)
from ..pairs.parameters import dominating_parameters
from ..rounding import up
from . import sampled_divergence as sampled_bounds
from . import sampled_other
from .sampled_gaussian import log_moments

_SLACK = 2.0**-40

_RENYI = ZcdpBound | RenyiPoints
"""Of which nothing but Renyi divergences are known."""


def supports(pair: SubsampledPair) -> bool:
    """Whether a bound is known: a visible coin for any base, else bases whose likelihood ratio is known."""
    base = pair.base.given_finite()
    if base is None:
        return False
    if pair.order == Sampling.VISIBLE:
        return _known_ratio(base) or isinstance(base, _RENYI)
    if only_renyi(base):
        return pair.order != Sampling.REPLACE
    return base.doubled() is not None if pair.order == Sampling.REPLACE else _known_ratio(base)


def only_renyi(base: Pair) -> bool:
    """Whether of the base, or of one of several releases about one sample, nothing but Renyi divergences are known."""
    if isinstance(base, ProductPair):
        return base.has_divergence() and any(only_renyi(part) for part, _ in base.parts)
    return isinstance(base, _RENYI)


def given_finite(pair: SubsampledPair) -> SubsampledPair:
    """A pair that dominates it given that the loss is finite, where that is known of its base: the same coin in front
    of what is left of it (docs/theory/rdp.md, "Rounds that fail")."""
    base = pair.base.given_finite()
    return pair if base is None else replace(pair, base=base)


def _known_ratio(base: Pair) -> bool:
    return base.doubled() is not None or isinstance(base, CategoriesPair | FinitePair)


def as_hybrid(pair: SubsampledPair) -> SubsampledPair:
    """Of the replace order: a pair that dominates it, with noise of any kind but Gaussian (docs/theory/rdp.md)."""
    return SubsampledPair(pair.base.doubled() or pair.base, pair.rate, Sampling.HYBRID)


def above_zeroed(pair: OpposedPair | ZeroedPair) -> tuple[SubsampledPair, SubsampledPair]:
    """Pairs that dominate it in either order: of replace-one, and of visible participation
    (docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise")."""
    replaced = SubsampledPair(GaussianPair(2.0 * pair.shift), pair.rate, Sampling.HYBRID)
    return replaced, SubsampledPair(GaussianPair(pair.shift), pair.rate, Sampling.VISIBLE)


def sampled_divergence(pair: SubsampledPair, alpha: float) -> float:
    """An upper bound on D_alpha(P||Q) for 0 < rate < 1 and finite alpha > 1.

    Sampled Gaussian: Mironov, Talwar, Zhang 2019, arXiv 1908.10530, for "remove"; the other orders and bases:
    docs/theory/rdp.md, section "Sampled pairs". It increases in the rate and in a Gaussian's shift, which are
    rounded up. Where the moment itself is out of reach, sampling is given up:
    both ends of a mixture move towards each other, so the base pair (for "replace", at twice the shift) bounds it.
    """
    if pair.order == Sampling.REPLACE and not isinstance(pair.base, GaussianPair):
        return sampled_divergence(as_hybrid(pair), alpha)
    moved = dominating_parameters(pair)
    base = pair.base.doubled() or pair.base if pair.order == Sampling.REPLACE else pair.base
    unsampled_bound = base.divergence(alpha)
    if only_renyi(pair.base) and pair.order != Sampling.VISIBLE:
        return min(
            sampled_bounds.sampled_divergence(pair.base.divergence, moved.rate, pair.order, alpha), unsampled_bound
        )
    if pair.order == Sampling.VISIBLE:
        log_excess = math.log(moved.rate) + _log_moment_minus_1((alpha - 1) * pair.base.divergence(alpha))
    elif isinstance(moved.base, GaussianPair):
        _, log_moment = log_moments(moved.base.shift, moved.rate, pair.order, alpha)
        return min(up(log_moment / (alpha - 1), 2), unsampled_bound)
    else:
        log_excess = sampled_other.log_moment_excess(moved.base, moved.rate, pair.order, alpha)
    return min(_divergence(log_excess, alpha), unsampled_bound)


def _log_moment_minus_1(log_moment: float) -> float:
    """log(e^m - 1), rounded up."""
    value = log_moment + math.log(-math.expm1(-log_moment)) if log_moment > 0 else -math.inf
    return value + _SLACK * (1 + abs(value)) if log_moment > 0 else value


def _divergence(log_excess: float, alpha: float) -> float:
    """log(1 + e^log_excess) / (alpha - 1), rounded up."""
    log_moment = float(np.logaddexp(0.0, log_excess))
    return log_moment / (alpha - 1) * (1 + _SLACK)
