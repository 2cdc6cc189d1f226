"""The law of the whole run's loss, as a measure whose transform is known on a line: all outcomes, or those that matter.

`Product` is the law of the sum of all rounds. Where large losses come from rare jumps the sum of the many small
ones never gets near epsilon, yet it would dominate the transform and its rounding errors. `Jumps` leaves it out: it
is the law of the sum on the outcomes where at least one round's loss exceeds a threshold,

    Phi_J = prod (b_k + j_k)^T_k - prod b_k^T_k,    b_k, j_k the transforms of a round's losses below and above it,

evaluated without cancellation. What is left out is nonnegative, and bounded by Chernoff for upper bounds
(docs/theory/lattices.md, section "Rare jumps").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...inversion.measure import Measure, Transform
from ...rounding import UNIT
from .transform import LOG_ERROR, Frequencies, Law, log_moment

Values = tuple[Complex, Floats]
"""Values at the grid's frequencies, and a bound of the error of each."""


_LARGEST_EXPONENT = 300.0
_TINY = 1e-300


class Lattice(Measure, Protocol):
    """A finite measure on finite losses, whose transform is known at a grid's frequencies."""

    @property
    def rounds(self) -> int: ...

    def log_moment(self, c: float) -> float:
        """log of the integral of e^{cL}, within log_error."""
        ...

    def normalised(self, c: float, grid: Frequencies) -> Values:
        """The integral of e^{(c + i w) L}, relative to exp(the computed log_moment(c))."""
        ...


@dataclass(frozen=True)
class LatticeOnLine:
    """What the inverter asks of a lattice. |phi(c + is)| is at most phi(c): smoothing makes the terms few."""

    measure: Lattice
    c: float
    fall: float = 0.0

    @cached_property
    def log_scale(self) -> float:
        return self.measure.log_moment(self.c)

    def log_bound(self, frequency: float) -> float:
        return self.log_scale + log_error(self.measure.rounds, self.log_scale)

    def transform(self, period: float, count: int) -> Transform:
        grid = Frequencies.covering(period, 1 << max(6, (count - 1).bit_length()))
        values, errors = self.measure.normalised(self.c, grid)
        return Transform(grid.omega, values, errors, self.log_scale, 0.1 * log_error(0, self.log_scale))


def log_error(rounds: int, log: float) -> float:
    """A bound on the error of a sum of so many rounds' log_moments."""
    return LOG_ERROR * (rounds + 1 + abs(log))


@dataclass(frozen=True)
class Product:
    """The sum of independent rounds: (law, number of rounds)."""

    laws: Sequence[tuple[Law, int]]

    @property
    def rounds(self) -> int:
        return sum(rounds for _, rounds in self.laws)

    @property
    def infinite(self) -> float:
        """P(L = inf) over all rounds, rounded to nearest."""
        if any(law.infinite >= 1 for law, _ in self.laws):
            return 1.0
        return -math.expm1(math.fsum(rounds * math.log1p(-law.infinite) for law, rounds in self.laws))

    @property
    def top(self) -> float:
        """An upper bound of the finite losses, up to rounding."""
        return math.fsum(rounds * law.top for law, rounds in self.laws)

    def log_moment(self, c: float) -> float:
        return math.fsum(rounds * log_moment(law, c) for law, rounds in self.laws)

    def log_moments(self, points: Floats) -> Floats:
        """At least the logs of the moments."""
        return _above(self, points)

    def on(self, c: float) -> LatticeOnLine:
        return LatticeOnLine(self, c)

    def normalised(self, c: float, grid: Frequencies) -> Values:
        return _product([(law.normalised(c, grid), rounds) for law, rounds in self.laws], grid)


def _above(measure: Lattice, points: Floats) -> Floats:
    logs = [measure.log_moment(float(c)) for c in points]
    return np.array([log + log_error(measure.rounds, log) for log in logs])


def _product(factors: Sequence[tuple[Values, int]], grid: Frequencies) -> Values:
    """|prod a - prod b| <= prod (|b| + |a - b|) - prod |b|, and the powers' own rounding."""
    log_size, angle, log_bound = (np.zeros(grid.count + 1) for _ in range(3))
    with np.errstate(divide="ignore", over="ignore"):
        for (value, error), rounds in factors:
            modulus = np.abs(value)
            log_size += rounds * np.log(modulus)
            angle += rounds * np.angle(value)
            log_bound += rounds * np.log(modulus * (1 + 16 * UNIT) + error + _TINY)
        size = np.exp(log_size)
        spread = np.exp(log_bound) * -np.expm1(np.minimum(log_size - log_bound, 0.0))
    total = sum(rounds for _, rounds in factors)
    return size * np.exp(1j * angle), (spread + size * UNIT * (64 + 8 * total)) * (1 + 1e-9)


