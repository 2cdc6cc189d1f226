"""A composition's moments, phase by phase: log of the product of E[e^{cL}] over all rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..pairs import Composition, GaussianPair, SubsampledPair
from ..rounding import PARAMETER
from .moments import Quadrature, quadrature
from .paths import Sampled, sampled


@dataclass(frozen=True, slots=True)
class Rounds:
    """Quadratures with their numbers of rounds, and the squared shift of the Gaussian rounds together."""

    sampled: tuple[tuple[Quadrature, int], ...]
    gaussian: float

    def log_profiles_above(self, points: tuple[float, ...]) -> list[float]:
        """At least log(e^{c eps} delta(eps)), for every eps and every c of points, for which the quadratures were laid.

        (1 - e^{eps-L})_+ <= e^{c(L-eps)} c^c / (1+c)^{1+c}, the factor being 1 at c = 0.
        """
        if not points:
            return []
        column = np.array(points)
        total = 0.5 * self.gaussian * column * (column + 1.0) * (1.0 + 8.0 * PARAMETER)
        for part, rounds in self.sampled:
            total += rounds * part.log_moments_above(column)
        logs = [c * math.log(c) - (1.0 + c) * math.log1p(c) if c else 0.0 for c in points]
        return [float(value) + log + 1e-9 for value, log in zip(total, logs, strict=True)]


def phases(composition: Composition) -> tuple[tuple[tuple[Sampled, int], ...], float]:
    """The subsampled phases with their numbers of rounds, and the squared shift of the Gaussian rounds together."""
    gaussian = math.fsum(count * pair.shift**2 for pair, count in composition if isinstance(pair, GaussianPair))
    return tuple((sampled(pair), count) for pair, count in composition if isinstance(pair, SubsampledPair)), gaussian


def lay(composition: Composition, points: tuple[float, ...], accuracy: float) -> Rounds:
    """Quadratures with a relative error of about e^-accuracy over all rounds at each Re t in points."""
    parts, gaussian = phases(composition)
    spread = math.log(max(1, len(parts)))
    return Rounds(
        tuple((quadrature(pair, points, accuracy + spread + math.log(count)), count) for pair, count in parts),
        gaussian,
    )
