"""Where to invert: the line, and the threshold above which a loss is far, from tables of moments alone.

Any choice is valid; good ones are fast. `Moments.least` is a bound as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....mechanisms.arrays import Floats
from ..line import Plan, log_peaks
from .composition import log_error
from .linear_payoff import cut, near
from .steps import Step

_LINES = np.concatenate([[0.0], np.geomspace(0.03, 2e3, 80)])
"""Lines tried, in units of 1/eps."""

_WIDE = np.geomspace(1e-3, 1e15, 120)
"""Lines for a first bound."""

_FAR = (1.3, 1.6, 2.0, 3.0, 5.0, 10.0)
"""Losses tried as thresholds of far ones, in units of eps."""

_MOST = 17.0
"""log of how much larger than delta the terms may be before rounding shows."""

_PRICE = 0.02


@dataclass(frozen=True, slots=True)
class MomentTable:
    """About the log moments of one measure at the table's lines; start: with log_peak added."""

    lines: Floats
    logs: Floats
    start: Floats

    @classmethod
    def of(cls, lines: Floats, logs: Floats) -> MomentTable:
        return cls(lines, logs, logs + log_peaks(lines))

    def least(self, log_delta: float, rounds: int) -> float:
        """At least the epsilon at which the profile of that many rounds is e^log_delta, by Chernoff."""
        best = max(0.0, float(np.min((self.start[1:] - log_delta) / self.lines[1:])))
        return best * (1 + 1e-9) + log_error(rounds, 100.0) / float(self.lines[1])

    def line(self, epsilon: float) -> float:
        """About the tilt at which epsilon is likely."""
        return float(self.lines[1 + int(np.argmin((self.start - self.lines * epsilon)[1:]))])

    def at(self, epsilon: float) -> float:
        """About the log of the least bound on the profile."""
        return float(np.min(self.start - self.lines * epsilon))

    def plan(self, window: tuple[float, float], log_delta: float, accuracy: float) -> Plan:
        """The line with the fewest frequencies for eps in the window among those where rounding stays small."""
        lines, first, last = self.lines, *window
        excess = self.start - lines * last - log_delta
        period = np.zeros(lines.size)
        sides = []
        gain = np.maximum(self.start - lines * first - log_delta + accuracy, 3.0)
        for sign in (1.0, -1.0):
            apart = sign * (lines - lines[:, None])
            needed = np.where(apart > 0, gain / np.where(apart > 0, apart, 1.0), np.inf)
            sides.append(np.argmin(needed, axis=1))
            period = np.maximum(period, np.min(needed, axis=1))
        height = self.start - lines * first - log_delta
        cost = np.log(period) + 0.5 * np.log(np.maximum(height, 0.0) + accuracy)
        cost += np.maximum(0.0, height - _MOST) + _PRICE * np.abs(excess)
        best = 1 + int(np.argmin(cost[1:-1]))
        points = tuple(float(lines[side[best]]) for side in sides)
        return Plan(float(lines[best]), points, float(period[best]), first, log_delta, max(0.0, float(height[best])))


def table(steps: Sequence[Step], epsilon: float) -> MomentTable:
    """Of all outcomes by the steps' upper laws, for eps about as large as that or up to 100 times smaller."""
    lines = _LINES / epsilon
    return MomentTable.of(lines, np.asarray(sum(step.rounds * step.upper.log_moments(lines) for step in steps)))


def first_bound(steps: Sequence[Step], log_delta: float) -> float:
    """At least the epsilon at which the finite losses' profile is e^log_delta, by Chernoff over lines of every size."""
    with np.errstate(over="ignore"):
        logs = sum(step.rounds * step.upper.log_moments(_WIDE) for step in steps)
    moments = MomentTable.of(_WIDE, np.asarray(logs))
    return float(np.min((moments.start - log_delta) / _WIDE)) * (1 + 1e-9) + 1e-9


def scale(steps: Sequence[Step], epsilon: float) -> float:
    """The eps that lines are laid out for: epsilon, or the size of the losses that matter there, where that is larger.

    Next to eps = 0 the lines follow the losses: the tilt at which Chernoff's bound is least, and not 1 / epsilon.
    """
    with np.errstate(over="ignore"):
        logs = sum(step.rounds * step.upper.log_moments(_WIDE) for step in steps)
    bounds = MomentTable.of(_WIDE, np.asarray(logs)).start - _WIDE * epsilon
    return max(epsilon, 1.0 / float(_WIDE[int(np.argmin(np.where(np.isfinite(bounds), bounds, np.inf)))]))


def far_threshold(steps: Sequence[Step], epsilon: float, log_enough: float) -> float:
    """The least loss above which the payoff at epsilon is linear, but for a share of at most e^log_enough; or infinity.

    Where large losses are common there is none.
    """
    laws = [(step.upper, step.rounds) for step in steps]
    jumping = frozenset(at for at, step in enumerate(steps) if step.sampled)
    for factor in _FAR if jumping else ():
        try:
            _, far = cut(laws, jumping, factor * epsilon, epsilon)
        except OverflowError:  # so common are larger losses
            continue
        if far.log_put(epsilon) <= log_enough:
            return factor * epsilon
    return math.inf


def without(steps: Sequence[Step], loss: float) -> list[Step]:
    """The steps without what their upper laws have above a loss, where a coin decides about them."""
    return [replace(step, upper=near(step.upper, loss)[0]) if step.sampled else step for step in steps]
