"""Moment generating functions along a vertical line, with error bounds: phi(c + i w) = E_P[e^{(c + i w) L}; L < inf].

A Law knows log phi(c) for real c, and phi(c + i w)/phi(c) at the frequencies w = 2 pi k / R, k = 0..N: in closed
form for Gaussian and Laplace pairs, by fast Fourier transforms for a list of atoms. Errors are absolute, one
bound a frequency (docs/theory/lattices.md, section "Transforms").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Complex, Floats
from ...rounding import UNIT, widened_down
from .cells import ROUNDING_OF_SUMS, Atoms

_OVERSAMPLING = 2
_TAYLOR_TERMS = 14
"""Frequency times move is at most pi/2 at the last frequency, where smoothing leaves little of the terms, and half as
much at half of it: .785^14 / 14! = 4e-13."""

_FEW_ATOMS = 24

LOG_ERROR = 1e-12
"""Generous bound on the error of a log_moments, relative and absolute."""

_LEAST_SPLIT = 1e-280
"""Values below this are not split: a quantum would be subnormal, or 0 where every atom is on the grid."""


@dataclass(frozen=True)
class Frequencies:
    """k * 2 pi / period for k = 0..count, with the grid of step period / (2 count) for the transforms.

    The step is a double of 20 significant bits, so that its multiples up to 2^33 are exact.
    """

    step: float
    count: int

    @classmethod
    def covering(cls, period: float, count: int) -> Frequencies:
        """At least the given period; count must be a power of two."""
        mantissa, exponent = math.frexp(period / (_OVERSAMPLING * count))
        return cls(math.ldexp(math.ceil(mantissa * 2**20) / 2**20, exponent), count)

    @property
    def size(self) -> int:
        return _OVERSAMPLING * self.count

    @property
    def period(self) -> float:
        return self.step * self.size

    @cached_property
    def omega(self) -> Floats:
        return np.asarray(np.arange(self.count + 1) * (2 * math.pi / self.period))

    def line(self, c: float) -> Complex:
        """c + i omega."""
        t: Complex = np.empty(self.count + 1, dtype=complex)
        t.real, t.imag = c, self.omega
        return t


class Law(Protocol):
    """The law of one step's privacy loss under P."""

    @property
    def infinite(self) -> float:
        """The mass at +inf."""
        ...

    @property
    def top(self) -> float:
        """An upper bound of the finite losses."""
        ...

    def summit(self, price: float, least: float) -> tuple[float, float]:
        """A loss and at most the mass at or above it, both large: a factor e of mass is worth 1/price of loss.

        A mass below `least` is of no use; 0 where no loss has a mass of its own.
        """
        ...

    def ceiling(self, mass: float) -> float:
        """A loss above which there is at most this finite mass."""
        ...

    def log_moments(self, points: Floats) -> Floats:
        """log phi(c), 0 <= c, at every c of points, within LOG_ERROR."""
        ...

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        """phi(c + i w) / exp(the computed log phi(c)), and a bound of the error at each frequency."""
        ...


@dataclass(frozen=True)
class AtomLaw:
    """A list of atoms: the law that it states, exactly, whatever rounding made it."""

    atoms: Atoms

    @property
    def infinite(self) -> float:
        return self.atoms.infinite

    @property
    def top(self) -> float:
        return float(np.max(self.atoms.loss, initial=-math.inf))

    def summit(self, price: float, least: float) -> tuple[float, float]:
        loss, mass = self._from_above
        with np.errstate(divide="ignore"):
            best = int(np.argmax(np.where(mass >= least, price * loss + np.log(mass), -np.inf)))
        return float(loss[best]), widened_down(float(mass[best]), ROUNDING_OF_SUMS)

    def ceiling(self, mass: float) -> float:
        loss, above = self._from_above
        dropped = int(np.count_nonzero(above * (1 + ROUNDING_OF_SUMS) <= mass))
        return float(loss[min(dropped, loss.size - 1)])

    @cached_property
    def _from_above(self) -> tuple[Floats, Floats]:
        """The losses, largest first, and the mass at each or above it."""
        order = np.argsort(-self.atoms.loss)
        return self.atoms.loss[order], np.cumsum(self.atoms.mass[order])

    @cached_property
    def _log_mass(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.atoms.mass))

    def log_moments(self, points: Floats) -> Floats:
        exponents = self._log_mass + np.multiply.outer(points, self.atoms.loss)
        largest = np.max(exponents, axis=1)
        return np.asarray(largest + np.log(np.sum(np.exp(exponents - largest[:, None]), axis=1)))

    def split(self, threshold: float) -> tuple[Law, Law | None]:
        """The losses up to a threshold >= 0, and those above it; None where they are not told apart."""
        above = self.atoms.loss > threshold
        if not np.any(above) or np.all(above):
            return self, None
        loss, mass = self.atoms.loss, self.atoms.mass
        low, high = (AtomLaw(Atoms(loss[part], mass[part], 0.0)) for part in (~above, above))
        return low, high

    def normalised(self, c: float, grid: Frequencies) -> tuple[Complex, Floats]:
        loss = self.atoms.loss
        exponents = c * loss - log_moment(self, c)
        weights = np.exp(self._log_mass + exponents)
        sizes = np.where(self.atoms.mass > 0, np.abs(self._log_mass), 0.0)  # what has no mass has no error
        ulps = 12 + 2 * (np.abs(exponents) + sizes + np.abs(c * loss))
        inexact = float(np.dot(weights, ulps)) * UNIT
        if loss.size <= _FEW_ATOMS:
            return _direct(loss, weights, inexact, grid)
        return _fast(loss, weights, inexact, grid)


