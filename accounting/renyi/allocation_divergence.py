"""Renyi divergences of random allocation: a unit takes part in one round of a block, which one is hidden.

P is the mean of N(shift e_i, I) over the rounds i of the block, Q is N(0, I); with L_i independent and lognormal,
E L_i = 1, the ratio dP/dQ under Q is the mean of L_1, ..., L_t (docs/theory/rdp.md, "Random allocation"):

    (alpha - 1) D_alpha(P||Q) = log E[mean(L)^alpha],   (alpha - 1) D_alpha(Q||P) = log E[mean(L)^(1 - alpha)].
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_series, ctx
from scipy.special import gammainc, gammaincc

from ...mechanisms.arrays import Floats
from ..rounding import float_above, up

if TYPE_CHECKING:
    from ..pairs import AllocationPair, ReplacedAllocationPair

HIGHEST_ORDER = 96
"""Above it the bound without amplification is used: such orders belong to tiny noise."""

_BITS = 320
_CELLS = 2000
_SPLITS = (0.2, 0.35, 0.5, 0.65)
"""Trial places to split the mean of likelihood ratios at, when it is small."""

_EXCESSES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0)
"""p - 1 in the triangle inequality; any p is valid."""

_GRID = 4.0
"""Orders in it are multiples of 1/4, so that a search over alpha needs each divergence once."""

_STEEP = 64.0
"""Of noise with a larger shift nothing worth its time is hidden by the choice of the round: the nodes grow with it."""

_REACH = 9.0
_GAMMA = 1e-11
"""Relative accuracy assumed of scipy's incomplete gamma functions (theirs is better than 1e-13)."""


def allocation_divergence(pair: AllocationPair, alpha: float) -> float:
    """At least D_alpha in both orders, for finite alpha > 1; never above that of a unit seen to take part."""
    rounds = pair.rounds // pair.participations
    return up(pair.participations * _one_block(_shift(pair), rounds, alpha), 2)


def _shift(pair: AllocationPair) -> float:
    noise = pair.base.gaussian()
    if noise is None or noise.coin is not None:
        raise TypeError(f"no Renyi divergence for {pair}")
    return noise.shift


def replaced_divergence(pair: ReplacedAllocationPair, alpha: float) -> float:
    """At least D_alpha between two neighbours of which each has its own unit, by way of none: for 1/p + 1/q = 1,

        D_alpha(P||R) <= (alpha - 1/p)/(alpha - 1) D_{p alpha}(P||Q) + D_{q (alpha - 1/p)}(Q||R)

    (Mironov 2017, arXiv 1702.07476, Proposition 11), the smallest over a grid of p. Never above that of a replaced unit
    that is seen to take part, which moves by two bounds.
    """
    apart = pair.apart
    seen = up(2.0 * alpha * apart.participations * _shift(apart) ** 2 * (1 + 2**-40), 2)
    by_way = (_by_way(apart, alpha, 1.0 + excess) for excess in _EXCESSES)
    return min(seen, *by_way)


def _by_way(apart: AllocationPair, alpha: float, p: float) -> float:
    """The right hand side for one p; every order is rounded up, which only increases a divergence."""
    first, second = _next_order(p * alpha), _next_order(p / (p - 1.0) * (alpha - 1.0 / p))
    factor = up((alpha - 1.0 / p) / (alpha - 1.0) * (1 + 2**-50), 4)
    total = factor * allocation_divergence(apart, first) + allocation_divergence(apart, second)
    return up(total * (1 + 2**-50), 2)


def _next_order(order: float) -> float:
    return math.ceil(order * _GRID * (1 + 2**-50)) / _GRID


@lru_cache(maxsize=4096)
def _one_block(shift: float, rounds: int, alpha: float) -> float:
    unamplified = up(0.5 * alpha * shift**2 * (1 + 2**-40), 2)
    if alpha + 1 > HIGHEST_ORDER or rounds == 1 or shift > _STEEP:
        return unamplified
    moments = _log_moments(shift, rounds)
    below = math.floor(alpha)
    removed = ((below + 1 - alpha) * moments[below] + (alpha - below) * moments[below + 1]) / (alpha - 1)
    if removed * (1 + 2**-40) >= unamplified:
        return unamplified
    added = _log_inverse_moment(shift, rounds, alpha - 1) / (alpha - 1)
    return min(unamplified, up(max(removed, added) * (1 + 2**-40), 2))


