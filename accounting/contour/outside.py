"""Bounds on S = M^rounds - 1 - rounds h where it is not summed: off the ray, and past its end (see several.py).

All start from |S| <= m min(2 rounds |h|, (rounds |h|)^2 / 2), m = max(1, |M|)^rounds, and from bounds on |h| of first
or second order in t. Proofs: docs/theory/contour.md, section 13. floor: log(1 - rate) = -lambda; start: E[e^{cu}] - 1
and its error.
"""

from __future__ import annotations

import math

import numpy as np

from ..bracket import OutOfReach
from ..rounding import UNIT
from .paths import Real
from .ray import Near, Side
from .rotated import Rotated

GOAL = 27.0
"""-log of what the ray's remainder and the trapezoidal rule may each add, relative to delta."""

MOST_OCTAVES = 60


def _second_order(growth: float, floor: float, c: float) -> float:
    """At least G - 1 - lambda c + lambda^2 c^2 / 2 for G - 1 <= growth at c."""
    return growth + floor * c + 0.5 * (floor * c) ** 2 + 64.0 * UNIT * (growth - floor * c)


def vertical(c: float, rounds: int, floor: float, start: tuple[float, float]) -> float:
    """At least the integral of |S / t^2| over Re t = c, Im t > 0.

    |h| <= min(a |t|^2, b) with a, b below; |S| <= 2 M(c)^rounds rounds |h|.
    """
    growth = start[0] + start[1]
    b = 2.0 + growth
    a = max(_second_order(growth, floor, c) / c**2, 1e-300)
    log_most = max(0.0, rounds * (math.log1p(growth) + floor * c)) + 1e-6
    return 6.0 * math.exp(min(700.0, log_most)) * rounds * math.sqrt(a * b) * 1.0001


def most_near(nodes: Rotated, polynomial: Near, rounds: int, floor: float, start: tuple[float, float]) -> float:
    """At least |S / (t (t+1))| for |t - c| <= near."""
    c, near = nodes.c, polynomial.reach
    low, high, farthest = c - near, c + near, 1.001 * float(nodes.length.max())
    growth = polynomial.growth_above(near, start[0], 2.0 * start[1], farthest)
    plain = max(0.0, growth + floor * high + 64.0 * UNIT * (growth - floor * high))
    change = plain * high / low + 0.5 * (floor * high) ** 2
    log_most = max(0.0, rounds * (math.log1p(growth) + floor * high)) + 1e-6
    return 1.0001 * _bounded(rounds * change, math.exp(min(700.0, log_most))) / (low * (low + 1.0))


def _bounded(moved: float, most: float) -> float:
    """At least |S| where rounds |h| = moved and |M|^rounds <= most >= 1."""
    return most * min(2.0 * moved, 0.5 * moved * moved)


def remainder(
    nodes: Rotated, near: float, rounds: int, floor: float, least: float, log_delta: float
) -> tuple[float, float]:
    """Where the ray may end for eps >= least, and a bound on the integral of |S / t^2| from there on.

    |M| <= e^{log_largest + floor Re t}.
    """
    last, goal = 2.0 * near, log_delta - GOAL  # an octave at least, which the sums over octaves rely on
    for _ in range(MOST_OCTAVES + 1):
        along = nodes.c + last * nodes.fan.direction.real
        log_most = nodes.log_largest + floor * along
        logs = max(0.0, rounds * log_most) + math.log(rounds) + max(0.0, log_most) + math.log(4.0)
        logs += 1e-6 + 64.0 * UNIT * rounds * (abs(nodes.log_largest) - floor * along) - math.log(last)
        if logs - least * along <= goal:
            return last, math.exp(min(700.0, logs))
        last *= 2.0
    raise OutOfReach("the ray is too long")


def inner(side: Side, rounds: int, floor: float, log_largest: float) -> tuple[Real, Real]:
    """In cells of the sector's inner side: Re t at the start, and log of a bound on the integral of |S / t^2|.

    log_largest: at least log |G|. M changes in a cell by a factor e^{-w x} (1 + z), 0 <= x <= 1, w = -floor move,
    z = x linear + x^2 square + rest.
    """
    w = -floor * side.move
    log_most = side.log_size + floor * side.t.real
    grown = side.grown(rounds, rounds * w.real)
    logs = np.minimum(rounds * log_most + grown, rounds * (log_largest + floor * side.t.real))
    logs = np.maximum(0.0, logs) + 1e-9
    logs += 64.0 * UNIT * rounds * (np.abs(side.log_size) - floor * np.abs(side.t))
    apart = np.abs(side.linear - w) + np.abs(side.square) + side.rest + np.abs(w) * (0.5 * np.abs(w) + side.whole)
    change = np.abs(side.moment * np.exp(floor * side.t) - 1.0) + np.exp(log_most) * apart
    change = np.minimum(change, 1.0 + math.exp(log_largest))
    moved = rounds * (1.0001 * change + 1e-13)
    logs += np.log(np.minimum(2.0 * moved, 0.5 * moved * moved))
    return side.t.real * (1.0 - 1e-12), logs + side.log_length + 1e-9
