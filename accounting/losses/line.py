"""delta(eps) from a measure's transform on a vertical line, by the trapezoidal rule, with both ends bounded.

With phi(t) the integral of e^{tL} and F(t) = phi(t) e^{-eps t} / (t (t + 1)), for step h = 2 pi / P,

    (h / 2 pi) sum_k F(c + i k h) = sum_j e^{j P c} delta(eps + j P),

all of whose terms are non-negative: the sum is at least delta(eps) by itself, and the terms j != 0 (the aliases) are
bounded by real moments. Where phi falls too slowly for finitely many frequencies, one more Gaussian round is added, of
a tiny shift sigma: the profile only grows, phi gains the factor e^{sigma^2 t (t + 1) / 2}, and what the profile grows
by is at most sigma^2 e^{sigma^2 / 8} times the density of the smoothed loss at eps, whose transform has no denominator.
So both bounds come from one transform. Proofs: docs/theory/inversion.md, sections 2 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Complex, Floats
from ..bracket import OutOfReach
from ..rounding import UNIT, End
from .measure import Measure, OnLine, Transform

ROUNDING = 120.0
"""UNITs lost in a term and in the sum: numpy adds pairwise, in blocks of 128 by 8 partial sums, so that at most 19 +
log2(terms / 128) roundings meet a term; the rest is that of the term itself."""

NATURAL = 600
"""Frequencies up to which no smoothing is thought of."""

_MOST_LIFT = 20.0
"""Twice the logarithm by which smoothing may enlarge the terms."""

_MOST_SQUARE = 8.0
"""A smoothing round whose square is larger costs lower bounds the factor e in its weight; at 5,600 it overflows."""

_LARGEST = 700.0
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to invert: on Re t = c, for eps near epsilon, where delta is about e^log_delta.

    sides: other c', on both sides of c, whose real moments bound the periodic copies; without them only upper ends
    are found. period: the period 2 pi / h at which these copies should no longer matter. cancellation: about log of
    how much larger the terms are than delta.
    """

    c: float
    sides: tuple[float, ...]
    period: float
    epsilon: float
    log_delta: float
    cancellation: float

    @property
    def points(self) -> tuple[float, ...]:
        """Every Re t in use."""
        return (self.c, *self.sides)


@dataclass(frozen=True, slots=True)
class Sum:
    """phi(t) / (t (t+1)) h / pi, halved at the first frequency, over e^log_scale, ready for every eps.

    error: bound on the error of the terms' sum at eps = 0, truncation included; drift: what it gains per unit of eps.
    scale_error: of log_scale.
    """

    terms: Complex
    log_scale: float
    scale_error: float
    error: float
    drift: float

    def at(self, c: float, epsilon: Floats, cosine: Floats, sine: Floats) -> tuple[Floats, Floats, Floats]:
        """(log of the unit, the sum, bound on its error) at every epsilon: a row each of the cosines and sines."""
        value = (self.terms.real * cosine + self.terms.imag * sine).sum(axis=1)
        size = np.abs(epsilon)
        slack = self.scale_error + 4.0 * UNIT * (abs(self.log_scale) + c * size + 40.0)
        error = self.error + size * self.drift
        with np.errstate(over="ignore"):  # far from where it was laid out it says nothing
            error += (np.abs(value) + error) * np.expm1(np.minimum(slack, _LARGEST))
        return self.log_scale - c * epsilon, value, error


@dataclass(frozen=True, slots=True)
class Inversion:
    """Bounds of a measure's profile: valid for every eps >= 0, narrow near where they were laid out.

    s: the frequencies on Re t = c. above, below: for upper and lower bounds. aliases: c' and a bound on log of the sum
    over the j on one side of c' e^{c' e} e^{jPc} delta(e + jP), for all e.
    """

    c: float
    s: Floats
    above: Sum
    below: Sum
    aliases: tuple[tuple[float, float], ...]

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        lower, upper, slope = self.log_deltas(np.array([epsilon]))
        return float(lower[0]), float(upper[0]), float(slope[0])

    def log_deltas(self, epsilon: Floats) -> tuple[Floats, Floats, Floats]:
        """The same at every epsilon, of either sign."""
        angle = np.multiply.outer(epsilon, self.s)
        cosine, sine = np.cos(angle), np.sin(angle)
        base, high, error = self.above.at(self.c, epsilon, cosine, sine)
        upper = base + _log((high + error) * (1.0 + 8.0 * UNIT)) + 4.0 * UNIT * np.abs(base)
        turned = ((self.above.terms.imag * cosine - self.above.terms.real * sine) * self.s).sum(axis=1)
        slope = np.where(high > 0.0, turned / np.where(high > 0.0, high, 1.0), 0.0) - self.c
        if self.below is not self.above:
            base, high, error = self.below.at(self.c, epsilon, cosine, sine)
        excess = np.exp(np.minimum(_LARGEST, self._log_aliases(epsilon) - base + 8.0 * UNIT * np.abs(base)))
        lower = base + _log((high - error - excess) * (1.0 - 8.0 * UNIT)) - 4.0 * UNIT * np.abs(base)
        return lower, upper, slope

    def _log_aliases(self, epsilon: Floats) -> Floats:
        """At least log of sum over j != 0 of e^{jPc} delta(epsilon + jP)."""
        if not self.aliases:
            return np.full(epsilon.shape, math.inf)
        logs = [log - point * epsilon for point, log in self.aliases]
        return np.asarray(np.max(logs, axis=0) + (math.log(len(logs)) + 1e-6))


def log_peak(c: float) -> float:
    """log sup_x (1 - e^-x)_+ e^-cx, so that delta(eps) <= exp(log_peak(c) + log phi(c) - c eps).

    c log c - (1 + c) log(1 + c), written without terms that cancel.
    """
    if c < 1.0:
        return c * math.log(c) - (1.0 + c) * math.log1p(c) if c else 0.0
    return -c * math.log1p(1.0 / c) - math.log1p(c)


