"""The integrand of E[e^{cL}] on the real line: its factors, and how far out it matters.

Every branch of E[e^{tL}] is an integral of phi(x) * prod_j m(sign_j x)^{power_j}, m(x) = 1 - p + p e^{s x - s^2/2},
and each factor is monotone in x.
"""

from __future__ import annotations

import math

import numpy as np

from .paths import Real, Sampled


def factors(order: str, c: float) -> tuple[tuple[tuple[int, float], ...], ...]:
    """The (sign, power) of each factor of each branch's integrand at real t = c."""
    if order == "add":
        return (((1, -c),),)
    if order == "replace":
        return (((1, 1.0 + c), (-1, -c)),)
    if order == "hybrid":
        return (((1, 1.0 + c),), ((1, -c),))
    return (((1, 1.0 + c),),)


def log_mixture(pair: Sampled, x: Real) -> Real:
    """log m(x)."""
    y = pair.shift * x - 0.5 * pair.shift**2
    direct = np.log1p(pair.rate * np.expm1(np.minimum(y, 30.0)))
    return np.where(y < 30.0, direct, y + np.log(pair.rate + (1.0 - pair.rate) * np.exp(-np.maximum(y, 30.0))))


def log_growth(pair: Sampled, branch: tuple[tuple[int, float], ...], x: Real) -> Real:
    """log of a branch's integrand over phi(x)."""
    total = np.zeros(x.shape)
    for sign, power in branch:
        if power:
            total += power * log_mixture(pair, sign * x)
    return total


def cell_masses(pair: Sampled, branch: tuple[tuple[int, float], ...], ends: Real) -> tuple[Real, Real]:
    """log of (at least, at most) the integral of a branch over each cell.

    The log integrand f has f'' = -1 + sum_j power_j l_j'' with 0 <= l_j'' <= shift^2 / 4, l_j = log m(sign_j x), and a
    function with f'' >= -k exceeds the larger of its values at the ends of a cell by at most k width^2 / 8.
    """
    value = log_growth(pair, branch, ends) - 0.5 * ends * ends - 0.5 * math.log(2.0 * math.pi)
    width = np.diff(ends)
    bend = 0.25 * pair.shift**2
    concave = 1.0 + bend * sum(max(0.0, -power) for _, power in branch)
    convex = max(0.0, -1.0 + bend * sum(max(0.0, power) for _, power in branch))
    most = np.maximum(value[1:], value[:-1]) + concave * width**2 / 8.0
    least = np.minimum(value[1:], value[:-1]) - convex * width**2 / 8.0
    return least + np.log(width), most + np.log(width)


def reach(pair: Sampled, points: tuple[float, ...], budget: float) -> tuple[float, float]:
    """left < right such that, for every c in points and c = 0, the integrand's mass outside is below e^-budget times
    the moment at c.

    On one side the integrand is at most phi; on the other it is bounded cell by cell. Sums over nodes at most 1
    apart are covered as well as integrals: a cell counts with its width plus 1.
    """
    plain = math.sqrt(2.0 * budget) + 1.0
    far = max(_far(pair, c, budget) for c in (0.0, *points))
    if pair.order == "hybrid":
        return 0.5 * pair.shift, max(0.5 * pair.shift + 1.0, plain, far)
    if pair.order == "add":
        return -max(plain, far), max(plain, 0.5 * pair.shift)
    return -plain, max(plain, far)


def _far(pair: Sampled, c: float, budget: float) -> float:
    """Distance from 0, on the side where the integrand may grow before it falls, past which it does not matter.

    Past the last cell it is at most phi(x) e^{power shift (|x| + shift/2)}, whose mass is below e^-budget / 4.
    """
    power = {"add": c, "replace": 1.0 + 2.0 * c}.get(pair.order, 1.0 + c)
    steepest = pair.shift * power
    far = steepest + math.sqrt(2.0 * budget + steepest * (steepest + pair.shift)) + 1.0
    ends = np.linspace(0.0, far, min(4096, 128 + math.ceil(far)))
    side = -1.0 if pair.order == "add" else 1.0
    branch = tuple((int(sign * side), exponent) for sign, exponent in factors(pair.order, c)[0])
    least, most = cell_masses(pair, branch, ends)
    moment = max(0.0, float(logsumexp(least)))
    most += np.log1p(1.0 / np.diff(ends)) - moment + budget
    outside = np.cumsum(np.exp(np.clip(most, -700.0, 600.0))[::-1])[::-1] + 0.25
    inside = np.nonzero(outside > 1.0)[0]
    return float(ends[inside[-1] + 1]) if inside.size else float(ends[1])


def logsumexp(values: Real) -> float:
    """log(sum(exp(values)))."""
    largest = float(np.max(values))
    return largest + math.log(float(np.sum(np.exp(values - largest))))
