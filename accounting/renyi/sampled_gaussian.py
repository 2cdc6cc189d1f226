"""Moments of sampled Gaussian pairs, from below and above, for every real order and every order of the neighbours.

By the densities' quadrature, whose error bounds are stated to both sides (losses/smooth/quadrature.py). For whole
orders of "remove", and where the tilt is so far that it would take too many nodes, by the binomial series of Mironov,
Talwar, Zhang 2019 (arXiv 1908.10530, Sections 3.1 and 3.3; docs/theory/rdp.md, "Sampled pairs").
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from ...mechanisms.arrays import Floats
from ..bracket import OutOfReach
from ..losses.smooth.paths import Sampled
from ..losses.smooth.quadrature import quadrature
from ..pairs.order import Sampling
from ..pairs.pair import MOVE
from ..pairs.tails import normal_tail
from ..rounding import UNIT, down, float_above, float_below, up, widened_down, widened_up
from . import real_orders

_ACCURACY = 30.0
"""-log of the quadrature's error relative to the moment's distance from 1, or to the moment where that is larger."""

_FINER = 6.0
"""More of it on the real line, where it costs next to nothing."""

_MOST_BUDGET = 200.0
_FARTHEST = 400.0
"""In standard deviations: how far the tilt may move the mass for the quadrature to be the quick way."""

_BITS = 160
_MOST_TERMS = 1000
_MOST_WHOLE = 1024
_FEW = 20
"""Terms up to which a loop is quicker than a dozen array operations."""

_TINY = 2.0**-400
_NEGLIGIBLE = arb(2) ** -70


def ends_of_removed(shift: float, rate: float, alpha: float) -> tuple[float, float]:
    """(at most, at least) log E_Q[(dP/dQ)^alpha] of the remove order for all parameters within rounding.PARAMETER of
    the given doubles: it grows with both, and each end is taken at parameters rounded in its direction."""
    least = shift * (1 - MOVE), rate * (1 - MOVE)
    most = shift * (1 + MOVE), min(rate * (1 + MOVE), 1 - UNIT)
    if not _is_whole(shift, alpha):
        quick = real_orders.log_moments(least, most, alpha, _budget(*most, alpha) + _FINER)
        if quick is not None:
            return quick
    return log_moments(*least, Sampling.REMOVE, alpha)[0], log_moments(*most, Sampling.REMOVE, alpha)[1]


def _is_whole(shift: float, alpha: float) -> bool:
    """Whether the moment is a sum of finitely many terms, none of them beyond doubles."""
    return alpha <= _MOST_WHOLE and alpha == int(alpha) and _TINY < shift < 1 / _TINY


def log_moments(shift: float, rate: float, order: Sampling, alpha: float) -> tuple[float, float]:
    """(at most, at least) log E_Q[(dP/dQ)^alpha] for finite alpha > 1, 0 < rate < 1 and order other than visible."""
    c = alpha - 1.0
    if order == Sampling.REMOVE:
        if _is_whole(shift, alpha):
            return _whole(shift, rate, int(alpha))
        quick = real_orders.log_moments((shift, rate), (shift, rate), alpha, _budget(shift, rate, alpha) + _FINER)
        if quick is not None:
            return quick
    if order == Sampling.ADD or c * shift <= _FARTHEST:
        try:
            tilted = quadrature(Sampled(shift, rate, order), (c,), _budget(shift, rate, alpha)).tilted(c)
            return max(0.0, tilted.log_moment_below()), tilted.log_moment_above()
        except OutOfReach:
            pass
    if order == Sampling.ADD:  # no ratio is below 1 - rate
        return 0.0, up(-c * math.log1p(-rate), 4)
    low, high = _removed(shift, rate, alpha)
    if order == Sampling.REPLACE:  # p^alpha r^(1-alpha): r is at least 1 - rate, and at most 1 where p counts
        return down(low + math.log1p(-math.exp(-low)), 4) if low > 1.0 else 0.0, up(high - c * math.log1p(-rate), 4)
    if order == Sampling.HYBRID:  # where the ratio exceeds 1 the other power of it is below 1
        return 0.0, up(float(np.logaddexp(0.0, high)), 4)
    return low, high


def _budget(shift: float, rate: float, alpha: float) -> float:
    """For the moment's distance from 1, about alpha (alpha - 1) rate^2 (e^(shift^2) - 1) / 2 where it is small."""
    size = math.log(0.5 * alpha * (alpha - 1.0)) + 2.0 * math.log(rate)
    size += math.log(math.expm1(min(shift * shift, 600.0)))
    return min(_ACCURACY - min(0.0, size), _MOST_BUDGET)


