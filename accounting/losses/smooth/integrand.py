"""The integrand of E[e^{cL}] on the real line: its factors, and how far out it matters.

Every branch of E[e^{tL}] is an integral of phi(x) * prod_j m(sign_j x)^{power_j}, m(x) = 1 - p + p e^{s x - s^2/2},
and each factor is monotone in x.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from scipy.special import expit, ndtr, ndtri_exp

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs.order import Sampling
from .paths import Sampled

Power = TypeVar("Power", float, Floats)
Branch = tuple[tuple[int, Power], ...]
"""The (sign, power) of each factor of one branch."""


def factors(order: Sampling, c: Power) -> tuple[Branch[Power], ...]:
    """The (sign, power) of each factor of each branch's integrand at real t = c; c may be a column of several."""
    if order == Sampling.ADD:
        return (((1, -c),),)
    if order == Sampling.REPLACE:
        return (((1, 1.0 + c), (-1, -c)),)
    if order == Sampling.HYBRID:
        return (((1, 1.0 + c),), ((1, -c),))
    return (((1, 1.0 + c),),)


def log_mixture(pair: Sampled, x: Floats) -> Floats:
    """log m(x)."""
    y: Floats = pair.shift * x - 0.5 * pair.shift**2
    if np.max(y) < 30.0:
        return np.log1p(pair.rate * np.expm1(y))
    direct = np.log1p(pair.rate * np.expm1(np.minimum(y, 30.0)))
    return np.where(y < 30.0, direct, y + np.log(pair.rate + (1.0 - pair.rate) * np.exp(-np.maximum(y, 30.0))))


def cell_masses(pair: Sampled, branch: Branch[Power], ends: Floats) -> tuple[Floats, Floats]:
    """log of (at least, at most) the integral of a branch over each cell; a row for each power of a column of them.

    The log integrand f has f'' = -1 + sum_j power_j l_j'', l_j = log m(sign_j x), l_j'' = shift^2 share (1 - share) for
    the jump's share of m, and a function with f'' >= -k exceeds the larger of its values at the ends of a cell by at
    most k width^2 / 8.
    """
    value = -0.5 * ends * ends - 0.5 * math.log(2.0 * math.pi)
    label = np.broadcast_to(pair.log_unlabelled(ends), ends.shape)  # falls
    concave, convex = np.array(1.0), np.array(-1.0)
    for sign, power in branch:
        value = value + power * log_mixture(pair, sign * ends)
        bend = _steepest_bend(pair, sign * ends)
        concave = concave + bend * np.maximum(0.0, -power)
        convex = convex + bend * np.maximum(0.0, power)
    width = ends[1:] - ends[:-1]
    log_width, eighth = np.log(width), 0.125 * width * width
    most = np.maximum(value[..., 1:], value[..., :-1]) + (concave * eighth + log_width)
    least = np.minimum(value[..., 1:], value[..., :-1]) - (np.maximum(0.0, convex) * eighth - log_width)
    return least + label[1:], most + label[:-1]


def _steepest_bend(pair: Sampled, ends: Floats) -> Floats:
    """At least l'' of l = log m on each cell: shift^2 share (1 - share), where the share is monotone."""
    share = expit(math.log(pair.rate) - math.log1p(-pair.rate) - 0.5 * pair.shift**2 + pair.shift * ends)
    straddles = (share[1:] - 0.5) * (share[:-1] - 0.5) <= 0.0
    product = share * (1.0 - share)
    result: Floats = pair.shift**2 * np.where(straddles, 0.25, np.maximum(product[1:], product[:-1]))
    return result


def kept_range(pair: Sampled, points: tuple[float, ...], budget: float) -> tuple[float, float]:
    """left < right such that, for every c in points and c = 0, the integrand's mass outside is below e^-budget times
    the moment at c.

    On one side the integrand is at most phi; on the other it is bounded cell by cell. Sums over nodes at most 1
    apart are covered as well as integrals: a cell counts with its width plus 1.
    """
    plain = math.sqrt(2.0 * budget) + 1.0
    if pair.cut < math.inf:
        return -plain, pair.cut
    far = _far(pair, points, budget)
    if pair.order == Sampling.HYBRID:
        return 0.5 * pair.shift, max(0.5 * pair.shift + 1.0, plain, far)
    if pair.order == Sampling.ADD:
        return -max(plain, far), max(plain, 0.5 * pair.shift)
    return -plain, max(plain, far)


