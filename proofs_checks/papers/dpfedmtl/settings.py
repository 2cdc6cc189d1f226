"""What section 6 of the DPFedMTL paper states of its experiments: Table 1 and section 6.1."""

from __future__ import annotations

from dataclasses import dataclass

DELTA = 1e-5
CHOSEN = {45.0: 0.11, 8.0: 0.65, 2.0: 2.42, 0.5: 9.69}
"""Section 6.1: sigma as printed, by the epsilon that it was chosen for."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """M clients, K a round, T rounds."""

    name: str
    population: int
    cohort: int
    rounds: int

    @property
    def rate(self) -> float:
        """p = K / M."""
        return self.cohort / self.population


CELEBA = Experiment("CelebA", 9343, 20, 400)
FEMNIST = Experiment("FEMNIST", 174, 3, 1000)
EXPERIMENTS = {each.name: each for each in (CELEBA, FEMNIST)}
