"""delta(eps) from the moments on a vertical line, by the trapezoidal rule, with both ends bounded.

With phi(t) = prod E[e^{t L_i}]^{T_i} and F(t) = phi(t) e^{-eps t} / (t (t + 1)), for step h = 2 pi / P,

    (h / 2 pi) sum_k F(c + i k h) = sum_j e^{j P c} delta(eps + j P),

all of whose terms are non-negative: the sum is at least delta(eps) by itself, and the terms j != 0 are bounded by
real moments (docs/theory/contour.md, section 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bracket import OutOfReach
from ..rounding import PARAMETER, UNIT
from .envelope import envelope
from .moments import Tilted, short
from .paths import Complex, Real
from .rounds import Rounds

MOST_FREQUENCIES = 400_000

MOST_PRODUCTS = 2e8
"""Frequencies times nodes, about a second's work."""

ROUNDING = 120.0
"""UNITs lost in a term and in the sum: numpy adds pairwise, in blocks of 128 by 8 partial sums, so that at most 19 +
log2(terms / 128) roundings meet a term; the rest is that of the term itself."""


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
class Frame:
    """The frequencies k step, 0 <= k < size, on Re t = c, and what is missing from the sum over them.

    sides: c' and a bound on log of the sum over the j on one side of c' e^{c' e} e^{jPc} delta(e + jP), for all e;
    log_tail: at least the log of (h / pi) sum |phi(t) / (t (t+1))| over k >= size.
    """

    c: float
    step: float
    size: int
    sides: tuple[tuple[float, float], ...]
    log_tail: float

    def log_excess(self, epsilon: float) -> float:
        """At least log of sum over j != 0 of e^{jPc} delta(epsilon + jP)."""
        if not self.sides:
            return math.inf
        logs = [log - point * epsilon for point, log in self.sides]
        return max(logs) + math.log(len(logs)) + 1e-6


@dataclass(frozen=True, slots=True)
class Inversion:
    """The moments at t = c + i s, ready for every eps nearby.

    s: the frequencies; terms: phi(t) / phi(c) / (t (t+1)) * h / pi, halved at the first. error, error_slope: bounds
    on the error of the terms' sum, at epsilon = 0 and per unit of epsilon. prefactor: log phi(c), with absolute error
    prefactor_error.
    """

    frame: Frame
    s: Real
    terms: Complex
    error: float
    error_slope: float
    prefactor: float
    prefactor_error: float

    @property
    def c(self) -> float:
        """Re t."""
        return self.frame.c

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        angle = epsilon * self.s
        cosine, sine = np.cos(angle), np.sin(angle)
        value = float((self.terms.real * cosine + self.terms.imag * sine).sum())
        error = self.error + epsilon * self.error_slope
        base = self.prefactor - self.c * epsilon
        base_error = self.prefactor_error + 4.0 * UNIT * (abs(self.prefactor) + self.c * epsilon + 40.0)
        excess = math.exp(min(700.0, self.frame.log_excess(epsilon) - base + base_error))
        turned = self.terms.imag * cosine - self.terms.real * sine
        slope = float((self.s * turned).sum()) / value - self.c if value > 0.0 else -self.c
        return base + _log(value - error - excess) - base_error, base + _log(value + error) + base_error, slope


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def invert(rounds: Rounds, plan: Plan, accuracy: float) -> Inversion:
    """The moments on Re t = c, spaced and truncated for a relative error of about e^-accuracy each.

    rounds must serve every point of the plan. Raises OutOfReach where that takes too many frequencies.
    """
    c = plan.c
    tilts = [(part.tilted(c), count) for part, count in rounds.sampled]
    found = frame(rounds, [tilt for tilt, _ in tilts], plan, accuracy)
    gaussian = 0.5 * rounds.gaussian * c * (c + 1.0)
    prefactor = gaussian + math.fsum(count * tilt.log_moment for tilt, count in tilts)
    prefactor_error = 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(prefactor)
    s: Real = found.step * np.arange(found.size, dtype=np.float64)
    log_phi, error = _phases(rounds, tilts, c, s)
    t = (c + 1j * s).astype(np.complex128)
    terms: Complex = np.exp(log_phi) * (found.step / math.pi) / (t * (t + 1.0))
    terms[0] *= 0.5
    sizes = np.abs(terms)
    total = float((sizes * (error + UNIT * (ROUNDING + 4.0 * np.abs(log_phi)))).sum()) * (1.0 + 2.0**-20)
    total += math.exp(min(700.0, found.log_tail - prefactor + prefactor_error))
    return Inversion(found, s, terms, total, 4.1 * UNIT * float((sizes * s).sum()), prefactor, prefactor_error)