@dataclass(frozen=True)
class Jumps:
    """The sum of independent rounds, restricted to outcomes with a jump: (small losses, jumps or None, rounds)."""

    parts: Sequence[tuple[Law, Law | None, int]]

    @classmethod
    def of(cls, laws: Sequence[tuple[Law, int]], jumping: frozenset[int], loss: float) -> Jumps:
        """Losses of the steps `jumping` above `loss` are jumps; the others stay whole, however large their losses."""
        split = [law.split(loss) if at in jumping else (law, None) for at, (law, _) in enumerate(laws)]
        return cls([(small, jump, rounds) for (small, jump), (_, rounds) in zip(split, laws, strict=True)])

    @property
    def any(self) -> bool:
        """Whether some step has jumps at all."""
        return any(jump is not None for _, jump, _ in self.parts)

    @property
    def rounds(self) -> int:
        return sum(rounds for *_, rounds in self.parts)

    @property
    def small(self) -> Product:
        """What is left out: no round jumps."""
        return Product([(small, rounds) for small, _, rounds in self.parts])

    def log_moment(self, c: float) -> float:
        exponent = math.fsum(
            rounds * float(np.logaddexp(0.0, log_moment(jump, c) - log_moment(small, c)))
            for small, jump, rounds in self.parts
            if jump is not None
        )
        return self.small.log_moment(c) + (exponent if exponent > 40 else math.log(math.expm1(exponent)))

    def log_moments(self, points: Floats) -> Floats:
        """At least the logs of the moments."""
        return _above(self, points)

    def on(self, c: float) -> LatticeOnLine:
        return LatticeOnLine(self, c)

    def normalised(self, c: float, grid: Frequencies) -> Values:
        """S (e^E - 1), S the transform of `small` and E = sum T_k log(1 + j_k / b_k), or the difference of the two
        products, whichever has the smaller error at a frequency."""
        small, full = [], []
        whole_scale = 0.0
        exponent, slack = np.zeros(grid.count + 1, dtype=complex), np.zeros(grid.count + 1)
        for law, jump, rounds in self.parts:
            scale = log_moment(law, c) if jump is None else float(np.logaddexp(log_moment(law, c), log_moment(jump, c)))
            whole_scale += rounds * scale
            base = _scaled(law.normalised(c, grid), log_moment(law, c) - scale)
            small.append((base, rounds))
            if jump is None:
                full.append((base, rounds))
                continue
            added = _scaled(jump.normalised(c, grid), log_moment(jump, c) - scale)
            full.append(((base[0] + added[0], base[1] + added[1] + UNIT * (1 + 4 * abs(scale))), rounds))
            growth, growth_error = _log_growth(base, added)
            exponent += rounds * growth
            slack += rounds * growth_error
        value = _product(small, grid)
        near, far = _grown(value, exponent, slack), _difference(_product(full, grid), value)
        better = near[1] < far[1]
        chosen = np.where(better, near[0], far[0]), np.where(better, near[1], far[1])
        return _scaled(chosen, whole_scale - self.log_moment(c))


def _scaled(transform: Values, log_factor: float) -> Values:
    value, error = transform
    factor = math.exp(log_factor)
    return value * factor, factor * (error + np.abs(value) * UNIT * (8 + 4 * abs(log_factor))) * (1 + 8 * UNIT)


def _log_growth(base: Values, added: Values) -> Values:
    """log(1 + added / base); no bound (infinity) where the ratio is not below 1/2."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = added[0] / base[0]
        size = np.abs(ratio)
        ratio_error = (added[1] + size * base[1]) / np.maximum(np.abs(base[0]) - base[1], 0.0) + 4 * UNIT * size
        bound = (ratio_error + 16 * UNIT * size) / (1 - size - ratio_error)
        usable = size + ratio_error < 0.5
    ratio = np.where(usable, ratio, 0.0)
    x, y = ratio.real, ratio.imag
    value = np.empty_like(ratio)
    value.real, value.imag = 0.5 * np.log1p(2 * x + x * x + y * y), np.arctan2(y, 1 + x)
    return value, np.where(usable, bound, math.inf)


def _grown(base: Values, exponent: Complex, slack: Floats) -> Values:
    """base (e^exponent - 1), with `slack` the exponent's error."""
    x, y = np.minimum(exponent.real, _LARGEST_EXPONENT), exponent.imag
    growth = np.empty_like(exponent)
    growth.real = np.expm1(x) * np.cos(y) - 2 * np.sin(0.5 * y) ** 2
    growth.imag = np.exp(x) * np.sin(y)
    slack = np.where(exponent.real > x, math.inf, slack + 4 * UNIT * np.abs(exponent))
    inexact = np.abs(growth) * (base[1] + 32 * UNIT * np.abs(base[0]))
    spread = (np.abs(base[0]) + base[1]) * np.exp(x)
    with np.errstate(over="ignore", invalid="ignore"):
        error = (inexact + spread * np.expm1(slack)) * (1 + 1e-9)
    return base[0] * growth, np.where(np.isnan(error), math.inf, error)


def _difference(whole: Values, part: Values) -> Values:
    return whole[0] - part[0], whole[1] + part[1] + 2 * UNIT * (np.abs(whole[0]) + np.abs(part[0]))
