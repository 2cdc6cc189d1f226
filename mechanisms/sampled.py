"""Who takes part in a round: client (or example) sampling schemes around a base mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field

from .base import ADDED_LATER, Mechanism
from .validate import InputError, count, rate


def released(mechanism: object) -> None:
    """Raises InputError for what is no mechanism. Repeat and Sequence are several releases about the same sample."""
    if not isinstance(mechanism, Mechanism):
        raise InputError("mechanism", mechanism, "a mechanism description, such as Gaussian(noise_multiplier=1.0)")


@dataclass(frozen=True, slots=True)
class Poisson(Mechanism):
    """Every unit takes part independently with probability sampling_rate.

    The released sum is divided by a constant (the expected cohort), never by the realised cohort.

    >>> from dpcert import Gaussian, Repeat, epsilon
    >>> run = Repeat(Poisson(Gaussian(1.0), sampling_rate=0.01), 1000)
    >>> round(epsilon(run, delta=1e-5).upper, 4)
    1.8282

    Several releases about one sample are inside, several samples outside: ten noisy steps of whoever is drawn cost more
    than ten rounds that each draw anew.

    >>> steps = Poisson(Repeat(Gaussian(4.0), 10), sampling_rate=0.1)
    >>> apart = Repeat(Poisson(Gaussian(4.0), sampling_rate=0.1), 10)
    >>> epsilon(steps, delta=1e-6).lower > epsilon(apart, delta=1e-6).upper
    True
    """

    mechanism: Mechanism
    sampling_rate: float

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "sampling_rate", rate("sampling_rate", self.sampling_rate))


@dataclass(frozen=True, slots=True)
class FixedSize(Mechanism):
    """A uniformly random cohort of fixed size, drawn without replacement, fresh in every round.

    >>> from dpcert import Gaussian
    >>> FixedSize(Gaussian(8.0), population=205, cohort=100).sampling_rate
    0.4878048780487805
    """

    mechanism: Mechanism
    population: int
    cohort: int

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "population", count("population", self.population))
        object.__setattr__(self, "cohort", count("cohort", self.cohort))
        if self.cohort > self.population:
            raise InputError("cohort", self.cohort, f"at most the population, {self.population}")

    @property
    def sampling_rate(self) -> float:
        """cohort / population, the probability that one given unit takes part in a round."""
        return self.cohort / self.population


@dataclass(frozen=True, slots=True)
class Shuffled(Mechanism):
    """One epoch: all units, shuffled afresh, go through the mechanism in `batches` batches.

    Every unit takes part in exactly one batch. Several epochs are a Repeat of this. The batches are of one known size,
    with the same noise in each; the last one may be smaller, unless full_batches says that all are of that size.
    full_batches: how many are, `batches` or one less, which is taken where nothing is said.

    >>> from dpcert import Gaussian, Repeat
    >>> Repeat(Shuffled(Gaussian(1.0), batches=235), 60).rounds  # 60 epochs of 60,000 examples in batches of 256
    60
    >>> Shuffled(Gaussian(1.0), batches=100, full_batches=100).full_batches  # 50,000 examples in batches of 500
    100
    """

    mechanism: Mechanism
    batches: int
    full_batches: int = field(default=0, metadata=ADDED_LATER)

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "batches", count("batches", self.batches))
        full = self.full_batches or self.batches - 1
        if full not in (self.batches, self.batches - 1):
            raise InputError(
                "full_batches", full, f"{self.batches}, or {self.batches - 1} if the last batch is smaller"
            )
        object.__setattr__(self, "full_batches", full)


@dataclass(frozen=True, slots=True)
class TruncatedPoisson(Mechanism):
    """Poisson sampling whose cohort is cut at random to max_cohort units when more come up (Chua et al. 2024,
    arXiv 2411.04205; docs/theory/truncated_poisson.md).

    population: the number of units, in the larger of two neighbouring federations where their sizes differ. The sum is
    divided by a constant, never by the realised cohort.

    >>> from dpcert import Gaussian
    >>> TruncatedPoisson(Gaussian(1.0), sampling_rate=0.01, population=10_000, max_cohort=120).max_cohort
    120
    """

    mechanism: Mechanism
    sampling_rate: float
    population: int
    max_cohort: int

    def __post_init__(self) -> None:
        released(self.mechanism)
        object.__setattr__(self, "sampling_rate", rate("sampling_rate", self.sampling_rate))
        object.__setattr__(self, "population", count("population", self.population))
        object.__setattr__(self, "max_cohort", count("max_cohort", self.max_cohort))
        if isinstance(self.mechanism, Poisson | FixedSize):
            raise InputError("mechanism", self.mechanism, "a release about the whole cohort, where cohorts are cut")
