"""A composition's moments, phase by phase: log of the product of E[e^{cL}] over all rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..pairs import Composition, GaussianPair, SubsampledPair
from ..rounding import PARAMETER
from .moments import Quadrature, quadrature
from .paths import Real, Sampled, sampled


@dataclass(frozen=True, slots=True)
class Rounds:
    """Quadratures with their numbers of rounds, and the squared shift of the Gaussian rounds together."""

    sampled: tuple[tuple[Quadrature, int], ...]
    gaussian: float

    def log_profile_above(self, points: Real) -> Real:
        """At least log(e^{c eps} delta(eps)), for every eps and every c of points, for which the quadratures were laid.

        (1 - e^{eps-L})_+ <= e^{c(L-eps)} c^c / (1+c)^{1+c}, the factor being 1 at c = 0.
        """
        total = 0.5 * self.gaussian * points * (points + 1.0) * (1.0 + 8.0 * PARAMETER)
        for part, rounds in self.sampled:
            total += rounds * part.log_moments_above(points)
        log_points = np.log(np.where(points > 0.0, points, 1.0))
        return total + points * log_points - (1.0 + points) * np.log1p(points) + 1e-9


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