def frame(rounds: Rounds, tilts: list[Tilted], plan: Plan, accuracy: float) -> Frame:
    """Frequencies spaced as planned, such that truncation adds about e^-accuracy relative to delta.

    tilts: the moments on Re t = c of each quadrature.
    """
    step = short(2.0 * math.pi / plan.period)
    goal = plan.log_delta + plan.c * plan.epsilon - accuracy
    frequency, log_tail = truncation(rounds, tilts, plan.c, step, goal)
    sides = tuple(
        (point, log - turns - math.log(-math.expm1(-turns)))
        for point, log in zip(plan.sides, rounds.log_profiles_above(plan.sides), strict=True)
        for turns in (2.0 * math.pi / step * abs(point - plan.c),)
    )
    return Frame(plan.c, step, math.ceil(frequency / step) + 1, sides, log_tail)


def _phases(rounds: Rounds, tilts: list[tuple[Tilted, int]], c: float, s: Real) -> tuple[Complex, Real]:
    """log phi(t) / phi(c) at every frequency of s, which are equally spaced, and bounds on phi(t)'s relative error."""
    log_phi = 0.5 * rounds.gaussian * s * (1j * (2.0 * c + 1.0) - s)
    log_error = 8.0 * PARAMETER * np.abs(log_phi)
    for tilt, count in tilts:
        change = tilt.changes(s)
        moment = np.abs(tilt.moment + change)
        log_phi += count * log1p(change / tilt.moment)
        bound = tilt.error + tilt.change_error + tilt.change_slope * s
        log_error += count * np.log1p(bound / np.maximum(moment, 1e-300))
    return log_phi, np.expm1(np.minimum(log_error, 700.0)) + 40.0 * UNIT * np.abs(log_phi)


def truncation(rounds: Rounds, tilts: list[Tilted], c: float, step: float, goal: float) -> tuple[float, float]:
    """A frequency S with log((h / pi) sum_{s > S} |phi(t) / (t (t+1))|) at most about goal, and that bound.

    |t (t+1)| >= s^2 and sum_{k > n} h / (kh)^2 <= 1 / (nh).
    """
    gaussian = 0.5 * rounds.gaussian
    envelopes = [
        (envelope(part, tilt, math.log(count)), count)
        for (part, count), tilt in zip(rounds.sampled, tilts, strict=True)
    ]
    fall = gaussian + math.fsum(count * part.fall for part, count in envelopes)
    real = gaussian * c * (c + 1.0) * (1.0 + 8.0 * PARAMETER)
    needed = real + math.fsum(count * part.log_moment for part, count in envelopes) - goal
    frequency = 1.08 * math.sqrt(max(1.0, needed) / fall)
    nodes = sum(path.loss.size for part, _ in rounds.sampled for path in part.paths)
    most = min(MOST_FREQUENCIES, MOST_PRODUCTS / max(1, nodes))
    while frequency < (most - 2.0) * step:
        bound = real - gaussian * frequency**2 * (1.0 - 8.0 * PARAMETER) - math.log(math.pi * frequency) + 1e-9
        bound += math.fsum(count * part.log_bound(frequency) for part, count in envelopes)
        if bound <= goal:
            return frequency, bound
        done = needed + goal - bound
        frequency *= 1.02 * math.sqrt(min(16.0, max(1.1, needed / max(done, 1e-300))))
    raise OutOfReach(f"more than {most:.0f} frequencies are needed")


def log1p(z: Complex) -> Complex:
    """log(1 + z), small results to full accuracy relative to |z|."""
    square = z.real * z.real + z.imag * z.imag
    inner = 2.0 * z.real + square
    small = np.abs(inner) < 0.5
    result = np.empty(z.shape, dtype=np.complex128)
    result.real = np.where(
        small, 0.5 * np.log1p(np.where(small, inner, 0.0)), np.log(np.maximum(np.hypot(1.0 + z.real, z.imag), 1e-300))
    )
    result.imag = np.arctan2(z.imag, 1.0 + z.real)
    return result
