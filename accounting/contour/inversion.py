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


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to invert: on Re t = c, for eps near epsilon, where delta is about e^log_delta.

    points: other c', on both sides of c, whose real moments bound the periodic copies. cancellation: about log of
    how much larger the terms are than delta.
    """

    c: float
    points: Real
    epsilon: float
    log_delta: float
    cancellation: float

    @property
    def all_points(self) -> tuple[float, ...]:
        """Every Re t in use."""
        return (self.c, *(float(point) for point in self.points))


@dataclass(frozen=True, slots=True)
class Frame:
    """The frequencies k step, 0 <= k < size, on Re t = c, and what is missing from the sum over them.

    points, points_log: c' and bounds on log(e^{c' e} delta(e)) for all e; log_tail: at least the log of
    (h / pi) sum |phi(t) / (t (t+1))| over k >= size.
    """

    c: float
    step: float
    size: int
    points: Real
    points_log: Real
    log_tail: float

    def log_excess(self, epsilon: float) -> float:
        """At least log of sum over j != 0 of e^{jPc} delta(epsilon + jP)."""
        turns = 2.0 * math.pi / self.step * np.abs(self.points - self.c)
        log_sums = self.points_log - self.points * epsilon - turns - np.log(-np.expm1(-turns))
        below = self.points < self.c
        return float(np.logaddexp(np.min(log_sums[below]), np.min(log_sums[~below]))) + 1e-6


@dataclass(frozen=True, slots=True)
class Inversion:
    """The moments at t = c + i k h, ready for every eps nearby.

    log_phi: log of phi(t) / phi(c); error: bounds on the relative error of phi(t); prefactor: log phi(c), with
    absolute error prefactor_error.
    """

    frame: Frame
    log_phi: Complex
    error: Real
    prefactor: float
    prefactor_error: float

    @property
    def c(self) -> float:
        """Re t."""
        return self.frame.c

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        c, step = self.frame.c, self.frame.step
        s = step * np.arange(self.frame.size)
        t = c + 1j * s
        terms = np.exp(self.log_phi - 1j * (epsilon * s)) / (t * (t + 1.0)) * (step / math.pi)
        terms[0] *= 0.5
        value = math.fsum(terms.real)
        rounding = UNIT * (60.0 + 4.0 * np.abs(self.log_phi) + 4.0 * epsilon * s)
        error = math.fsum(np.abs(terms) * (self.error + rounding)) * (1.0 + 2.0**-30)
        error += math.exp(min(700.0, self.frame.log_tail - self.prefactor + self.prefactor_error))
        base = self.prefactor - c * epsilon
        base_error = self.prefactor_error + 4.0 * UNIT * (abs(self.prefactor) + c * epsilon + 40.0)
        excess = math.exp(min(700.0, self.frame.log_excess(epsilon) - base + base_error))
        slope = -math.fsum((terms * t).real) / value if value > 0.0 else -c
        return base + _log(value - error - excess) - base_error, base + _log(value + error) + base_error, slope


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


def invert(rounds: Rounds, plan: Plan, accuracy: float) -> Inversion:
    """The moments on Re t = c, spaced and truncated for a relative error of about e^-accuracy each.

    rounds must serve every point of the plan. Raises OutOfReach where that takes too many frequencies.
    """
    c = plan.c
    tilts = [(part.tilted(c), count) for part, count in rounds.sampled]
    found = frame(rounds, [tilt.log_moment_above() for tilt, _ in tilts], plan, accuracy)
    gaussian = 0.5 * rounds.gaussian * c * (c + 1.0)
    prefactor = gaussian + math.fsum(count * tilt.log_moment for tilt, count in tilts)
    log_phi, error = _phases(rounds, tilts, found)
    return Inversion(found, log_phi, error, prefactor, 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(prefactor))


def frame(rounds: Rounds, log_moments: list[float], plan: Plan, accuracy: float) -> Frame:
    """Frequencies such that periodicity and truncation each add about e^-accuracy relative to delta.

    log_moments: at least log E[e^{cL}] of each quadrature, and within 1e-12 of it.
    """
    points_log = rounds.log_profile_above(plan.points)
    step = short(2.0 * math.pi / _period(plan, points_log, accuracy))
    goal = plan.log_delta + plan.c * plan.epsilon - accuracy
    frequency, log_tail = _truncation(rounds, log_moments, plan.c, step, goal)
    return Frame(plan.c, step, math.ceil(frequency / step) + 1, plan.points, points_log, log_tail)


def _period(plan: Plan, points_log: Real, accuracy: float) -> float:
    """The period 2 pi / h at which the periodic copies on either side add about e^-accuracy relative to delta."""
    gain = points_log - plan.points * plan.epsilon - plan.log_delta + accuracy
    periods = np.maximum(gain, 1.0) / np.abs(plan.points - plan.c)
    below = plan.points < plan.c
    return float(max(np.min(periods[below]), np.min(periods[~below])))


def _phases(rounds: Rounds, tilts: list[tuple[Tilted, int]], found: Frame) -> tuple[Complex, Real]:
    """log phi(t) / phi(c) at every frequency, and bounds on the relative error of phi(t)."""
    s = found.step * np.arange(found.size)
    log_phi = 0.5 * rounds.gaussian * s * (1j * (2.0 * found.c + 1.0) - s)
    log_error = 8.0 * PARAMETER * np.abs(log_phi)
    for tilt, count in tilts:
        change = tilt.changes(found.step, found.size)
        moment = np.abs(tilt.moment + change)
        log_phi += count * log1p(change / tilt.moment)
        bound = tilt.error + tilt.change_error + tilt.change_slope * s
        log_error += count * np.log1p(bound / np.maximum(moment, 1e-300))
    return log_phi, np.expm1(np.minimum(log_error, 700.0)) + 40.0 * UNIT * np.abs(log_phi)


def _truncation(rounds: Rounds, log_moments: list[float], c: float, step: float, goal: float) -> tuple[float, float]:
    """A frequency S with log((h / pi) sum_{s > S} |phi(t) / (t (t+1))|) at most about goal, and that bound.

    |t (t+1)| >= s^2 and sum_{k > n} h / (kh)^2 <= 1 / (nh).
    """
    gaussian = 0.5 * rounds.gaussian
    envelopes = [
        (envelope(part.pair, c, log_moment, math.log(count)), count)
        for (part, count), log_moment in zip(rounds.sampled, log_moments, strict=True)
    ]
    fall = gaussian + math.fsum(count * part.fall for part, count in envelopes)
    real = gaussian * c * (c + 1.0) * (1.0 + 8.0 * PARAMETER)
    needed = real + math.fsum(count * part.log_moment for part, count in envelopes) - goal
    frequency = math.sqrt(max(1.0, needed) / fall)
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