def _far(pair: Sampled, points: tuple[float, ...], budget: float) -> float:
    """Distance from 0, on the side where the integrand may grow before it falls, past which it does not matter.

    There the log integrand f has f'(x) <= steepest - x for x > 0. The largest c is the worst: moments are at least 1,
    and past shift/2 the integrand increases in c. So past x > steepest + 1 the mass, of sums too, is at most
    2 e^{f(x)}; cells are needed only where that asks for too much.
    """
    top = max(points)
    steepest = pair.shift * {Sampling.ADD: top, Sampling.REPLACE: 1.0 + 2.0 * top}.get(pair.order, 1.0 + top)
    far = max(math.sqrt(2.0 * budget) + 1.0, 0.5 * pair.shift)
    if steepest + 1.0 > far:
        # m >= 1 - rate leaves phi (1 - rate)^-c of the add order.
        flat = (
            math.sqrt(2.0 * (budget - top * math.log1p(-pair.rate))) + 1.0 if pair.order == Sampling.ADD else math.inf
        )
        return flat if flat < 1.5 * far else _far_by_cells(pair, points, steepest, budget)
    side = -1.0 if pair.order == Sampling.ADD else 1.0
    while log_growth(pair, top, side * far) - 0.5 * far * far > -budget:
        far = 1.01 * math.sqrt(2.0 * (budget + log_growth(pair, top, side * far)))
    return far


def log_growth(pair: Sampled, c: float, x: float) -> float:
    """log of the first branch's integrand over phi at one x."""
    total = 0.0
    for sign, power in factors(pair.order, c)[0]:
        y = pair.shift * sign * x - 0.5 * pair.shift**2
        log = math.log1p(pair.rate * math.expm1(y)) if y < 30.0 else y + math.log(pair.rate + math.exp(-y))
        total += power * log
    return total + float(pair.log_unlabelled(np.array(x)))


def _far_by_cells(pair: Sampled, points: tuple[float, ...], steepest: float, budget: float) -> float:
    """The same, from bounds on the integrand over cells.

    Past the last cell it is at most phi(x) e^{power shift (|x| + shift/2)}, whose mass is below e^-budget / 4; that is
    weakest for the largest c. One row of cells for each c.
    """
    far = steepest + math.sqrt(2.0 * budget + steepest * (steepest + pair.shift)) + 1.0
    count = min(4096, 64 + math.ceil(far))
    ends = far / count * np.arange(count + 1.0)
    side = -1 if pair.order == Sampling.ADD else 1
    column = np.array([(0.0,), *((point,) for point in points)])
    branch = tuple((sign * side, power) for sign, power in factors(pair.order, column)[0])
    least, most = cell_masses(pair, branch, ends)
    largest = np.max(least, axis=1, keepdims=True)
    moment = largest + np.log(np.sum(np.exp(least - largest), axis=1, keepdims=True))
    most += math.log1p(count / far) + budget - np.maximum(0.0, moment)
    outside = np.cumsum(np.max(np.exp(np.clip(most, -700.0, 600.0)), axis=0)[::-1])[::-1]
    inside = np.nonzero(outside > 0.75)[0]
    return float(ends[inside[-1] + 1]) if inside.size else float(ends[1])


_VALLEY = 40.0
_PLACES = 400
"""How far beyond the first place that is allowed the valley is looked for, and at how many places."""


def beyond(pair: Sampled, log_mass: float) -> float:
    """About a place above which x is with a probability of at most e^log_mass."""
    share = log_mass - math.log(2.0)
    jump = pair.shift - float(ndtri_exp(min(-0.1, share - math.log(pair.rate))))
    return max(-float(ndtri_exp(min(-0.1, share))), jump)


def farthest(pair: Sampled, budget: float) -> float:
    """About the largest c at which the valley is e^-budget deep, as `valley` finds it."""
    if pair.cut == math.inf:
        return math.inf
    x = _places(pair)
    loss, base = _loss(pair, x), log_mixture(pair, x) - 0.5 * x * x + pair.log_unlabelled(x)
    flat = np.minimum.accumulate((base[0] - base[1:]) / (loss[1:] - loss[0]))  # no outcome before it matters more
    deep = (-budget - base) / loss
    return max(0.0, float(np.max(np.minimum(deep, np.concatenate([deep[:1], flat])))))


def valley(pair: Sampled, top: float, budget: float) -> float:
    """A place from pair.cut on where the log integrand at c = top is about -budget or less, or least.

    Raises OutOfReach where what is left out could make moments smaller than 1.
    """
    x = _places(pair)
    height = log_mixture(pair, x) + top * _loss(pair, x) - 0.5 * x * x + pair.log_unlabelled(x)
    height = height[: int(np.argmax(height > height[0])) or None]  # beyond, outcomes matter that are to be left out
    deep = np.flatnonzero(height <= -budget)
    best = int(deep[0]) if deep.size else int(np.argmin(height))
    at, shift = float(x[best]), pair.shift
    out = [float(ndtr(mean - at) + ndtr((mean - pair.place) / pair.widened)) for mean in (0.0, shift, 2.0 * shift)]
    missing = pair.rate * (2.0 * out[0] + out[1] + pair.rate * math.exp(shift * shift) * out[2])
    if not top * missing + pair.apart <= SMALLER:
        raise OutOfReach("outcomes that matter would be left out")
    return at


SMALLER = 0.25
"""At most by how much the moments of what is kept are below 1."""


def _places(pair: Sampled) -> Floats:
    return pair.cut + _VALLEY * np.linspace(0.0, 1.0, _PLACES) ** 2


def _loss(pair: Sampled, x: Floats) -> Floats:
    other = log_mixture(pair, -x) if pair.order == Sampling.REPLACE else 0.0
    return np.asarray(log_mixture(pair, x) - other)
