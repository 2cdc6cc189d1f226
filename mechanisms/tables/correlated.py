"""[mechanism] of a claim whose noise is correlated between rounds: all of its rounds are one release."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

from pydantic import model_validator

from .. import (
    BallsInBins,
    BandedFactorisation,
    CorrelatedGaussian,
    InputError,
    Mechanism,
    MinSeparated,
    NoNoise,
    Poisson,
    Repeat,
    ToeplitzFactorisation,
    TreeAggregation,
    cyclic_poisson,
)
from ..correlated import MaxParticipations, MinSeparation, NodeNoise
from ..matrix_factorisation import Bands, Coefficients, ColumnNorms
from .cohort import SamplingTable
from .fields import KindTable, MissingKeys
from .scheme import Scheme


class CorrelatedTable(KindTable):
    """Noise multiplier and participation limits."""

    noise_multiplier: NodeNoise
    min_separation: MinSeparation = 1
    max_participations: MaxParticipations = 1

    def over(self, rounds: int, sampling: SamplingTable) -> Mechanism:
        """All rounds as one description. Who takes part when is limited, not random: sampling must be "none"."""
        if sampling.scheme != Scheme.NONE:
            raise InputError("sampling.scheme", sampling.scheme, "none: participation is limited, not sampled")
        return NoNoise() if self.is_without_noise else self.released(rounds)

    @abstractmethod
    def released(self, rounds: int) -> CorrelatedGaussian:
        """All rounds as one release, where nobody is sampled."""

    @property
    def states_participations(self) -> bool:
        """Whether it says how often a unit takes part, or leaves that at the default."""
        return "max_participations" in self.model_fields_set

    @property
    def _limits(self) -> dict[str, Any]:
        names = ("noise_multiplier", "min_separation", "max_participations")
        return {name: getattr(self, name) for name in names}


class TreeAggregationTable(CorrelatedTable):
    """One binary tree, of which the `rounds` are the leaves; no sampling. Without `max_participations` the finding
    `participations-not-stated` warns you."""

    kind: Literal["tree-aggregation"]

    def released(self, rounds: int) -> CorrelatedGaussian:
        return TreeAggregation(rounds=rounds, **self._limits)


class MatrixFactorisationTable(CorrelatedTable):
    """The encoder is stated by its `coefficients`, or by `column_norms` with `bands`. Without `max_participations` the
    finding `participations-not-stated` warns you."""

    kind: Literal["matrix-factorisation"]
    coefficients: Coefficients | None = None
    column_norms: ColumnNorms | None = None
    bands: Bands | None = None

    @model_validator(mode="after")
    def _one_encoder(self) -> MatrixFactorisationTable:
        if self.coefficients is not None:
            for name in ("column_norms", "bands"):
                if getattr(self, name) is not None:
                    raise InputError(name, getattr(self, name), "nothing beside coefficients: they say it all")
        elif self.column_norms is None or self.bands is None:
            raise MissingKeys({"coefficients": "the encoder's first column, or column_norms and bands"})
        return self

    def over(self, rounds: int, sampling: SamplingTable) -> Mechanism:
        """Banded noise with cyclic Poisson cohorts (min_separation groups) is Poisson rounds of Gaussian noise."""
        if sampling.scheme in (Scheme.BALLS_IN_BINS, Scheme.MIN_SEPARATED):
            return self._sampled(rounds, sampling)
        if sampling.scheme != Scheme.CYCLIC_POISSON:
            return super().over(rounds, sampling)
        if self.bands is None:
            expected = "column_norms and bands with sampling.scheme = 'cyclic-poisson', instead of coefficients"
            raise MissingKeys({"bands": expected})
        passes = -(-rounds // self.min_separation)  # a coin of its own in each: participations are not limited
        if self.is_without_noise:
            return Repeat(Poisson(NoNoise(), self._rate(sampling)), passes)
        limits = self._limits | {"max_participations": passes}
        noise = BandedFactorisation(column_norms=self._norms(rounds), bands=self.bands, **limits)
        return cyclic_poisson(noise, self._rate(sampling))

    def _sampled(self, rounds: int, sampling: SamplingTable) -> Mechanism:
        """Rounds that a unit draws; how many they are at most follows from the scheme."""
        if self.coefficients is None:
            expected = f"the encoder's first column, with sampling.scheme = '{sampling.scheme}': norms are not enough"
            raise MissingKeys({"coefficients": expected})
        if self.is_without_noise:  # whoever was never drawn flipped a coin in every round
            return NoNoise() if sampling.bins is not None else Repeat(Poisson(NoNoise(), self._coin(sampling)), rounds)
        noise = ToeplitzFactorisation(
            self.noise_multiplier, self.coefficients, rounds, min_separation=self.min_separation
        )
        if sampling.bins is not None:
            return BallsInBins(noise, sampling.bins)
        return MinSeparated(noise, self._coin(sampling))

    def rate_of_free(self, sampling: SamplingTable) -> float:
        """With which probability a unit takes part in a round in which it may, where others may not."""
        return self._rate(sampling) if sampling.scheme == Scheme.CYCLIC_POISSON else self._coin(sampling)

    def _coin(self, sampling: SamplingTable) -> float:
        """Of a unit that may flip one: cohorts have population / (min_separation - 1 + 1/rate) units."""
        if sampling.sampling_rate is not None:
            return sampling.sampling_rate
        share = 1 - sampling.rate * (self.min_separation - 1)
        if share < sampling.rate:
            largest = (sampling.population or 0) // self.min_separation
            raise InputError("sampling.cohort", sampling.cohort, f"at most {largest}, population / min_separation")
        return min(1.0, sampling.rate / share)

    def _rate(self, sampling: SamplingTable) -> float:
        """Of a unit within its group: cohorts of a round are drawn from one group only."""
        if sampling.sampling_rate is not None:
            return sampling.sampling_rate
        share = sampling.rate * self.min_separation
        if share > 1:
            largest = (sampling.population or 0) // self.min_separation
            raise InputError("sampling.cohort", sampling.cohort, f"at most the {largest} units of one group")
        return share

    def released(self, rounds: int) -> CorrelatedGaussian:
        if self.coefficients is not None:
            return ToeplitzFactorisation(coefficients=self.coefficients, rounds=rounds, **self._limits)
        return BandedFactorisation(column_norms=self._norms(rounds), bands=self.bands or 1, **self._limits)

    def _norms(self, rounds: int) -> tuple[float, ...]:
        """One per round."""
        norms = self.column_norms or ()
        if len(norms) not in (1, rounds):
            raise InputError("column_norms", f"{len(norms)} numbers", f"a list of one, or of {rounds}, one per round")
        return norms * rounds if len(norms) == 1 else norms
