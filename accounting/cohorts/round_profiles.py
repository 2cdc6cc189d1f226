"""Upper bounds of one round's profile, for the pairs that a hidden cohort of fixed size can have.

P = (1 - r) N(h) + r N(g) against Q = (1 - r) N(h) + r N(g') depends on the triangle only: with a = g - h and
b = g' - h, a1 the part of a along b and a2 the part across, H_gamma(P||Q) for gamma >= 1 is the integral over the
coordinate x along b of a call option's price (docs/theory/fixed_cohorts.md, section 4):

    phi(x) r [U N(d) - K N(d - a2)],   U = e^{a1 x - a1^2/2},  K = (1-r)(gamma-1)/r + gamma e^{bx - b^2/2},
    d = log(U/K)/a2 + a2/2.

It is analytic in a strip, so the trapezoidal rule's error is e^{-40} or less, by a bound that is part of the result.
Where the triangle is a line there are closed forms. Rounding is towards larger values throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from ...mechanisms.arrays import Floats
from ..rounding import UNIT

TERMS = 2e-13
"""Relative error allowed for each of the two terms whose difference is a profile: scipy's ndtr has up to 300 units
(rounding.py), the arguments' own errors act as a wrong threshold, which is a second-order and downward error."""

_ACCURACY = 42.0
"""-log of the trapezoidal rule's error, relative to 4 r."""

_REACH = 9.5
"""How far from their centre, in standard deviations, the nodes go: what is left out is below 1e-18 r."""

MOST_NODES = 6000
"""Triangles flatter than that many nodes can resolve are left to the caller's other bound."""

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Triangle:
    """a1, a2: the unit's contribution less its substitute's, along and across b; b: the other value's, less the same.

    In units of the noise. b = 0 or a2 = 0 are lines: then a1 = 0 (one of the two is the substitute's) or a1 = 2 b.
    """

    a1: float
    a2: float
    b: float


def above(losses: Floats, rate: float, triangle: Triangle) -> Floats | None:
    """At least H_gamma(P||Q) at gamma = e^losses, losses >= 0; None where the triangle is too flat to be resolved.

    Source: docs/theory/fixed_cohorts.md, section 4.
    """
    if triangle.b == 0.0:
        return remove_above(losses, rate, triangle.a2)
    if triangle.a2 == 0.0:
        line = add_above if triangle.a1 == 0.0 else opposed_above
        return line(losses, rate, triangle.b)
    return _call_above(losses, rate, triangle)


def remove_above(losses: Floats, rate: float, move: float) -> Floats:
    """At least the profile of ((1-r) N(0) + r N(move), N(0)) at losses >= 0; rate 1 is a plain Gaussian round."""
    strike = 1.0 + np.expm1(losses) / rate
    threshold = np.log(strike) / move + 0.5 * move
    return _difference(rate * ndtr(move - threshold), rate * strike * ndtr(-threshold))


def add_above(losses: Floats, rate: float, move: float) -> Floats:
    """At least the profile of (N(0), (1-r) N(0) + r N(move)) at losses >= 0."""
    odds = np.exp(losses)
    strike = 1.0 + np.expm1(-losses) / rate
    inside = strike > 1e-300
    threshold = np.log(np.where(inside, strike, 1.0)) / move + 0.5 * move
    value = _difference(odds * rate * strike * ndtr(threshold), odds * rate * ndtr(threshold - move))
    return np.where(inside, value, 1e-290)


def opposed_above(losses: Floats, rate: float, move: float) -> Floats:
    """At least the profile of ((1-r) N(0) + r N(2 move), (1-r) N(0) + r N(move)) at losses >= 0.

    With w = e^{move x}, P > gamma Q where w^2 e^{-2 move^2} - gamma w e^{-move^2/2} > (1-r)(gamma-1)/r: past one root.
    """
    odds = np.exp(losses)
    square, linear = math.exp(-2.0 * move * move), odds * math.exp(-0.5 * move * move)
    constant = (1.0 - rate) * np.expm1(losses) / rate
    root = (linear + np.sqrt(linear * linear + 4.0 * square * constant)) / (2.0 * square)
    x = np.log(root) / move
    rest = (1.0 - rate) * np.expm1(losses) * ndtr(-x)
    return _difference(rate * ndtr(2.0 * move - x), odds * rate * ndtr(move - x) + rest)


def _difference(first: Floats, second: Floats) -> Floats:
    """At least first - second >= 0, each of them within TERMS."""
    return np.asarray(np.maximum(first - second, 0.0) + TERMS * (first + second) + 1e-290)


def _call_above(losses: Floats, rate: float, triangle: Triangle) -> Floats | None:
    """The trapezoidal sum, and its error added (Theorem 5: the strip's width is y, its bound 2 r e^{(1+k^2) y^2/2})."""
    a1, a2, b = triangle.a1, triangle.a2, triangle.b
    steepness = 1.0 + (max(abs(a1), abs(a1 - b)) / a2) ** 2
    width = min(math.sqrt(2.0 * _ACCURACY / steepness), 1.5 / b)
    step = 2.0 * math.pi * width / (_ACCURACY + 0.5 * steepness * width * width) * (1 - 1e-9)
    count = math.ceil(_REACH / step)
    if 2 * count + 1 > MOST_NODES:
        return None
    x = a1 + step * np.arange(-count, count + 1)
    log_u, w = a1 * x - 0.5 * a1 * a1, np.exp(b * x - 0.5 * b * b)
    weight = (rate * step / math.sqrt(2.0 * math.pi)) * np.exp(-0.5 * x * x)
    u = weight * np.exp(log_u)
    result = np.empty(losses.size)
    rows, terms = max(1, _CHUNK // x.size), TERMS + x.size * UNIT
    for start in range(0, losses.size, rows):
        loss = losses[start : start + rows, None]
        strike = (1.0 - rate) / rate * np.expm1(loss) + np.exp(loss) * w
        d = (log_u - np.log(strike)) / a2 + 0.5 * a2
        first, second = ndtr(d) @ u, (strike * ndtr(d - a2)) @ weight
        result[start : start + rows] = np.maximum(first - second, 0.0) + terms * (first + second)
    missing = rate * (4.1 * math.exp(-_ACCURACY) + 2.0 * float(ndtr(step - _REACH)))
    return result * (1 + 1e-12) + missing
