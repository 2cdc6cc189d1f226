"""delta(eps) of many rounds whose jumps are rare, with losses cut off where they are too rare to matter.

Jumps make E[e^{cL}] infinite, for practical purposes, at the c where the bulk of many rounds wants its vertical line.
So x is kept in [-left, right]: what that leaves out adds at most rounds P(x outside) to delta, a tiny share of it, and
the moments of what is left are good at every c. Proofs: docs/theory/contour.md, section 14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bracket import OutOfReach
from ..rounding import UNIT
from .climb import Cells
from .interval import CutMoments, cut_moments
from .inversion import log1p
from .moments import short
from .paths import Complex, Real, Sampled

_LINES = np.geomspace(0.3, 150.0, 72)
"""Lines tried, in units of 1/eps."""

_PRICE = 0.3
"""What a unit of log(terms / delta) is worth in log(period)."""

_CELLS = 160
_MOST_PRODUCTS = 500_000
"""Frequencies times nodes."""

_BLOCKS = 8
"""Of frequencies, in each of which Gauss's rule has one bound."""

_COARSE = 30.0
"""Error of log phi at the last frequency from which on Gauss's rule is too coarse."""

GOAL = 23.0
"""-log of what periodicity and truncation may each add, relative to delta."""


@dataclass(frozen=True, slots=True)
class CutInversion:
    """phi(t) / (t (t+1)) step / pi at t = c + i k step, halved at the first, phi = (1 + h)^rounds.

    errors: bounds on the terms' errors at eps = 0; tail: the same on the sum of those that are left out. sides: c' and
    logs of bounds on c'^... times the sum over the periodic copies on one side. left_out: what the cut may add.
    """

    c: float
    t: Complex
    terms: Complex
    errors: Real
    tail: float
    sides: tuple[tuple[float, float], ...]
    left_out: float

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        value, slope, sizes, kernel = self._sum(epsilon)
        units = 120.0 + 24.0 * epsilon * np.abs(self.t)
        error = float((kernel * self.errors).sum()) + UNIT * float((units * sizes).sum())
        error += self.tail * math.exp(-epsilon * self.c)
        excess = math.fsum(math.exp(min(700.0, log - point * epsilon)) for point, log in self.sides)
        low, high = value - 1.001 * (error + excess), value + 1.001 * (error + self.left_out)
        if not math.isfinite(error + excess):
            return -math.inf, math.inf, slope
        return (
            math.log(low) - 8.0 * UNIT * (1.0 + abs(math.log(low))) if low > 1e-300 else -math.inf,
            math.log(high) + 8.0 * UNIT * (1.0 + abs(math.log(high))) if high > 0.0 else -math.inf,
            slope,
        )

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """About log delta(epsilon) and its derivative."""
        value, slope, *_ = self._sum(epsilon)
        return math.log(value) if value > 0.0 else -math.inf, slope

    def _sum(self, epsilon: float) -> tuple[float, float, Real, Real]:
        """delta without errors, its logarithmic slope, the terms' moduli, and the kernel's."""
        kernel = np.exp(-epsilon * self.t)
        terms = self.terms * kernel
        value = float(terms.real.sum())
        slope = -float((self.t * terms).real.sum()) / value if value > 0.0 else -self.c
        return value, min(slope, -0.01 * self.c), np.abs(terms), np.abs(kernel)


def invert_cut(pair: Sampled, rounds: int, epsilon: float, log_delta: float, share: float) -> CutInversion:
    """Near epsilon > 0, where delta is about e^log_delta; about `share` of it is left out.

    Raises OutOfReach where it takes too many frequencies, or where Gauss's rule is too coarse.
    """
    moments = cut_moments(pair, rounds, log_delta + math.log(share))
    c, points, period = _line(moments, rounds, epsilon, log_delta)
    step = short(2.0 * math.pi / period)
    log_most, sides = moments.log_moment_above(c), []
    for point in points:
        turns = 2.0 * math.pi / step * abs(point - c)
        log = rounds * moments.log_moment_above(point) * (1.0 + 1e-12) + _factor(point) - turns
        sides.append((point, log - math.log(-math.expm1(-turns)) + 1e-9))
    highest, log_tail = _truncated(moments, rounds, (c, log_most), log_delta + c * epsilon - GOAL)
    size = math.ceil(highest / step) + 1
    if size * moments.loss.size > _MOST_PRODUCTS:
        raise OutOfReach("too many frequencies are needed")
    t, terms, errors = _terms(moments, rounds, c, step * np.arange(size, dtype=np.float64))
    scale, tail = step / math.pi, math.exp(min(700.0, log_tail))
    return CutInversion(c, t, terms * scale, errors * scale, tail, tuple(sides), rounds * moments.outside * 1.0001)


