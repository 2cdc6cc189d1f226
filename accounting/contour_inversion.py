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

from .bracket import OutOfReach
from .contour_envelope import envelope
from .contour_paths import Complex, Real
from .contour_rounds import Rounds
from .moments import Tilted, short
from .rounding import PARAMETER, UNIT

_LEAST = 34.0
"""-log of the relative error of delta that periodicity and truncation may each add."""

MOST_FREQUENCIES = 400_000


@dataclass(frozen=True, slots=True)
class Inversion:
    """The moments at t = c + i k h, ready for every eps nearby.

    log_phi: log of phi(t) / phi(c); error: bounds on its error (relative, of phi(t)); prefactor: log phi(c), with
    absolute error prefactor_error; others, others_log: points c' and bounds on log(e^{c' e} delta(e)) for all e;
    log_tail: bound on the log of (h / pi) sum |phi(t) / (t (t+1))| over the frequencies left out.
    """

    c: float
    step: float
    log_phi: Complex
    error: Real
    prefactor: float
    prefactor_error: float
    others: Real
    others_log: Real
    log_tail: float

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        s = self.step * np.arange(self.log_phi.size)
        t = self.c + 1j * s
        turn = np.exp(self.log_phi - 1j * (epsilon * s))
        terms = turn / (t * (t + 1.0)) * (self.step / math.pi)
        terms[0] *= 0.5
        value = math.fsum(terms.real)
        rounding = UNIT * (60.0 + 4.0 * np.abs(self.log_phi) + 4.0 * epsilon * s)
        size = np.abs(terms)
        error = math.fsum(size * (self.error + rounding)) * (1.0 + 2.0**-30)
        base = self.prefactor - self.c * epsilon
        base_error = self.prefactor_error + 4.0 * UNIT * (abs(self.prefactor) + self.c * epsilon + 40.0)
        error += math.exp(min(700.0, self.log_tail - self.prefactor))
        excess = math.exp(min(700.0, self._log_excess(epsilon) - base + base_error))
        slope = -math.fsum((terms * t).real) / value if value > 0.0 else -self.c
        return (
            base + _log(value - error - excess) - base_error,
            base + _log(value + error) + base_error,
            slope,
        )

    def _log_excess(self, epsilon: float) -> float:
        """At least log of sum over j != 0 of e^{jPc} delta(epsilon + jP)."""
        period = 2.0 * math.pi / self.step
        log_terms = self.others_log - self.others * epsilon - period * np.abs(self.others - self.c)
        log_sums = log_terms - np.log(-np.expm1(-period * np.abs(self.others - self.c)))
        below = self.others < self.c
        return float(np.logaddexp(np.min(log_sums[below]), np.min(log_sums[~below]))) + 1e-6


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to invert: on Re t = c, for eps near epsilon, where delta is about e^log_delta.

    points: other c', on both sides of c, whose real moments bound the periodic copies.
    """

    c: float
    points: Real
    epsilon: float
    log_delta: float


def invert(rounds: Rounds, plan: Plan, accuracy: float) -> Inversion:
    """The moments on Re t = c, spaced and truncated for a relative error of about e^-accuracy each.

    rounds must serve every point of the plan. Raises OutOfReach where that takes too many frequencies.
    """
    c, epsilon = plan.c, plan.epsilon
    tilts = [(part.tilted(c), count) for part, count in rounds.sampled]
    gaussian = 0.5 * rounds.gaussian * c * (c + 1.0)
    prefactor = gaussian + math.fsum(count * tilt.log_moment for tilt, count in tilts)
    prefactor_error = 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(prefactor)
    points_log = rounds.log_profile_above(plan.points)
    step = short(2.0 * math.pi / _period(plan, points_log, accuracy))
    goal = plan.log_delta + c * epsilon - accuracy
    frequency, log_tail = _truncation(rounds, tilts, c, step, goal)
    log_phi, error = _phases(rounds, tilts, c, step, math.ceil(frequency / step) + 1)
    return Inversion(c, step, log_phi, error, prefactor, prefactor_error, plan.points, points_log, log_tail)


def _period(plan: Plan, points_log: Real, accuracy: float) -> float:
    """The period 2 pi / h at which the periodic copies on either side add about e^-accuracy relative to delta."""
    gain = points_log - plan.points * plan.epsilon - plan.log_delta + accuracy
    periods = np.maximum(gain, 1.0) / np.abs(plan.points - plan.c)
    below = plan.points < plan.c
    return float(max(np.min(periods[below]), np.min(periods[~below])))


def _phases(rounds: Rounds, tilts: list[tuple[Tilted, int]], c: float, step: float, size: int) -> tuple[Complex, Real]:
    """log phi(t) / phi(c) at t = c + i k step, and bounds on the relative error of phi(t)."""
    s = step * np.arange(size)
    log_phi = 0.5 * rounds.gaussian * s * (1j * (2.0 * c + 1.0) - s)
    log_error = 8.0 * PARAMETER * np.abs(log_phi)
    for tilt, count in tilts:
        change = tilt.changes(step, size)
        moment = np.abs(tilt.moment + change)
        log_phi += count * log1p(change / tilt.moment)
        bound = tilt.error + tilt.change_error + tilt.change_slope * s
        log_error += count * np.log1p(bound / np.maximum(moment, 1e-300))
    return log_phi, np.expm1(np.minimum(log_error, 700.0)) + 40.0 * UNIT * np.abs(log_phi)


def _truncation(
    rounds: Rounds, tilts: list[tuple[Tilted, int]], c: float, step: float, goal: float
) -> tuple[float, float]:
    """A frequency S with log((h / pi) sum_{s > S} |phi(t) / (t (t+1))|) at most about goal, and that bound.

    |t (t+1)| >= s^2 and sum_{k > n} h / (kh)^2 <= 1 / (nh).
    """
    gaussian = 0.5 * rounds.gaussian
    envelopes = [
        (envelope(part.pair, c, tilt.log_moment_above(), math.log(count)), count)
        for (part, count), (tilt, _) in zip(rounds.sampled, tilts, strict=True)
    ]
    fall = gaussian + math.fsum(count * part.fall for part, count in envelopes)
    real = gaussian * c * (c + 1.0) * (1.0 + 8.0 * PARAMETER)
    needed = real + math.fsum(count * part.log_moment for part, count in envelopes) - goal
    frequency = math.sqrt(max(1.0, needed) / fall)
    while frequency < (MOST_FREQUENCIES - 2) * step:
        bound = real - gaussian * frequency**2 * (1.0 - 8.0 * PARAMETER) - math.log(math.pi * frequency) + 1e-9
        bound += math.fsum(count * part.log_bound(frequency) for part, count in envelopes)
        if bound <= goal:
            return frequency, bound
        done = needed + goal - bound
        frequency *= 1.02 * math.sqrt(min(16.0, max(1.1, needed / max(done, 1e-300))))
    raise OutOfReach(f"more than {MOST_FREQUENCIES} frequencies are needed")


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
