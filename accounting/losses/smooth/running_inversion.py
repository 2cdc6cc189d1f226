"""One inversion for a composition that grows round by round.

The line, the frequencies and what is cut off are chosen once; then every distinct pair contributes one row of
numbers, and further rounds only change how often each row counts. Every bound is that of inversion.py, with the
counts at hand: a line that was chosen for fewer rounds costs width, never validity.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...pairs import Composition, Pair
from ...rounding import PARAMETER, TARGET, UNIT, widened_down, widened_up
from ..crossing import epsilon_between
from ..line import ROUNDING, Inversion, Plan, Sum, log_peak, truncation
from .complex_functions import log1p
from .densities import lay
from .paths import sampled
from .quadrature import Quadrature, Tilted, quadrature, short
from .saddle import plan, saddle_at_delta
from .truncation_envelope import envelope

_ACCURACY = 30.0

_MOST_FREQUENCIES = 400_000

MOST_ADDITIONS = 4096
"""Sums are made afresh after as many additions, and four a row, so that their rounding stays small."""


class Rows:
    """One row of numbers a pair, how many rounds each pair ran, and the sums over all rounds, kept as they grow.

    What one round of a pair adds: to log phi at every frequency (log_terms), to the logarithm of its relative error
    (log_error), to log phi(c), to the bounds on the sides and to that on what is cut off (scalars, in this order).
    Memory and time of a further round grow with the frequencies, not with the pairs.
    """

    def __init__(self, frequencies: int, sides: int) -> None:
        self._rows: dict[Pair, tuple[Complex, Floats, Floats]] = {}
        self._counts: dict[Pair, int] = {}
        self._log_terms: Complex = np.zeros(frequencies, dtype=np.complex128)
        self._log_error: Floats = np.zeros(frequencies)
        self._scalars: Floats = np.zeros(sides + 2)
        self._sizes: Floats = np.zeros(frequencies)
        self._scalar_sizes: Floats = np.zeros(sides + 2)
        self.additions = 0

    def __contains__(self, pair: Pair) -> bool:
        return pair in self._rows

    def append(self, pair: Pair, log_terms: Complex, log_error: Floats, scalars: Floats) -> None:
        """A pair that has run no round yet."""
        self._rows[pair], self._counts[pair] = (log_terms, log_error, scalars), 0

    def count(self, pair: Pair, rounds: int) -> None:
        """Further rounds of a pair that has a row; less than 0 for rounds that are taken back."""
        self._counts[pair] += rounds
        if self.additions >= MOST_ADDITIONS and self.additions > 4 * len(self._rows):
            self._afresh()
        else:
            self._add(pair, rounds)

    def _add(self, pair: Pair, rounds: int) -> None:
        log_terms, log_error, scalars = self._rows[pair]
        self._log_terms += rounds * log_terms
        self._log_error += max(0, rounds) * log_error
        self._scalars += rounds * scalars
        self._sizes += abs(rounds) * (np.abs(log_terms.real) + np.abs(log_terms.imag))
        self._scalar_sizes += abs(rounds) * np.abs(scalars)
        self.additions += 1

    def _afresh(self) -> None:
        """The sums without the rounding, and the sizes, of what was added and taken back one by one."""
        for sums in (self._log_terms, self._log_error, self._scalars, self._sizes, self._scalar_sizes):
            sums[:] = 0.0
        self.additions = 0
        for pair, rounds in self._counts.items():
            self._add(pair, rounds)

    @property
    def rounding(self) -> float:
        """At least the error of each sum, relative to the sum of all moduli ever added: one of a product and one of
        a sum for each addition."""
        return (60.0 + 2.0 * self.additions) * UNIT

    def sums(self) -> tuple[Complex, Floats, Floats]:
        """Over all rounds: log_terms, at least the sum of their moduli, at least log_error."""
        wide = 1.0 + 2.0**-20
        return self._log_terms, self._sizes * wide, (self._log_error + self.rounding * self._log_error) * wide

    def scalars(self) -> tuple[Floats, Floats]:
        """Over all rounds: log phi(c), the bounds on the sides and on what is cut off; and the error of each."""
        return self._scalars, self.rounding * self._scalar_sizes


class RunningInversion:
    """The profile of a growing composition near the eps at which it needs a fixed delta.

    Laid out for `composition`, of which nothing is counted yet; `add` counts rounds, of those or of other pairs.
    spare: accuracy, as a logarithm, beyond what `composition` itself needs: more frequencies, which then serve further
    compositions too. cancellation_price: see saddle.plan.
    Raises OutOfReach where the contour does not serve.
    """

    def __init__(
        self, composition: Composition, log_delta: float, spare: float = 0.0, cancellation_price: float = 0.5
    ) -> None:
        self.targets = widened_down(log_delta, TARGET) - 2.0 * TARGET, widened_up(log_delta, TARGET) + 2.0 * TARGET
        saddle = saddle_at_delta(composition, log_delta)
        self.plan: Plan = plan(composition, saddle, _ACCURACY + spare, cancellation_price)
        self.budget = _ACCURACY + 2.0 + self.plan.cancellation
        rounds = lay(composition, self.plan.points, self.budget)
        self.total = sum(count for _, count in composition)
        line = rounds.on(self.plan.c)
        self.step = short(2.0 * math.pi / self.plan.period)
        goal = self.plan.log_delta + self.plan.c * self.plan.epsilon - _ACCURACY - spare
        self.frequency = truncation(line, self.plan, goal, 0.0, _MOST_FREQUENCIES)
        self.s: Floats = self.step * np.arange(math.ceil(self.frequency / self.step) + 1, dtype=np.float64)
        self.epsilon = self.plan.epsilon
        self.rows = Rows(len(self.s), len(self.plan.sides))
        self.squares = Fraction(0)
        subsampled = [pair for pair, _ in composition if sampled(pair) is not None]
        for pair, (part, tilt, _) in zip(subsampled, line.parts, strict=True):
            self._append(pair, part, tilt)

    def add(self, pair: Pair, rounds: int) -> None:
        """Count further rounds, or take rounds back that were counted (less than 0).

        A new pair's errors are laid out for as many rounds as were planned in all.
        """
        if pair not in self.rows:
            parameters, noise = sampled(pair), pair.gaussian()
            if parameters is None:
                assert noise is not None
                self.squares += rounds * Fraction(noise.shift**2)
                return
            part = quadrature(parameters, self.plan.points, self.budget + math.log(self.total))
            self._append(pair, part, part.tilted(self.plan.c))
        self.rows.count(pair, rounds)

    def between(self) -> tuple[float, float]:
        """(at most epsilon, at least epsilon) at the fixed delta, of all rounds counted."""
        lower, upper = epsilon_between(self._inversion(), self.targets, self.epsilon)
        if math.isfinite(upper):
            self.epsilon = upper
        return lower, upper

    def _append(self, pair: Pair, part: Quadrature, tilt: Tilted) -> None:
        change = tilt.changes(self.s)
        bound = tilt.inexact(self.s)
        log_error: Floats = np.log1p(bound / np.maximum(np.abs(tilt.moment + change), 1e-300))
        tail = envelope(part, tilt, math.log(self.total)).log_bound(self.frequency)
        sides = part.log_moments_above(np.array(self.plan.sides))
        self.rows.append(
            pair, log1p(change / tilt.moment), log_error, np.concatenate([[tilt.log_moment], sides, [tail]])
        )

    def _inversion(self) -> Inversion:
        half = 0.5 * float(self.squares)
        terms, size, log_error = self.rows.sums()
        scalars, scalar_errors = self.rows.scalars()
        c, s = self.plan.c, self.s
        by_gauss: Complex = half * s * (1j * (2.0 * c + 1.0) - s)
        log_phi: Complex = by_gauss + terms
        size = size + 2.0 * np.abs(by_gauss)
        log_error = log_error + 8.0 * PARAMETER * np.abs(by_gauss)
        error: Floats = np.expm1(np.minimum(log_error, 700.0)) + self.rows.rounding * size
        gaussian = half * c * (c + 1.0)
        prefactor = gaussian + float(scalars[0])
        prefactor_error = 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(prefactor) + float(scalar_errors[0])
        bounds = scalars[1:] + scalar_errors[1:]
        log_tail, aliases = self._missing(half, float(bounds[-1]), bounds[:-1])
        t = (c + 1j * s).astype(np.complex128)
        values: Complex = np.exp(log_phi) * (self.step / math.pi) / (t * (t + 1.0))
        values[0] *= 0.5
        modulus = np.abs(values)
        total = float(modulus @ (error + UNIT * (ROUNDING + 4.0 * size))) * (1.0 + 2.0**-20)
        total += math.exp(min(700.0, log_tail - prefactor + prefactor_error))
        found = Sum(values, prefactor, prefactor_error, total, 8.0 * UNIT * float(modulus @ s))
        return Inversion(c, s, found, found, aliases)

    def _missing(self, half: float, tails: float, sides: Floats) -> tuple[float, tuple[tuple[float, float], ...]]:
        """What is missing from the sum, for these counts: log of the tail, and the aliases of an Inversion.

        Sums of rows are inflated by far more than their rounding."""
        c, wide = self.plan.c, 1.0 + 8.0 * PARAMETER
        log_tail = half * c * (c + 1.0) * wide - half * self.frequency**2 * (1.0 - 8.0 * PARAMETER)
        log_tail += tails + 1e-10 * abs(tails) - math.log(math.pi * self.frequency) + 1e-9
        bounds = []
        for point, moments in zip(self.plan.sides, sides.tolist(), strict=True):
            turns = 2.0 * math.pi / self.step * abs(point - c)
            log = half * point * (point + 1.0) * wide + moments + 1e-10 * abs(moments) + 1e-9
            bounds.append((point, log + log_peak(point) - turns - math.log(-math.expm1(-turns))))
        return log_tail, tuple(bounds)
