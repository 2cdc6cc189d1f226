"""A composition of Gaussian and subsampled Gaussian rounds, as a measure that the inverter asks for moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...pairs import Composition
from ...rounding import PARAMETER, UNIT
from ..measure import Transform
from .complex_functions import log1p
from .paths import Sampled, sampled
from .quadrature import Quadrature, Tilted, quadrature, short
from .truncation_envelope import Envelope, envelope


@dataclass(frozen=True, slots=True)
class Densities:
    """Quadratures with their numbers of rounds, and the squared shift of the Gaussian rounds together."""

    sampled: tuple[tuple[Quadrature, int], ...]
    gaussian: float

    def log_moments(self, points: Floats) -> Floats:
        """At least the log of the product of all moments, at every c for which the quadratures were laid."""
        total = 0.5 * self.gaussian * points * (points + 1.0) * (1.0 + 8.0 * PARAMETER)
        for part, rounds in self.sampled:
            total = total + rounds * part.log_moments_above(points)
        return np.asarray(total + 1e-9)

    def on(self, c: float) -> DensitiesOnLine:
        """The moments on Re t = c, one of those that the quadratures were laid for."""
        return DensitiesOnLine(c, tuple((part, part.tilted(c), rounds) for part, rounds in self.sampled), self.gaussian)


@dataclass(frozen=True)
class DensitiesOnLine:
    """parts: each quadrature, its moments on Re t = c, and its number of rounds."""

    c: float
    parts: tuple[tuple[Quadrature, Tilted, int], ...]
    gaussian: float

    @cached_property
    def envelopes(self) -> tuple[tuple[Envelope, int], ...]:
        """What bounds |phi| far out."""
        return tuple((envelope(part, tilt, math.log(rounds)), rounds) for part, tilt, rounds in self.parts)

    @property
    def fall(self) -> float:
        """About -log |phi(c + is) / phi(c)| / s^2 for small s."""
        return 0.5 * self.gaussian + math.fsum(rounds * part.fall for part, rounds in self.envelopes)

    def log_bound(self, frequency: float) -> float:
        """At least log |phi(c + is)| for every s >= frequency."""
        gauss = 0.5 * self.gaussian * (self.c * (self.c + 1.0) * (1.0 + 8.0 * PARAMETER) - frequency**2 * _LESS)
        return gauss + math.fsum(rounds * part.log_bound(frequency) for part, rounds in self.envelopes)

    def transform(self, period: float, count: int) -> Transform:
        """phi on the line, relative to phi(c)."""
        s = frequencies(period, count)
        tilts = [tilt for _, tilt, _ in self.parts]
        return self.product(s, [tilt.changes(s) for tilt in tilts], [tilt.inexact(s) for tilt in tilts])

    def product(self, s: Floats, changes: list[Complex], errors: list[Floats]) -> Transform:
        """phi at the frequencies s from every part's E[e^{tL}] - E[e^{cL}] there, and the errors of E[e^{tL}]."""
        c = self.c
        gaussian = 0.5 * self.gaussian * c * (c + 1.0)
        log_scale = gaussian + math.fsum(rounds * tilt.log_moment for _, tilt, rounds in self.parts)
        log_phi: Complex = 0.5 * self.gaussian * s * (1j * (2.0 * c + 1.0) - s)
        log_error = 8.0 * PARAMETER * np.abs(log_phi)
        for (_, tilt, rounds), change, bound in zip(self.parts, changes, errors, strict=True):
            moment = np.abs(tilt.moment + change)
            log_phi += rounds * log1p(change / tilt.moment)
            log_error += rounds * np.log1p(bound / np.maximum(moment, 1e-300))
        values: Complex = np.exp(log_phi)
        error = np.expm1(np.minimum(log_error, 700.0)) + 44.0 * UNIT * np.abs(log_phi)
        scale_error = 8.0 * PARAMETER * gaussian + 16.0 * UNIT * abs(log_scale)
        return Transform(s, values, np.abs(values) * error, log_scale, scale_error)


def frequencies(period: float, count: int) -> Floats:
    """Multiples of a step of few bits, at most 2 pi / period."""
    return short(2.0 * math.pi / period) * np.arange(count + 1, dtype=np.float64)


_LESS = 1.0 - 8.0 * PARAMETER


def phases(composition: Composition) -> tuple[tuple[tuple[Sampled, int], ...], float]:
    """The subsampled phases with their numbers of rounds, and the squared shift of the Gaussian rounds together."""
    parts, squares = [], []
    for pair, count in composition:
        part, noise = sampled(pair), pair.gaussian()
        if part is not None:
            parts.append((part, count))
        elif noise is not None:
            squares.append(count * noise.shift**2)
    return tuple(parts), math.fsum(squares)


def lay(composition: Composition, points: tuple[float, ...], accuracy: float) -> Densities:
    """Quadratures with a relative error of about e^-accuracy over all rounds at each Re t in points."""
    parts, gaussian = phases(composition)
    spread = math.log(max(1, len(parts)))
    return Densities(
        tuple((quadrature(pair, points, accuracy + spread + math.log(count)), count) for pair, count in parts),
        gaussian,
    )
