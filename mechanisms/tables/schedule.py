"""Several phases of a run, as the [[phase]] tables of a claim describe them, without a claim."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from .. import CorrelatedGaussian, Gaussian, InputError, Laplace, Mechanism, Repeat, Sequence
from .fields import MissingKeys, Table
from .file import read_tables
from .noise import GaussianMeanTable, PerClientGaussianTable
from .phase import Phase, attained_run_of, run_of
from .problems import first_problem
from .scheme import Scheme


class ScheduleTables(Table):
    """The whole file: [[phase]] tables."""

    phase: tuple[Phase, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Phases that run one after the other."""

    phases: tuple[Phase, ...]

    def run(self) -> Mechanism:
        """The adaptive composition of the phases."""
        return run_of(self.phases)

    @property
    def exact(self) -> bool:
        """Whether the tables say what ran, and not only how bad it was at most."""
        return attained_run_of(self.phases) == self.run()

    def with_noise(self, factor: float) -> Mechanism:
        """The run with every phase's Gaussian or Laplace noise multiplied by the factor.

        Raises InputError for noise of another kind, which has no scale of its own.
        """

        parts = []
        for phase in self.phases:
            scaled = _scaled(phase.described().upper, factor)
            if scaled is None:
                raise InputError("phase.mechanism.kind", phase.mechanism.kind, "Gaussian or Laplace noise, to scale it")
            parts.append(_phase(phase, scaled, phase.rounds))
        return Sequence(tuple(parts))

    def with_clip(self, factor: float) -> Mechanism:
        """The run with every phase's contributions clipped at the factor times as much, under the same noise.

        Raises InputError for noise other than Gaussian or Laplace.
        """
        return self.with_noise((1.0 - 1e-15) / factor)

    def with_last_cohort(self, cohort: float) -> Mechanism:
        """The run with such a cohort in the last phase, whose noise multiplier stays.

        Raises InputError where that has no Poisson or fixed-size cohorts of a stated population, or noise on a mean.
        """
        self.last_population()
        *others, last = self.phases
        sizes = {"cohort": int(cohort), "sampling_rate": None}
        ending = Repeat(last.sampling.model_copy(update=sizes).sampled(last.described().upper), last.rounds)
        return Sequence((run_of(tuple(others)), ending)) if others else ending

    def last_population(self) -> int:
        """What the last phase's cohort can be at most. Raises InputError as with_last_cohort does."""
        last = self.phases[-1]
        if last.sampling.scheme not in (Scheme.POISSON, Scheme.FIXED_SIZE) or last.sampling.population is None:
            expected = "poisson or fixed-size, with a population, in the last phase, to solve for its cohort"
            raise InputError("phase.sampling.scheme", last.sampling.scheme, expected)
        if any(isinstance(table, GaussianMeanTable | PerClientGaussianTable) for table in last.tables):
            expected = "noise on the sum in the last phase: noise on a mean changes with the cohort"
            raise InputError("phase.mechanism.kind", last.mechanism.kind, expected)
        return last.sampling.population

    @property
    def last_step(self) -> int:
        """By how many rounds the last phase can grow: whole epochs when shuffled, whole blocks of random allocation."""
        return self.phases[-1].sampling.step

    def with_last_rounds(self, rounds: float) -> Mechanism:
        """The run with so many rounds in the last phase, a multiple of `last_step`."""
        *others, last = self.phases
        base = last.described().upper
        if isinstance(base, CorrelatedGaussian):
            raise InputError("phase.mechanism.kind", last.mechanism.kind, "noise that is independent between rounds")
        ending = _phase(last, base, last.sampling.times(int(rounds)))
        return Sequence((run_of(tuple(others)), ending)) if others else ending


def _scaled(release: Mechanism, factor: float) -> Mechanism | None:
    """One release, or several about one sample, with their noise multiplied; None where it has no scale."""
    if isinstance(release, Gaussian | Laplace):
        return type(release)(release.noise_multiplier * factor)
    if isinstance(release, Repeat):
        inner = _scaled(release.mechanism, factor)
        return None if inner is None else Repeat(inner, release.rounds)
    if isinstance(release, Sequence):
        parts = [_scaled(part, factor) for part in release.mechanisms]
        return None if None in parts else Sequence(tuple(part for part in parts if part is not None))
    return None


def _phase(phase: Phase, base: Mechanism, rounds: int) -> Mechanism:
    """The phase with another noise or number of rounds."""
    return Repeat(phase.sampling.sampled(base), rounds)


def load_schedule(path: str | Path) -> Schedule:
    """The schedule in a TOML file of at most 1 MB, UTF-8. Raises InputError, naming the field or the file."""
    tables = read_tables(path)
    if not tables.get("phase"):
        raise MissingKeys({"phase": "[[phase]] tables, each with a [phase.mechanism]"})
    try:
        return Schedule(ScheduleTables.model_validate(tables).phase)
    except ValidationError as problem:
        raise first_problem(problem) from None
