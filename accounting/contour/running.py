"""One inversion for a composition that grows round by round.

The line, the frequencies and what is cut off are chosen once; then every distinct pair contributes one row of
numbers, and further rounds only change how often each row counts. Every bound is that of inversion.py, with the
counts at hand: a line that was chosen for fewer rounds costs width, never validity.
"""

from __future__ import annotations

import math

import numpy as np

from ..pairs import Composition, GaussianPair, Pair, SubsampledPair
from ..rounding import PARAMETER, TARGET, UNIT, widened_down, widened_up
from .contour import epsilon_above, epsilon_below
from .envelope import envelope
from .inversion import Frame, Inversion, Plan, log1p, truncation
from .moments import Quadrature, Tilted, quadrature, short
from .paths import Complex, Real, sampled
from .rounds import lay
from .saddle import plan, saddle_at_delta

_ACCURACY = 27.0


class Rows:
    """One row of numbers a pair, in arrays that grow by doubling, and how many rounds each pair ran.

    What one round of a pair adds: to log phi at every frequency (log_terms), to the logarithm of its relative error
    (log_error), to log phi(c), to the bounds on the sides and to that on what is cut off (scalars, in this order).
    """

    def __init__(self, frequencies: int, sides: int) -> None:
        self.index: dict[Pair, int] = {}
        self._log_terms: Complex = np.zeros((8, frequencies), dtype=np.complex128)
        self._log_error: Real = np.zeros((8, frequencies))
        self._scalars: Real = np.zeros((8, sides + 2))
        self._counts: Real = np.zeros(8)

    def append(self, pair: Pair, log_terms: Complex, log_error: Real, scalars: Real) -> None:
        """A pair that has run no round yet."""
        place = len(self.index)
        if place == len(self._counts):
            self._log_terms, self._log_error, self._scalars, self._counts = (
                np.concatenate([array, np.zeros_like(array)])
                for array in (self._log_terms, self._log_error, self._scalars, self._counts)
            )
        self._log_terms[place], self._log_error[place], self._scalars[place] = log_terms, log_error, scalars
        self.index[pair] = place

    def count(self, pair: Pair, rounds: int) -> None:
        """Further rounds of a pair that has a row."""
        self._counts[self.index[pair]] += rounds

    def sums(self) -> tuple[Complex, Real, Real, float, Real]:
        """Over all rounds: log_terms, at least the sum of their moduli, log_error, log phi(c), the other scalars."""
        many = len(self.index)
        n, terms, scalars = self._counts[:many], self._log_terms[:many], self._scalars[:many]
        sizes: Real = (n @ (np.abs(terms.real) + np.abs(terms.imag))) * (1.0 + 2.0**-20)
        log_error: Real = (n @ self._log_error[:many]) * (1.0 + 2.0**-20)
        return n @ terms, sizes, log_error, math.fsum((n * scalars[:, 0]).tolist()), n @ scalars[:, 1:]


class RunningInversion:
    """The profile of a growing composition near the eps at which it needs a fixed delta.

    Laid out for `composition`, of which nothing is counted yet; `add` counts rounds, of those or of other pairs.
    Raises OutOfReach where the contour does not serve.
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
        self.rows = Rows(len(self.s), len(self.plan.sides))
        self.gaussian: dict[GaussianPair, int] = {}
        subsampled = [pair for pair, _ in composition if isinstance(pair, SubsampledPair)]
        for pair, (part, _), tilt in zip(subsampled, rounds.sampled, tilts, strict=True):
            self._append(pair, part, tilt)

    def add(self, pair: Pair, rounds: int) -> None:
        """Count further rounds. A new pair's errors are laid out for as many rounds as were planned in all."""
        if isinstance(pair, GaussianPair):
            self.gaussian[pair] = self.gaussian.get(pair, 0) + rounds
            return
        if pair not in self.rows.index:
            assert isinstance(pair, SubsampledPair)
            part = quadrature(sampled(pair), self.plan.points, self.budget + math.log(self.total))
            self._append(pair, part, part.tilted(self.plan.c))
        self.rows.count(pair, rounds)

    def between(self) -> tuple[float, float]:
        """(at most epsilon, at least epsilon) at the fixed delta, of all rounds counted."""
        inversion = self._inversion()
        upper = epsilon_above(inversion, self.targets[0], self.epsilon)
        lower = epsilon_below(inversion, self.targets[1], min(upper, 1e300))
        if math.isfinite(upper):
            self.epsilon = upper
        return lower, upper

    def _append(self, pair: SubsampledPair, part: Quadrature, tilt: Tilted) -> None:
        change = tilt.changes(self.s)
        bound = tilt.error + tilt.change_error + tilt.change_slope * self.s
        log_error: Real = np.log1p(bound / np.maximum(np.abs(tilt.moment + change), 1e-300))
        tail = envelope(part, tilt, math.log(self.total)).log_bound(self.frequency)
        sides = part.log_moments_above(np.array(self.plan.sides))
        self.rows.append(
            pair, log1p(change / tilt.moment), log_error, np.concatenate([[tilt.log_moment], sides, [tail]])
        )

    def _inversion(self) -> Inversion:
        half = 0.5 * math.fsum(rounds * pair.shift**2 for pair, rounds in self.gaussian.items())
        terms, size, log_error, log_moments, bounds = self.rows.sums()
        c, s = self.plan.c, self.s
        by_gauss: Complex = half * s * (1j * (2.0 * c + 1.0) - s)
        log_phi: Complex = by_gauss + terms
        size = size + 2.0 * np.abs(by_gauss)
        log_error = log_error + 8.0 * PARAMETER * np.abs(by_gauss)
        rounding = (60.0 + 2.0 * len(self.rows.index)) * UNIT
        error: Real = np.expm1(np.minimum(log_error, 700.0)) + rounding * size
        gaussian = half * c * (c + 1.0)
        prefactor = gaussian + log_moments
        prefactor_error = 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(prefactor)
        found = self._frame(half, float(bounds[-1]), bounds[:-1])
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
        log_tail += tails + 1e-10 * abs(tails) - math.log(math.pi * self.frequency) + 1e-9
        bounds = []
        for point, moments in zip(self.plan.sides, sides.tolist(), strict=True):
            turns = 2.0 * math.pi / self.step * abs(point - c)
            log = half * point * (point + 1.0) * wide + moments + 1e-10 * abs(moments) + 1e-9
            log += point * math.log(point) - (1.0 + point) * math.log1p(point) if point else 0.0
            bounds.append((point, log - turns - math.log(-math.expm1(-turns))))
        return Frame(c, self.step, len(self.s), tuple(bounds), log_tail)
