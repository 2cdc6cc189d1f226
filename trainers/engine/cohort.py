"""Who takes part in a round."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...mechanisms import FixedSize, Gaussian, InputError, Mechanism, Poisson, draw_schedule
from .settings import Settings
from .streams import Streams

Cohort = npt.NDArray[np.int64]


class CohortSampler:
    """Draws each round's cohort, exactly, from the very description that the accountant is given.

    Every client's coin under Poisson sampling is its own; a sum is always divided by the constant `denominator`,
    never by how many came, which would tell about the others (claims register, PMTL-C2 (iii)).
    Raises InputError for a cohort above the population.
    """

    def __init__(self, settings: Settings, population: int) -> None:
        if settings.sampling != "full" and settings.cohort > population:
            raise InputError("cohort", settings.cohort, f"at most the number of clients, {population}")
        self.sampling = settings.sampling if settings.cohort < population else "full"
        self.population = population
        self.denominator = settings.cohort if self.sampling != "full" else population

    @property
    def rate(self) -> float:
        """The probability that one given client takes part in a round."""
        return self.denominator / self.population

    def draw(self, streams: Streams, attempt: int, round_index: int) -> Cohort:
        """The indices of the round's clients, ascending."""
        if self.sampling == "full":
            return np.arange(self.population)
        scheme = self.describe(Gaussian(1.0))  # who takes part does not depend on the noise
        (cohort,) = draw_schedule(scheme, self.population, streams.bits("cohort", attempt, round_index))
        return np.array(cohort, dtype=np.int64)

    def describe(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism of one round under this sampling."""
        if self.sampling == "full":
            return mechanism
        if self.sampling == "poisson":
            return Poisson(mechanism, sampling_rate=self.rate)
        return FixedSize(mechanism, population=self.population, cohort=self.denominator)