def _factor(c: float) -> float:
    """log of c^c / (1 + c)^(1 + c): see inversion.py's bound on delta by a real moment."""
    return c * math.log(c) - (1.0 + c) * math.log1p(c) if c else 0.0


def _line(
    moments: CutMoments, rounds: int, epsilon: float, log_delta: float
) -> tuple[float, tuple[float, float], float]:
    """Of several c the one where the terms are small and the period is short, the lines that bound the periodic copies,
    one on either side, and the period."""
    lines = np.concatenate([[0.0], _LINES / epsilon])
    lines = lines[lines * float(moments.loss.max()) < 500.0]
    if lines.size < 8:
        raise OutOfReach("the losses are too large")
    h = np.exp(np.multiply.outer(lines, moments.loss)) @ moments.weight - float(moments.weight.sum())
    heights = rounds * np.log1p(np.maximum(h, 0.0)) - lines * epsilon
    gain = np.maximum(heights + [_factor(line) for line in lines.tolist()] + (GOAL - log_delta), 1.0)
    apart = lines[:, None] - lines
    periods = gain / np.maximum(np.abs(apart), 1e-200)
    below = np.where(apart > 0.0, periods, math.inf)
    above = np.where(apart < 0.0, periods, math.inf)
    period = np.maximum(below.min(axis=1), above.min(axis=1))
    sizes = heights - 2.0 * np.log(np.maximum(lines, 1e-300))
    best = int((np.log(period) + _PRICE * np.maximum(sizes - log_delta, 0.0))[1:].argmin()) + 1
    sides = float(lines[below[best].argmin()]), float(lines[above[best].argmin()])
    return float(lines[best]), sides, float(period[best])


def _truncated(moments: CutMoments, rounds: int, at: tuple[float, float], goal: float) -> tuple[float, float]:
    """A frequency, and log of a bound on what the terms from there on add at eps = 0, at most about goal.

    at: c, and at least log E[e^{cL}].
    """
    (c, log_moment), (left, right) = at, moments.ends
    cells = Cells.of(moments.pair, c, np.linspace(-left, right, _CELLS + 1), log_moment)
    needed = rounds * log_moment - goal
    frequency = 1.08 * math.sqrt(2.0 * max(1.0, needed) / rounds) / _deviation(moments, c)
    for _ in range(24):
        bound = rounds * (log_moment + cells.log_bound(frequency)) - math.log(math.pi * frequency) + 1e-9
        if bound <= goal:
            return frequency, bound
        done = needed + goal - bound
        frequency *= 1.02 * math.sqrt(min(4.0, max(1.1, needed / max(done, 1e-300))))
    raise OutOfReach("the moments fall too slowly")


def _deviation(moments: CutMoments, c: float) -> float:
    """About one round's, tilted by c."""
    weight = moments.weight * np.exp(c * moments.loss)
    mass = float(weight.sum()) + moments.pair.atom
    mean = float(weight @ moments.loss) / mass
    return math.sqrt((float(weight @ (moments.loss - mean) ** 2) + moments.pair.atom * mean * mean) / mass)


def _terms(moments: CutMoments, rounds: int, c: float, s: Real) -> tuple[Complex, Complex, Real]:
    """t, phi(t) / (t (t+1)), halved at the first, and bounds on its error."""
    t = (c + 1j * s).astype(np.complex128)
    size = np.abs(t)
    blocks = min(_BLOCKS, s.size)
    block = np.arange(s.size) * blocks // s.size
    curve = moments.curve(c, s[np.flatnonzero(np.diff(block, append=blocks))])
    if not rounds * curve[-1] * s[-1] ** 2 < _COARSE:
        raise OutOfReach("Gauss's rule is too coarse")
    error = curve[block] * size**2 + size * moments.mean[1]
    h = moments.values(t)
    error += 16.0 * UNIT * (np.abs(h) + size * abs(moments.mean[0]) + moments.missing)
    logs = rounds * log1p(h)
    values: Complex = np.exp(logs) / (t * (t + 1.0))
    values[0] *= 0.5
    moved = rounds * np.log1p(error / np.maximum(np.abs(1.0 + h) - error, 1e-300))
    return t, values, np.abs(values) * (np.expm1(np.minimum(moved, 700.0)) + 48.0 * UNIT * (1.0 + np.abs(logs)))
