"""Where to invert: the line, and the threshold above which a loss is a jump, from tables of moments alone.

Any choice is valid; good ones are fast. `Table.least` is a bound as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....mechanisms.arrays import Floats
from ...inversion.line import Plan
from .far import cut, near
from .jumps import log_error
from .laws import Step

_LINES = np.concatenate([[0.0], np.geomspace(0.03, 2e3, 80)])
"""Lines tried, in units of 1/eps."""

_WIDE = np.geomspace(1e-3, 1e15, 120)
"""Lines for a first bound."""

_LOSSES = np.geomspace(1e-5, 1.0, 30)
"""Thresholds tried, in units of eps."""

_APART = 1.05
"""Above the threshold by this factor nothing may matter either: cells' edges move between resolutions."""

_FAR = (1.3, 1.6, 2.0, 3.0, 5.0, 10.0)
"""Losses tried as thresholds of far ones, in units of eps."""

_RARE = 0.3
"""Largest expected number of jumps that are called rare."""

_MOST = 17.0
"""log of how much larger than delta the terms may be before rounding shows."""

_PRICE = 0.02


@dataclass(frozen=True, slots=True)
class Moments:
    """About the log moments of one measure at the table's lines; start: with log_peak added."""

    lines: Floats
    logs: Floats
    start: Floats

    @classmethod
    def of(cls, lines: Floats, logs: Floats) -> Moments:
        with np.errstate(divide="ignore", invalid="ignore"):
            peak = np.where(lines > 0, lines * np.log(np.maximum(lines, 1e-300)) - (1 + lines) * np.log1p(lines), 0.0)
        return cls(lines, logs, logs + peak)

    def reach(self, log_delta: float) -> float:
        """About the least epsilon from which on the measure's profile is certainly below e^log_delta."""
        return max(0.0, float(np.min((self.start[1:] - log_delta) / self.lines[1:])))

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


@dataclass(frozen=True, slots=True)
class Split:
    """One threshold: who jumps, and the moments of the outcomes with a jump and of those without."""

    loss: float
    jumping: frozenset[int]
    jumps: Moments
    rest: Moments