def log_peaks(points: Floats) -> Floats:
    """The same, of many."""
    with np.errstate(divide="ignore", invalid="ignore"):
        small = points * np.log(points) - (1.0 + points) * np.log1p(points)
        large = -points * np.log1p(1.0 / points) - np.log1p(points)
    return np.where(points >= 1.0, large, np.where(points > 0.0, small, 0.0))


def invert(above: Measure, below: Measure, plan: Plan, accuracy: float, square: float, most: int) -> Inversion:
    """Upper bounds from one measure and lower bounds from another, or the same.

    Spaced as planned, and truncated for a relative error of about e^-accuracy. square: of the smoothing round's shift,
    where one is needed. Raises OutOfReach where more than `most` frequencies would be.
    """
    line = above.on(plan.c)
    square = shifted(plan.c, square)
    goal = plan.log_delta + plan.c * plan.epsilon - accuracy
    try:
        frequency = truncation(line, plan, goal, 0.0, NATURAL)
        square = 0.0
    except OutOfReach:
        frequency = truncation(line, plan, goal, square, most)
    count = math.ceil(frequency * plan.period / (2.0 * math.pi)) + 1
    transform = line.transform(plan.period, count)
    high = summed(line, plan.c, transform, square, End.UPPER)
    other = line if below is above else below.on(plan.c)
    if below is not above:
        transform = other.transform(plan.period, count)
    low = summed(other, plan.c, transform, square, End.LOWER) if square or below is not above else high
    return Inversion(plan.c, transform.s, high, low, aliases(below, plan, 2.0 * math.pi / float(transform.s[1])))


def shifted(c: float, square: float) -> float:
    """The square of the smoothing round's shift that `invert` takes on Re t = c, where it smooths."""
    return min(square, _MOST_SQUARE, _MOST_LIFT / (c * (c + 1.0)))


def aliases(measure: Measure, plan: Plan, period: float) -> tuple[tuple[float, float], ...]:
    """For Inversion: a geometric series on either side of j = 0."""
    if not plan.sides:
        return ()
    logs = measure.log_moments(np.array(plan.sides))
    turns = [period * (1.0 - 1e-12) * abs(point - plan.c) for point in plan.sides]
    return tuple(
        (point, float(log) + log_peak(point) - turn - math.log(-math.expm1(-turn)) + 1e-9)
        for point, log, turn in zip(plan.sides, logs, turns, strict=True)
    )


def truncation(line: OnLine, plan: Plan, goal: float, square: float, most: int) -> float:
    """A frequency past which the terms' sum is below about e^goal: the first of growing ones, since a few per cent more
    cost less than the evaluations by which `crossing` would tell the least."""
    limit = 2.0 * math.pi / plan.period * most
    first = 1e-3 / plan.period
    needed = max(1.0, log_tail(line, plan.c, first, square) + math.log(math.pi * first) - goal)
    fall = line.fall + 0.5 * square
    frequency = 1.08 * math.sqrt(needed / fall) if fall > 0.0 else math.inf
    for _ in range(_STEPS):
        if not frequency < limit:
            break
        reached = log_tail(line, plan.c, frequency, square)
        if reached <= goal:
            return frequency
        frequency *= 1.02 * math.sqrt(min(16.0, max(1.1, needed / max(needed + goal - reached, 1e-300))))
    raise OutOfReach("too many frequencies are needed")


def log_tail(line: OnLine, c: float, frequency: float, square: float) -> float:
    """At least log of (h / pi) sum |phi(t) / (t (t+1))| over s > frequency, and of square times the same without the
    denominator: |t (t+1)| >= s^2, sum_{k > n} h / (kh)^2 <= 1 / (nh), and
    square * integral of e^{-square s^2 / 2} over s > S is at most e^{-square S^2 / 2} / S."""
    smoothing = 0.5 * square * (c * (c + 1.0) * (1.0 + 1e-14) - frequency**2 * (1.0 - 1e-14))
    return line.log_bound(frequency) + smoothing - math.log(math.pi * frequency) + 1e-9


def summed(line: OnLine, c: float, transform: Transform, square: float, end: End) -> Sum:
    """The terms of the smoothed profile; for lower bounds, of that less square e^{square / 8} times the density."""
    s, values = transform.s, transform.values
    t: Complex = (c + 1j * s).astype(np.complex128)
    product = t * (t + 1.0)
    kernel: Complex = np.exp(0.5 * square * product) * (float(s[1]) / math.pi) / product
    kernel[0] *= 0.5
    size = np.abs(kernel)
    if end is End.LOWER and square:
        weight = square * math.exp(0.125 * square) * (1.0 + 4.0 * UNIT)
        kernel = kernel * (1.0 - weight * product)
        size = size * (1.0 + weight * np.abs(product))
    units = UNIT * (ROUNDING + 8.0 * square * np.abs(product))
    moduli = np.abs(values)
    error = float((size * (transform.errors + units * moduli)).sum()) * (1.0 + 2.0**-20)
    tail = math.exp(
        min(_LARGEST, log_tail(line, c, float(s[-1]), square) - transform.log_scale + transform.scale_error)
    )
    drift = 8.0 * UNIT * float((size * moduli * s).sum())
    terms = values * kernel
    missing = tail if end is End.UPPER else (1.0 + math.exp(min(0.125 * square, _LARGEST))) * tail
    return Sum(terms, transform.log_scale, transform.scale_error, error + missing, drift)


def _log(value: Floats) -> Floats:
    return np.log(value, out=np.full(value.shape, -math.inf), where=value > 0.0)
