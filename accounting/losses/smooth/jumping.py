"""Outcomes in which some round is labelled a jump, as a measure whose transform is known on a line (see rare.py)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ....mechanisms.arrays import Floats
from ...rounding import UNIT
from ..measure import Transform
from .complex_functions import expm1, log1p
from .densities import Densities, DensitiesOnLine, frequencies
from .integrand import SMALLER
from .labelled import Labelled

_RARE = 0.5
"""Share of all outcomes' moment up to which jumps are rare: log(1 - x) has a slope of at most 2."""


@dataclass(frozen=True)
class Jumps:
    """J: the product of all moments less that of those without jumps.

    whole: all outcomes without far ones, laid for the points in use; labels: of the sampled pairs that jump, by their
    place in whole.
    """

    whole: Densities
    labels: tuple[tuple[int, Labelled], ...]

    def log_moments(self, points: Floats) -> Floats:
        """At least the log of the integral of e^{cL} over J: some round jumps, and no moment is below 1 - SMALLER."""
        sums = np.array([sum(part) for part in zip(*self._jumping(points), strict=True)])
        return np.asarray(self.whole.log_moments(points) + np.log(sums) + (1e-9 - math.log1p(-SMALLER)))

    def _jumping(self, points: Floats) -> list[list[float]]:
        rows = []
        for at, label in self.labels:
            tilts, rounds = [label.tilted(float(c)) for c in points], self.whole.sampled[at][1]
            rows.append([rounds * (tilt.moment + tilt.error) for tilt in tilts])
        return rows

    def on(self, c: float) -> JumpsOnLine:
        """The moments on Re t = c."""
        return JumpsOnLine(self.whole.on(c), self.labels, float(self.whole.log_moments(np.array([c]))[0]))


@dataclass(frozen=True)
class JumpsOnLine:
    """The same on Re t = c; log_whole: at least the log of all moments' product there."""

    whole: DensitiesOnLine
    labels: tuple[tuple[int, Labelled], ...]
    log_whole: float

    @property
    def fall(self) -> float:
        """That of the jumps which fall most slowly."""
        return min(label.fall for _, label in self.labels)

    def log_bound(self, frequency: float) -> float:
        """At least log |phi(c + is)| for every s >= frequency: a union bound, the others' moments taken at s = 0."""
        parts = [(label, self.whole.parts[at][2]) for at, label in self.labels]
        logs = [math.log(rounds) + label.log_bound(self.whole.c, frequency) for label, rounds in parts]
        return self.log_whole + float(np.logaddexp.reduce(logs)) - math.log1p(-SMALLER) + 1e-9

    def transform(self, period: float, count: int) -> Transform:
        """prod M^T (1 - e^E), E = sum T log(1 - j / M), with M the moments of all outcomes and j those of the jumps.

        Where j is not small beside M, little cancels: there prod M^T - prod (M - j)^T.
        """
        s = frequencies(period, count)
        changes = [tilt.changes(s) for _, tilt, _ in self.whole.parts]
        errors = [tilt.inexact(s) for _, tilt, _ in self.whole.parts]
        product, kept, kept_errors = self.whole.product(s, changes, errors), list(changes), list(errors)
        exponent, slack = np.zeros(s.shape, dtype=np.complex128), np.zeros(s.shape)
        rare = np.ones(s.shape, dtype=bool)
        for at, label in self.labels:
            (_, tilt, rounds), change = self.whole.parts[at], changes[at]
            tilted, unit = label.tilted(self.whole.c), math.exp(-tilt.scale)
            jumps, inexact = (tilted.moment + tilted.changes(s)) * unit, tilted.inexact(s) * unit
            size, least = np.abs(jumps), np.abs(tilt.moment + change) - errors[at]
            some = size + inexact < _RARE * least
            rare &= some
            ratio = jumps / np.where(some, tilt.moment + change, 1.0)
            ratio[~some] = 0.0
            bound = np.where(some, inexact + np.abs(ratio) * errors[at], 0.0) / np.where(some, least, 1.0)
            bound += 16.0 * UNIT * np.abs(ratio)
            exponent += rounds * log1p(-ratio)
            slack += rounds * (2.0 * bound + 16.0 * UNIT * np.abs(ratio))
            kept[at] = change - jumps
            kept_errors[at] = errors[at] + inexact + 16.0 * UNIT * (tilt.moment + np.abs(change) + size)
        grown, size = expm1(exponent), np.abs(product.values)
        error = np.abs(grown) * (product.errors + 32.0 * UNIT * size)
        error += (size + product.errors) * (np.abs(grown) + 1.0) * np.expm1(slack + 8.0 * UNIT * np.abs(exponent))
        values = -product.values * grown
        if not rare.all():
            without = self.whole.product(s, kept, kept_errors)
            values = np.where(rare, values, product.values - without.values)
            rounded = 8.0 * UNIT * (size + np.abs(without.values))
            error = np.where(rare, error, product.errors + without.errors + rounded)
        return replace(product, values=values, errors=error * (1.0 + 1e-9))
