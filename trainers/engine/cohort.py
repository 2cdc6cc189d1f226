"""Who takes part in a round."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Mechanism,
    Poisson,
    RandomAllocation,
    Shuffled,
    TruncatedPoisson,
    draw_schedule,
)
from .settings import Settings
from .streams import Streams

Cohort = npt.NDArray[np.int64]

DEALT: dict[str, type[Shuffled] | type[RandomAllocation] | type[Cyclic]] = {
    "shuffle": Shuffled,
    "random-allocation": RandomAllocation,
    "cyclic": Cyclic,
}
"""The schemes of which one description covers several rounds: an epoch, a block, a pass."""


class CohortSampler:
    """Draws each round's cohort, exactly, from the very description that the accountant is given.

    Every client's coin under Poisson sampling is its own; a sum is always divided by the constant `denominator`,
    never by how many came, which would tell about the others (claims register, PMTL-C2 (iii)).
    period: how many rounds one description covers. kept: each round's cohort, once somebody has put a dict there.
    Raises InputError for a cohort above the population.
    """

    def __init__(self, settings: Settings, population: int) -> None:
        if settings.sampling != "full" and settings.cohort > population:
            raise InputError("cohort", settings.cohort, f"at most the number of clients, {population}")
        self.sampling = settings.sampling if settings.cohort < population else "full"
        self.population, self.max_cohort = population, settings.max_cohort
        self.denominator = settings.cohort if self.sampling != "full" else population
        self.period = 1
        if self.sampling in DEALT:
            self.period = -(-population // settings.cohort)
            self.denominator = -(-population // self.period)  # at most the cohort that was asked for
        self.kept: dict[int, Cohort] | None = None
        self._dealt: tuple[tuple[int, int, int], list[list[int]]] | None = None

    @property
    def rate(self) -> float:
        """The probability that one given client takes part in a round, unless a cut keeps it out."""
        return self.denominator / self.population if self.period == 1 else 1 / self.period

    def draw(self, streams: Streams, attempt: int, round_index: int) -> Cohort:
        """The indices of the round's clients, ascending.

        The rounds of one epoch are of one drawing. An attempt at a round that was paid for before takes its place in
        an epoch drawn for such attempts alone, so that it tells nothing of the first drawing.
        """
        if self.sampling == "full":
            return np.arange(self.population)
        block, place = divmod(round_index, self.period)
        key = (streams.seed, attempt, block)
        if self._dealt is None or self._dealt[0] != key:
            scheme = self.describe(Gaussian(1.0))  # who takes part does not depend on the noise
            self._dealt = key, draw_schedule(scheme, self.population, streams.bits("cohort", attempt, block))
        cohort = np.array(self._dealt[1][place], dtype=np.int64)
        if self.kept is not None:
            self.kept[round_index] = cohort
        return cohort

    def describe(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism of one period, a round or an epoch, under this sampling."""
        if self.sampling == "full":
            return mechanism
        if self.sampling == "shuffle" and self.population % self.period == 0:
            return Shuffled(mechanism, self.period, full_batches=self.period)
        if self.sampling in DEALT:
            return DEALT[self.sampling](mechanism, self.period)
        if self.sampling == "fixed-size":
            return FixedSize(mechanism, population=self.population, cohort=self.denominator)
        if self.max_cohort is not None:
            return TruncatedPoisson(mechanism, self.rate, self.population, self.max_cohort)
        return Poisson(mechanism, sampling_rate=self.rate)

    def drawings(self, rounds: Iterable[int]) -> int:
        """How many drawings these rounds are of, and so how often what describe() gives is paid for."""
        return len({round_index // self.period for round_index in rounds})

    def in_claims(self) -> dict[str, object]:
        """This sampling as a claim's [sampling] says it; {} where everybody takes part."""
        told: dict[str, object] = {"scheme": self.sampling}
        if self.sampling == "full":
            return {}
        if self.sampling == "poisson":
            told["sampling_rate"] = self.rate
            return told | ({} if self.max_cohort is None else {"max_cohort": self.max_cohort})
        return told | ({"block": self.period} if self.sampling == "random-allocation" else {"cohort": self.denominator})