def log_moment(law: Law, c: float) -> float:
    """log phi at one c."""
    return float(law.log_moments(np.array([c]))[0])


def _direct(loss: Floats, weights: Floats, error: float, grid: Frequencies) -> tuple[Complex, Floats]:
    """The sum over atoms, frequency by frequency."""
    value = np.zeros(grid.count + 1, dtype=complex)
    for position, weight in zip(loss, weights, strict=True):
        value += weight * np.exp(1j * (grid.omega * position))
    return value, error + 64 * UNIT + 4 * UNIT * grid.omega * float(np.sum(weights * np.abs(loss)))


def _fast(loss: Floats, weights: Floats, error: float, grid: Frequencies) -> tuple[Complex, Floats]:
    """Atoms moved to the nearest grid point, the moves put back by a Taylor series of e^{i w move}."""
    nearest = np.rint(loss / grid.step)
    scaled = (loss - nearest * grid.step) / (0.5 * grid.step)
    index = np.mod(nearest, grid.size).astype(np.int64)
    rotation = 0.5j * grid.step * grid.omega
    value: Complex = np.zeros(grid.count + 1, dtype=complex)
    factor = np.ones(grid.count + 1, dtype=complex)
    moments = weights.copy()
    stages, at_zero = 8 * (math.log2(grid.size) + 2) + 32, 0.0
    rounding, size, power = np.zeros(grid.count + 1), np.abs(rotation), np.ones(grid.count + 1)
    for order in range(_TAYLOR_TERMS):
        lattice, lost = _binned(index, moments, grid.size)
        if order == 0:  # most of the mass, where losses are tiny: it is added last, without a rounding of its own
            at_zero, lattice[0] = float(lattice[0]), 0.0
        value += factor * np.conj(np.fft.rfft(lattice)[: grid.count + 1])
        rounding += power * (lost + UNIT * stages * float(np.sum(np.abs(lattice))))
        moments *= scaled
        factor *= rotation / (order + 1)
        power *= size / (order + 1)
    total = float(np.sum(weights))
    remainder = power * float(np.sum(np.abs(moments))) * (1 + 1e-9)
    displaced = 4 * UNIT * grid.omega * float(np.sum(weights * np.abs(loss)))
    value += at_zero
    return value, error + (1.01 * remainder + rounding + displaced + 2 * UNIT * total) * (1 + 1e-9)


def _binned(index: NDArray[np.int64], values: Floats, size: int) -> tuple[Floats, float]:
    """Sums by index, and a bound of their rounding errors' total.

    Each value is split at 2^-30 of the largest: sums of the leading parts are exact (2^22 values), those of the
    rest are small.
    """
    largest = float(np.max(np.abs(values)))
    quantum = math.ldexp(1.0, math.frexp(max(largest, _LEAST_SPLIT))[1] - 30)
    leading = np.rint(values / quantum) * quantum
    rest = values - leading
    lost = UNIT * (values.size * float(np.sum(np.abs(rest))) + 2 * float(np.sum(np.abs(values))))
    sums: Floats = np.bincount(index, leading, size).astype(float) + np.bincount(index, rest, size).astype(float)
    return sums, lost
