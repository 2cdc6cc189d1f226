"""Moments of sampled Gaussian pairs of the "remove" order at real orders, by the trapezoidal rule on the real line.

With u = q (e^(s x - s^2/2) - 1), x standard normal, the moment is E[(1 + u)^a]. Proofs of the bounds:
docs/theory/rdp.md, "Real orders". Each function answers for two settings at once, of nearly the same noise and rate:
the moment from below at the first, and from above at the second.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...mechanisms.arrays import Floats
from ..rounding import UNIT, widened_down, widened_up

Setting = tuple[float, float]
"""Shift and rate."""

_MOST_NODES = 2400
"""Beyond, the quadrature on a path is quicker."""

_MOST_EXPONENT, _FARTHEST = 600.0, 37.0
"""Powers, and places whose weight, e^(-x^2/2), would be out of the range of doubles."""

_MOST_RATE = 0.99
_WIDEST_ANGLE = 3.0
"""Of s times a height up to which 1 + u is off the negative axis (below pi)."""

_LOOSEST = 2.0**-20
_TWO_PI = 2.0 * math.pi * (1 - 2**-40)


def log_moments(least: Setting, most: Setting, alpha: float, budget: float) -> Setting | None:
    """(at most log of the moment at `least`, at least that at `most`), both with an error of about e^-budget times the
    moment's distance from 1 beside rounding; None where that takes many nodes or large numbers."""
    shift, rate = most
    if rate > _MOST_RATE:
        return None
    log_jump = alpha * math.log(rate) + 0.5 * shift * shift * alpha * (alpha - 1.0)
    if log_jump > budget + (alpha - 1.0) * math.log(2.0):
        return _of_jumps(least, most, alpha, budget, log_jump)
    return _of_excess(least, most, alpha, budget, log_jump)


def _rule(budget: float, shift: float) -> tuple[float, float]:
    """A step, and by how much it may miss a moment, relatively: about e^-budget."""
    height = min(math.sqrt(2.0 * budget), _WIDEST_ANGLE / shift)
    step = _short(_TWO_PI * height / (budget + 0.5 * height * height))
    return step, 2.1 * math.exp(0.5 * height * height) / math.expm1(min(_TWO_PI * height / step, _MOST_EXPONENT))


