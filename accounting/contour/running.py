"""One inversion for a composition that grows round by round.

The line, the frequencies and what is cut off are chosen once; then every distinct pair contributes one row of
numbers, and further rounds only change how often each row counts. Every bound is that of inversion.py, with the
counts at hand: a line that was chosen for fewer rounds costs width, never validity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..pairs import Composition
from ..rounding import PARAMETER, TARGET, UNIT, widened_down, widened_up
from .contour import epsilon_above, epsilon_below
from .envelope import envelope
from .inversion import Frame, Inversion, Plan, log1p, truncation
from .moments import Quadrature, Tilted, quadrature, short
from .paths import Complex, Real, Sampled
from .rounds import lay, phases
from .saddle import plan, saddle_at_delta

_ACCURACY = 27.0


@dataclass(frozen=True, slots=True)
class Row:
    """What one round of a pair adds: to log phi (log_terms), to the logs of errors and bounds (the others)."""

    log_moment: float
    log_terms: Complex
    log_error: Real
    sides: Real
    tail: float


class RunningInversion:
    """The profile of a growing composition near the eps at which it needs a fixed delta.

    Laid out for `composition`; `between` takes any later one. Raises OutOfReach where the contour does not serve.
    """

    def __init__(self, composition: Composition, log_delta: float) -> None:
        self.targets = widened_down(log_delta, TARGET) - 2.0 * TARGET, widened_up(log_delta, TARGET) + 2.0 * TARGET
        saddle = saddle_at_delta(composition, log_delta)
        self.plan: Plan = plan(composition, saddle, _ACCURACY, 0.5)
        self.budget = _ACCURACY + 2.0 + self.plan.cancellation
        rounds = lay(composition, self.plan.points, self.budget)
        self.total = sum(count for _, count in composition)
        tilts = [part.tilted(self.plan.c) for part, _ in rounds.sampled]
        self.step = short(2.0 * math.pi / self.plan.period)
        goal = self.plan.log_delta + self.plan.c * self.plan.epsilon - _ACCURACY
        self.frequency, _ = truncation(rounds, tilts, self.plan.c, self.step, goal)
        self.s: Real = self.step * np.arange(math.ceil(self.frequency / self.step) + 1, dtype=np.float64)
        self.epsilon = self.plan.epsilon
        self._rows: dict[Sampled, Row] = {}
        self._stacked: tuple[Complex, Real, Real, Real, Real, Real] | None = None
        for (part, _), tilt in zip(rounds.sampled, tilts, strict=True):
            self._rows[part.pair] = self._row(part, tilt)

    def between(self, composition: Composition) -> tuple[float, float]:
        """(at most epsilon, at least epsilon) of the composition at the fixed delta."""
        inversion = self._inversion(composition)
        upper = epsilon_above(inversion, self.targets[0], self.epsilon)
        lower = epsilon_below(inversion, self.targets[1], min(upper, 1e300))
        if math.isfinite(upper):
            self.epsilon = upper
        return lower, upper

    def _row(self, part: Quadrature, tilt: Tilted) -> Row:
        change = tilt.changes(self.s)
        moment = np.abs(tilt.moment + change)
        bound = tilt.error + tilt.change_error + tilt.change_slope * self.s
        return Row(
            tilt.log_moment,
            log1p(change / tilt.moment),
            np.log1p(bound / np.maximum(moment, 1e-300)),
            part.log_moments_above(np.array(self.plan.sides)),
            envelope(part, tilt, math.log(self.total)).log_bound(self.frequency),
        )

    def _add(self, pair: Sampled) -> None:
        """A pair that was not there before; its errors are laid out for as many rounds as there are in all."""
        part = quadrature(pair, self.plan.points, self.budget + math.log(self.total))
        self._rows[pair] = self._row(part, part.tilted(self.plan.c))
        self._stacked = None

    def _columns(self) -> tuple[Complex, Real, Real, Real, Real, Real]:
        """The rows as matrices, one row a pair in the order of `_rows`."""
        if self._stacked is None:
            rows = list(self._rows.values())
            terms = np.array([row.log_terms for row in rows])
            self._stacked = (
                terms,
                np.abs(terms),
                np.array([row.log_error for row in rows]),
                np.array([row.sides for row in rows]),
                np.array([row.tail for row in rows]),
                np.array([row.log_moment for row in rows]),
            )
        return self._stacked

    def _inversion(self, composition: Composition) -> Inversion:
        parts, square = phases(composition)
        for pair, _ in parts:
            if pair not in self._rows:
                self._add(pair)
        counts = dict(parts)
        n = np.array([float(counts.get(pair, 0)) for pair in self._rows])
        terms, sizes, errors, sides, tails, moments = self._columns() if self._rows else _nothing(self.s, self.plan)
        c, s, half = self.plan.c, self.s, 0.5 * square
        by_gauss: Complex = half * s * (1j * (2.0 * c + 1.0) - s)
        log_phi: Complex = by_gauss + n @ terms
        size: Real = np.abs(by_gauss) + n @ sizes
        log_error: Real = 8.0 * PARAMETER * np.abs(by_gauss) + (n @ errors) * (1.0 + 2.0**-40)
        error: Real = np.expm1(np.minimum(log_error, 700.0)) + (60.0 + 2.0 * len(n)) * UNIT * size
        gaussian = half * c * (c + 1.0)
        prefactor = gaussian + math.fsum((n * moments).tolist())
        prefactor_error = 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(prefactor)
        found = self._frame(half, float(n @ tails), n @ sides)
        t = (c + 1j * s).astype(np.complex128)
        values: Complex = np.exp(log_phi) * (self.step / math.pi) / (t * (t + 1.0))
        values[0] *= 0.5
        modulus = np.abs(values)
        total = float(modulus @ (error + UNIT * (60.0 + 4.0 * size))) * (1.0 + 2.0**-20)
        total += math.exp(min(700.0, found.log_tail - prefactor + prefactor_error))
        return Inversion(found, s, values, total, 4.1 * UNIT * float(modulus @ s), prefactor, prefactor_error)

    def _frame(self, half: float, tails: float, sides: Real) -> Frame:
        """What is missing from the sum, for these counts; sums of rows are inflated by far more than their rounding."""
        c, wide = self.plan.c, 1.0 + 8.0 * PARAMETER
        log_tail = half * c * (c + 1.0) * wide - half * self.frequency**2 * (1.0 - 8.0 * PARAMETER)
        log_tail += tails + 1e-12 * abs(tails) - math.log(math.pi * self.frequency) + 1e-9
        bounds = []
        for point, moments in zip(self.plan.sides, sides.tolist(), strict=True):
            turns = 2.0 * math.pi / self.step * abs(point - c)
            log = half * point * (point + 1.0) * wide + moments + 1e-12 * abs(moments) + 1e-9
            log += point * math.log(point) - (1.0 + point) * math.log1p(point) if point else 0.0
            bounds.append((point, log - turns - math.log(-math.expm1(-turns))))
        return Frame(c, self.step, len(self.s), tuple(bounds), log_tail)


def _nothing(s: Real, chosen: Plan) -> tuple[Complex, Real, Real, Real, Real, Real]:
    """No subsampled rounds at all."""
    empty, none = np.zeros((0, len(s))), np.zeros(0)
    return empty.astype(np.complex128), empty, empty, np.zeros((0, len(chosen.sides))), none, none