def _removed(shift: float, rate: float, alpha: float) -> tuple[float, float]:
    """Bounds of log E[(1 - rate + rate e^y)^alpha], y normal of mean -shift^2/2 and variance shift^2."""
    with ctx.workprec(_BITS):
        s, q, a = arb(shift), arb(rate), arb(alpha)
        if alpha + 64 > _MOST_TERMS:  # x^alpha is convex, and the ratio at least its second term
            whole = a * (a - 1) * s * s / 2
            return max(0.0, float_below(a * q.log() + whole)), float_above((1 - q + q * whole.exp()).log())
        moment = _series(s, q, a)
        low = float_below(moment.log()) if moment > 1 else 0.0
        return low, float_above(moment.log()) if moment > 0 else math.inf


def _whole(shift: float, rate: float, order: int) -> tuple[float, float]:
    """(at most, at least) log(1 + S), S the sum of binom(a, k) (1 - q)^(a - k) q^k (e^(s^2 k (k-1) / 2) - 1), k > 1.

    All terms are positive, so that the logarithm of their sum is off by no more than theirs are. With g the exponent of
    the last factor, a term's logarithm is log binom(a, k) + k log(q / (1 - q)) + a log(1 - q) + g + log(1 - e^-g), each
    summand and the sums up to it within 16 units of their sizes, where elementary functions are within 4 (rounding.py).
    """
    with_unit, without = math.log(rate), math.log1p(-rate)
    square, odds = shift * shift, with_unit - without
    total, most, rest = (_log_sum if order <= _FEW else _log_sum_of_many)(order, square, odds)
    total += order * without
    size = order * (math.log(2.0) - with_unit - 2.0 * without) + 0.5 * square * order * (order - 1) - rest + abs(most)
    off = (size + order + 8.0) * 2.0**-49
    return widened_down(_log_of_1_and(total - off), 16 * UNIT), widened_up(_log_of_1_and(total + off), 16 * UNIT)


def _log_of_1_and(value: float) -> float:
    """log(1 + e^x)."""
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def _log_sum(order: int, square: float, odds: float) -> tuple[float, float, float]:
    """log of the sum over k of binom(a, k) e^(k odds) (e^g - 1), g = square k (k - 1) / 2; log of its largest term; and
    log(1 - e^-g) for k = 2."""
    terms = [
        log_choose + k * odds + square * triangle + math.log(-math.expm1(-square * triangle))
        for k, triangle, log_choose in zip(*_few_choices(order), strict=True)
    ]
    most = max(terms)
    return most + math.log(sum([math.exp(term - most) for term in terms])), most, math.log(-math.expm1(-square))


def _log_sum_of_many(order: int, square: float, odds: float) -> tuple[float, float, float]:
    """The same, in array operations."""
    k, triangles, log_choose = _choices(order)
    growth = square * triangles
    rest = np.log(-np.expm1(-growth))
    terms = log_choose + k * odds + growth
    terms += rest
    most = float(terms.max())
    np.subtract(terms, most, out=terms)
    return most + math.log(float(np.exp(terms, out=terms).sum())), most, float(rest[0])


@lru_cache(maxsize=64)
def _few_choices(order: int) -> tuple[list[float], list[float], list[float]]:
    """As `_choices`, for loops."""
    k, triangles, log_choose = _choices(order)
    return k.tolist(), triangles.tolist(), log_choose.tolist()


@lru_cache(maxsize=64)
def _choices(order: int) -> tuple[Floats, Floats, Floats]:
    """k = 2, ..., order, k (k - 1) / 2, and log binom(order, k)."""
    k = np.arange(2.0, order + 1)
    return k, 0.5 * k * (k - 1.0), np.array([math.log(math.comb(order, each)) for each in range(2, order + 1)])


def _series(s: arb, q: arb, a: arb) -> arb:
    """Two binomial series, for the ratio's first and second term being the larger one: y below and above `middle`.

    From k > a on the terms alternate in sign and fall, so that what is left out is at most the first term of it. From
    any k on, it is at most the sum of all |binom(a, k)|, below 2^(a + 2), times this k's expectations, which fall: on
    its side of `middle` each is of a power of a ratio of at most 1. At far tilts a few terms are all.
    """
    odds, middle, most_of_all = q / (1 - q), s / 2 + ((1 - q) / q).log() / s, arb(2) ** (a + 2)
    total, binomial, k = arb(0), arb(1), 0
    while True:
        least = (1 - q) ** a * odds**k * (s * s * k * (k - 1) / 2).exp() * normal_tail(k * s - middle)
        j = a - k
        most = q**a / odds**k * (s * s * j * (j - 1) / 2).exp() * normal_tail(middle - j * s)
        term = binomial * (least + most)
        left_out = most_of_all * (least + most)
        if left_out < total * _NEGLIGIBLE:
            return total + left_out.union(-left_out)
        if k > a and abs(term) < total * _NEGLIGIBLE:
            return total + arb(0).union(term)
        if k > a + _MOST_TERMS:
            return total + arb(0).union(term)
        total += term
        binomial *= (a - k) / (k + 1)
        k += 1