def _short(value: float) -> float:
    """value rounded down to four significant bits: multiples are exact, and many settings share the nodes."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 16.0), exponent - 4)


@lru_cache(maxsize=64)
def _nodes(step: float, left: int, right: int) -> tuple[Floats, Floats]:
    """The nodes from left * step to right * step, and their weights for the normal density."""
    x: Floats = np.arange(left, right + 1, dtype=np.float64) * step
    return x, np.exp(-0.5 * x * x) * (step / math.sqrt(2.0 * math.pi))


def _of_excess(least: Setting, most: Setting, alpha: float, budget: float, log_jump: float) -> Setting | None:
    """By S = E[f(u)], f(u) = (1 + u)^a - 1 - a u >= 0, where the moment, 1 + S, may be next to 1."""
    shift, rate = most
    c, left = alpha - 1.0, math.sqrt(2.0 * budget)
    step, strip = _rule(budget + math.log(8.0 + 4.0 * alpha), shift)
    right = left
    for _ in range(3):
        right = math.sqrt(2.0 * (budget + alpha * math.log1p(rate * math.expm1(min(shift * right, 600.0)))))
    right = max(right, alpha * shift + math.sqrt(2.0 * max(1.0, budget + min(0.0, log_jump))))
    end = right + 2.0 * step
    if end > _FARTHEST or alpha * shift * (end - 0.5 * shift) > _MOST_EXPONENT or end + left > _MOST_NODES * step:
        return None
    x, weight = _nodes(step, -math.ceil(left / step), math.ceil(right / step) + 1)
    moves, squares, rates = np.array((least[0], shift, least[0] ** 2, shift**2, least[1], rate)).reshape(3, 2, 1)
    u = rates * np.expm1(moves * x - 0.5 * squares)
    power = c * np.log1p(u)
    growth = np.expm1(power)
    kept = 1.0 + u
    gain = kept * growth
    low, high = ((gain - c * u) @ weight).tolist()
    # The sum's terms are off by 13 (1 + u)^a |log (1 + u)^c| + 10 c |u| + |f'(u)| (5 |u| + 2 (u + q) (s |x| + s^2)).
    u, farthest = u[1], float(x[-1])
    change, moved = np.abs(u), 2.0 * shift * (farthest + shift)
    off = (13.0 * (kept[1] + gain[1])) * np.abs(power[1]) + (10.0 * c) * change
    off += np.abs(growth[1]) * ((alpha * (5.0 + moved)) * change + alpha * moved * rate)
    error = 1.05 * UNIT * (float(off @ weight) + (x.size + 0.5 * farthest * farthest + 8.0) * high)
    beyond = float(weight[-1] * (kept[1, -1] + gain[1, -1])) / (step * (farthest - alpha * shift))
    beyond += 0.5 * math.exp(-0.5 * float(x[0]) ** 2) * _excess_at_most(rate, alpha)
    error = 1.05 * (error + beyond + strip * (2.0 + 2.0 * alpha * rate + high + error + beyond))
    if not error < _LOOSEST * high:
        return None
    return (
        widened_down(math.log1p(max(0.0, low - error)), 16 * UNIT),
        widened_up(math.log1p(high + error), 16 * UNIT),
    )


def _excess_at_most(rate: float, alpha: float) -> float:
    """At least f(u) for every u in [-rate, 0]: it falls from f(-1) = a - 1, and f'' = a (a - 1) (1 + u)^(a - 2)."""
    return min(alpha - 1.0, 0.51 * alpha * (alpha - 1.0) * rate * rate * max(1.0, math.pow(1.0 - rate, alpha - 2.0)))


def _of_jumps(least: Setting, most: Setting, alpha: float, budget: float, log_jump: float) -> Setting | None:
    """By (q e^(s x - s^2/2))^a alone, whose part is J = q^a e^(s^2 a (a - 1) / 2): of the moment, which is J G with
    G = E[(1 + z)^a], z = r e^(-s v), r = (1 - q)/q e^(s^2 (1/2 - a)), v standard normal, only outcomes v > -far count.
    """
    c = alpha - 1.0
    share = math.exp(max(-_MOST_EXPONENT, (budget - log_jump) / c))
    far, left_out = math.sqrt(2.0 * (budget - c * math.log1p(-share))), 4.0 * math.exp(-budget)
    ratios = least[0], _log_ratio(*least, alpha), most[0], _log_ratio(*most, alpha)
    shift, log_ratio = ratios[2:]
    largest = math.log(alpha) + log_ratio + shift * far  # log of a z, for v > -far
    spread = min(shift * shift, 0.25 * shift * shift + 0.5 * shift * far)
    if largest < 0.0 and 2.0 * (math.log(alpha) + log_ratio + spread) < -budget:
        # 1 + a z <= (1 + z)^a <= 1 + a z + (a z)^2 e^(a z) / 2, E[z] = r e^(s^2 / 2), E[z^2] = r^2 e^(2 s^2)
        first, second = (alpha * math.exp(log + 0.5 * s * s) for s, log in (ratios[:2], ratios[2:]))
        low, high = math.log1p(first * (1 - 2**-24)), second * (1 + 2**-24) + 1.5 * left_out
    else:
        found = _by_rule(ratios, alpha, budget, far, left_out)
        if found is None:
            return None
        low, high = found
    return (
        widened_down(_log_jump(*least, alpha, -1.0) + low, 8 * UNIT),
        widened_up(_log_jump(*most, alpha, 1.0) + high, 8 * UNIT),
    )


def _by_rule(
    ratios: tuple[float, float, float, float], alpha: float, budget: float, far: float, left_out: float
) -> tuple[float, float] | None:
    """(at most, at least) log G; ratios: shift and log r of both settings."""
    shift, log_ratio = ratios[2:]
    step, strip = _rule(budget, shift)
    if alpha * max(1.0, log_ratio + shift * (far + step)) > _MOST_EXPONENT:
        return None
    if far + step > _FARTHEST or 2.0 * far > _MOST_NODES * step:
        return None
    count = math.ceil(far / step)
    v, density = _nodes(step, -count, count)
    (moves, logs) = np.array(ratios).reshape(2, 2).T[:, :, None]
    log = alpha * np.log1p(np.exp(logs - moves * v))
    weight = np.exp(log) * density
    first, second = (float(each) for each in weight.sum(axis=1))
    size = 8.0 * (abs(log_ratio) + 2.0 * alpha * shift * shift + shift * (far + step)) + 9.0
    unit = log[1] * size + (0.5 * (far + step) ** 2 + v.size + 9.0)
    off = 1.05 * (UNIT * float(weight[1] @ unit) / second + left_out + strip)
    return (math.log(max(1.0, first * (1.0 - off))), math.log(second) + 1.01 * off) if off < _LOOSEST else None


def _log_ratio(shift: float, rate: float, alpha: float) -> float:
    """log r."""
    return math.log1p(-rate) - math.log(rate) + shift * shift * (0.5 - alpha)


def _log_jump(shift: float, rate: float, alpha: float, sign: float) -> float:
    """log J, rounded in the direction of the sign."""
    jumps, moves = alpha * math.log(rate), 0.5 * shift * shift * alpha * (alpha - 1.0)
    return jumps + moves + sign * 8.0 * UNIT * (abs(jumps) + moves)