@dataclass(frozen=True, slots=True)
class Table:
    """Moments of all outcomes, and of those with and without a jump for every threshold at which jumps are rare."""

    whole: Moments
    splits: tuple[Split, ...]
    rounds: int

    @classmethod
    def of(cls, steps: Sequence[Step], epsilon: float) -> Table:
        """Of the steps' upper laws, for eps about as large as that or up to 100 times smaller."""
        lines = _LINES / epsilon
        counts = [step.rounds for step in steps]
        wholes = [step.upper.log_moments(lines) for step in steps]
        whole = Moments.of(lines, np.asarray(sum(count * logs for count, logs in zip(counts, wholes, strict=True))))
        sampled = [at for at, step in enumerate(steps) if step.sampled]
        losses = _LOSSES * epsilon
        parts = {at: steps[at].upper.split_moments(lines, losses) for at in sampled}
        masses = {at: counts[at] * np.exp(parts[at][1][0]) for at in sampled}
        splits = []
        for column, loss in enumerate(losses.tolist()):
            jumping = frozenset(at for at in sampled if 0.0 < masses[at][column] <= _RARE / len(sampled))
            if jumping:
                rest, growth = np.zeros(lines.size), np.zeros(lines.size)
                for at, count in enumerate(counts):
                    if at not in jumping:
                        rest += count * wholes[at]
                        continue
                    small, jump = parts[at][0][:, column], parts[at][1][:, column]
                    rest += count * small
                    growth += count * np.logaddexp(0.0, jump - small)
                grown = np.where(growth > 40, growth, np.log(np.maximum(np.expm1(np.minimum(growth, 40.0)), 1e-300)))
                splits.append(Split(loss, jumping, Moments.of(lines, rest + grown), Moments.of(lines, rest)))
        return cls(whole, tuple(splits), sum(counts))

    def least(self, log_delta: float, log_share: float) -> float:
        """At least the epsilon at which the finite losses' profile is e^log_delta: by Chernoff, for all outcomes or for
        those with a jump and those without apart, the latter with a share e^log_share of delta."""
        share = math.log1p(-math.exp(log_share))
        apart = (
            max(split.rest.reach(log_delta + log_share), split.jumps.reach(log_delta + share)) for split in self.splits
        )
        best = min([self.whole.reach(log_delta), *apart])
        lines = self.whole.lines
        return best * (1 + 1e-9) + log_error(self.rounds, 100.0) / float(lines[1])

    def at(self, epsilon: float) -> float:
        """About the log of a bound on the profile."""
        pairs = [float(np.logaddexp(split.jumps.at(epsilon), split.rest.at(epsilon))) for split in self.splits]
        return min([self.whole.at(epsilon), *pairs])

    def line(self, epsilon: float, log_delta: float, log_share: float) -> float:
        """About the tilt at which epsilon is likely."""
        split = self.threshold(epsilon, log_delta, log_share)
        moments = self.whole if split is None else split.jumps
        return float(moments.lines[1 + int(np.argmin((moments.start - moments.lines * epsilon)[1:]))])

    def threshold(self, epsilon: float, log_delta: float, log_share: float) -> Split | None:
        """The largest threshold below which losses add up to epsilon with at most a share of delta."""
        for split in reversed(self.splits):
            if split.rest.at(epsilon) <= log_delta + log_share:
                return split
        return None

    def both(self, epsilon: float, log_delta: float) -> Split | None:
        """Where no threshold leaves a negligible rest: that with the best of the worse of the two bounds."""

        def worse(split: Split) -> float:
            return max(split.jumps.at(epsilon), split.rest.at(epsilon), log_delta) - 0.01 * math.log(split.loss)

        best = min(self.splits, key=worse, default=None)
        return best if best is not None and self.whole.at(epsilon) > log_delta + _MOST else None


def first_bound(steps: Sequence[Step], log_delta: float) -> float:
    """At least the epsilon at which the finite losses' profile is e^log_delta, by Chernoff over lines of every size."""
    with np.errstate(over="ignore"):
        logs = sum(step.rounds * step.upper.log_moments(_WIDE) for step in steps)
    moments = Moments.of(_WIDE, np.asarray(logs))
    return float(np.min((moments.start - log_delta) / _WIDE)) * (1 + 1e-9) + 1e-9


def scale(steps: Sequence[Step], epsilon: float) -> float:
    """The eps that lines are laid out for: epsilon, or the size of the losses that matter there, where that is larger.

    Next to eps = 0 the lines follow the losses: the tilt at which Chernoff's bound is least, and not 1 / epsilon.
    """
    with np.errstate(over="ignore"):
        logs = sum(step.rounds * step.upper.log_moments(_WIDE) for step in steps)
    bounds = Moments.of(_WIDE, np.asarray(logs)).start - _WIDE * epsilon
    return max(epsilon, 1.0 / float(_WIDE[int(np.argmin(np.where(np.isfinite(bounds), bounds, np.inf)))]))


def far_threshold(steps: Sequence[Step], epsilon: float, log_enough: float) -> float:
    """The least loss above which the payoff at epsilon is linear, but for a share of at most e^log_enough; or infinity.

    Where large losses are common there is none.
    """
    laws = [(step.upper, step.rounds) for step in steps]
    jumping = frozenset(at for at, step in enumerate(steps) if step.sampled)
    for factor in _FAR if jumping else ():
        _, far = cut(laws, jumping, factor * epsilon, epsilon)
        if far.log_put(epsilon) <= log_enough:
            return factor * epsilon
    return math.inf


def without(steps: Sequence[Step], loss: float) -> list[Step]:
    """The steps without what their upper laws have above a loss, where a coin decides about them."""
    return [replace(step, upper=near(step.upper, loss)[0]) if step.sampled else step for step in steps]
