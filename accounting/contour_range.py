"""The integrand of E[e^{cL}] on the real line: its factors, and how far out it matters.

Every branch of E[e^{tL}] is an integral of phi(x) * prod_j m(sign_j x)^{power_j}, m(x) = 1 - p + p e^{s x - s^2/2},
and each factor is monotone in x.
"""

from __future__ import annotations

import math

import numpy as np

from .contour_paths import Real, Sampled

_CELLS = 256


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
    """log of (at most, at least) the integral of a branch over each cell; 0 must not be inside a cell."""
    growth, log_phi = log_growth(pair, branch, ends), -0.5 * ends * ends - 0.5 * math.log(2.0 * math.pi)
    log_width = np.log(np.diff(ends))
    least = np.minimum(growth[1:], growth[:-1]) + np.minimum(log_phi[1:], log_phi[:-1])
    most = np.maximum(growth[1:], growth[:-1]) + np.maximum(log_phi[1:], log_phi[:-1])
    return least + log_width, most + log_width


def reach(pair: Sampled, top: float, budget: float) -> tuple[float, float]:
    """left < right such that the integrand's mass outside is below e^-budget, for every c in [0, top].

    On one side the integrand is at most phi; on the other it is bounded cell by cell. The mass is log-convex in
    c, so c = 0 and c = top suffice. Sums over nodes at most 1 apart are covered as well as integrals: a cell
    counts with its width plus 1.
    """
    plain = math.sqrt(2.0 * budget) + 1.0
    if pair.order == "hybrid":
        return 0.5 * pair.shift, max(0.5 * pair.shift + 1.0, plain, _far(pair, top, budget))
    if pair.order == "add":
        return -max(plain, _far(pair, top, budget)), max(plain, 0.5 * pair.shift)
    return -plain, max(plain, _far(pair, top, budget))


def _far(pair: Sampled, top: float, budget: float) -> float:
    """Distance from 0 on the side where the integrand may grow before it falls.

    Past `far` it is at most phi(x) e^{power shift (|x| + shift/2)}, whose mass is below e^-budget / 4.
    """
    power = {"add": top, "replace": 1.0 + 2.0 * top}.get(pair.order, 1.0 + top)
    steepest = pair.shift * power
    far = steepest + math.sqrt(2.0 * budget + steepest * (steepest + pair.shift)) + 1.0
    ends = np.linspace(0.0, far, _CELLS + 1)
    side = -1.0 if pair.order == "add" else 1.0
    density = np.zeros(_CELLS)
    for c in (0.0, top):
        growth = log_growth(pair, factors(pair.order, c)[0], side * ends)
        density += np.exp(np.minimum(growth[1:] - 0.5 * ends[:-1] ** 2, 700.0))
    outside = np.cumsum((density * (ends[1] + 1.0))[::-1])[::-1] + math.exp(-budget) / 4.0
    inside = np.nonzero(outside > math.exp(-budget))[0]
    return float(ends[inside[-1] + 1]) if inside.size else float(ends[1])