@lru_cache(maxsize=256)
def _log_moments(shift: float, rounds: int) -> tuple[float, ...]:
    """At least log E[mean(L)^n] for n = 0 .. HIGHEST_ORDER, convex in n.

    E[(sum L)^n] / n! is the n-th coefficient of (sum_j E[L^j] z^j / j!)^rounds, E[L^j] = e^{shift^2 j (j - 1) / 2}.
    """
    with ctx.workprec(_BITS):
        cap, ctx.cap = ctx.cap, HIGHEST_ORDER + 1
        try:
            square = arb(shift * (1 + 2**-51)) ** 2
            one = [(square * j * (j - 1) / 2).exp() / arb(j + 1).gamma() for j in range(HIGHEST_ORDER + 1)]
            powers = arb_series(one, HIGHEST_ORDER + 1) ** rounds
            scale, logs = arb(1), []
            for n in range(HIGHEST_ORDER + 1):
                scale = scale * n / rounds if n else arb(1)
                logs.append(max(0.0, float_above((powers[n] * scale).log())))
        finally:
            ctx.cap = cap
    return tuple(logs)


def _log_inverse_moment(shift: float, rounds: int, power: float) -> float:
    """At least log E[mean(L)^-power], power > 0.

    x^-b = (1 / Gamma(b)) int_0^U u^(b-1) e^(-ux) du + x^-b Q(b, U x): the integral, over U distributed as Gamma(b), of
    e^h(u), h(u) = u + rounds log E[e^{-u L / rounds}], which is convex, 0 and flat at 0, so that every cell's largest
    value is at its right end; and a rest.
    """
    near = power + 14.0 * math.sqrt(power) + 60.0
    u = np.concatenate([np.linspace(0.0, near, _CELLS + 1), np.geomspace(near, near / _SPLITS[0], _CELLS // 4)[1:]])
    growth = _growth_above(shift, rounds, u)
    if growth.max() > 700.0:  # Beyond doubles, where the order is too high for this bound.
        return math.inf
    below, above = gammainc(power, u), gammaincc(power, u)
    left = (1 + _GAMMA) * below[1:] - (1 - _GAMMA) * below[:-1]
    right = (1 + _GAMMA) * above[:-1] - (1 - _GAMMA) * above[1:]
    total = float(np.minimum(left, right) @ np.exp(growth[1:])) * (1 + 1e-12)
    log_second = 0.5 * shift**2 * (2 * power + 4 * power**2 / rounds)
    rest = min(_rest(power, split, u, growth, log_second) for split in _SPLITS)
    return math.log(total + rest) + 1e-12 if total + rest < math.inf else math.inf


def _rest(power: float, split: float, u: Floats, growth: Floats, log_second: float) -> float:
    """At least E[x^-b Q(b, U x)], x = mean(L): split^-b Q(b, U split) + (E[x^-2b] P[x < split])^(1/2).

    x^-b Q(b, U x) decreases in x. P[x < split] <= E[e^{u (split - x)}] for every u; E[x^-2b] <= e^log_second, since a
    geometric mean is at most the arithmetic one.
    """
    tail: float = split**-power * float(gammaincc(power, split * u[-1])) * (1 + _GAMMA) + 1e-300
    log_below = min(0.0, float(np.min(growth - (1 - split) * u)))
    return tail + math.exp(min(700.0, 0.5 * (log_second + log_below) + 1e-9))


def _growth_above(shift: float, rounds: int, u: Floats) -> Floats:
    """At least h(u) = u + rounds log E[e^{-u L / rounds}], by the trapezoidal rule on the real line.

    L = e^{shift x - shift^2/2}, x normal. For |Im x| <= a = min(3, pi / (2 shift)) the real part of L is not
    negative, so the integrand is at most e^{a^2/2} times the normal density: the rule's error is at most
    2 e^{a^2/2} / (e^{2 pi a / step} - 1), and what is beyond _REACH at most e^{-_REACH^2/2}.
    """
    width = min(3.0, 0.5 * math.pi / shift)
    step = width / 6.5
    x = step * np.arange(-math.ceil(_REACH / step), math.ceil(_REACH / step) + 1)
    weight = np.exp(-0.5 * x * x) * (step / math.sqrt(2.0 * math.pi))
    loss = np.exp(shift * x - 0.5 * shift**2)
    mean = np.exp(-np.multiply.outer(u / rounds, loss)) @ weight
    error = 2.0 * math.exp(0.5 * width**2) / math.expm1(2.0 * math.pi * 6.5) + math.exp(-0.5 * _REACH**2)
    rounding = len(x) * 2.0**-50
    log: Floats = np.log(np.minimum(1.0, mean * (1 + rounding) + error))
    growth: Floats = u + rounds * log + 1e-14 * u
    return np.maximum(growth, 0.0)
