"""[sampling] and [composition] of a claim: who takes part in a round, and how many rounds there are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

from pydantic import model_validator

from .. import Cyclic, FixedSize, InputError, Mechanism, Poisson, RandomAllocation, Shuffled, TruncatedPoisson
from ..epochs import exact_rate, rounds_in
from ..validate import yes_or_no
from .fields import Count, MissingKeys, Positive, Rate, Rounds, Table, checked, spelt
from .scheme import Scheme

SYNONYMS = {"dataset_size": "population", "batch_size": "cohort"}
"""What papers on training examples call them."""

_WITH_SAMPLING = {
    "sampling_rate": "'poisson'",
    "cohort": "how cohorts are drawn: 'poisson', 'fixed-size' or 'shuffle'",
    "max_cohort": "'poisson'",
    "bins": "'balls-in-bins'",
    "block": "'random-allocation'",
    "per_block": "'random-allocation'",
}
"""The schemes that take a key which no sampling has no use for."""


class SamplingTable(Table):
    """[sampling]: who takes part in a round. dataset_size and batch_size are other names for population and cohort."""

    scheme: Annotated[Scheme, spelt(Scheme)] = Scheme.NONE
    population: Count | None = None
    cohort: Count | None = None
    sampling_rate: Rate | None = None
    max_cohort: Count | None = None
    drop_last: Annotated[bool | None, checked(yes_or_no)] = None
    block: Count | None = None
    per_block: Count | None = None
    bins: Count | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_name(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        for synonym, name in SYNONYMS.items():
            if synonym in given and name in given:
                raise InputError(synonym, given[synonym], f"nothing beside {name}: they are the same")
        return {SYNONYMS.get(name, name): value for name, value in given.items()}

    @model_validator(mode="after")
    def _consistent(self) -> SamplingTable:
        if self.scheme == Scheme.NONE:
            self._forbid("sampling_rate", "cohort")
        if self.scheme.has_fixed_cohorts:
            self._forbid("sampling_rate")
            self._require("population", "cohort")
        if self.scheme == Scheme.POISSON and self.sampling_rate is None:
            if self.population is None and self.cohort is None:
                expected = "a rate above 0 and at most 1, or population and cohort, with scheme = 'poisson'"
                raise MissingKeys({"sampling_rate": expected})
            self._require("population", "cohort")
        if self.scheme in (Scheme.CYCLIC_POISSON, Scheme.MIN_SEPARATED):
            self._rate_or_sizes()
        if self.scheme != Scheme.BALLS_IN_BINS:
            self._forbid("bins")
        else:
            self._forbid("sampling_rate", "cohort")
            self._require("bins")
        if self.scheme != Scheme.POISSON:
            self._forbid("max_cohort")
        elif self.max_cohort is not None:
            self._require("population")
        if self.drop_last and not self.scheme.partitions_epochs:
            raise InputError("drop_last", True, f"nothing: scheme = '{self.scheme}' has no last batch of an epoch")
        if self.scheme != Scheme.RANDOM_ALLOCATION:
            self._forbid("block", "per_block")
        else:
            self._forbid("sampling_rate", "cohort")
            self._require("block")
            if self.per_block is not None and self.per_block > (self.block or 1):
                raise InputError("per_block", self.per_block, f"at most the {self.block} rounds of a block")
        if self.population and self.cohort:
            self._consistent_sizes(self.population, self.cohort)
        return self

    def _rate_or_sizes(self) -> None:
        """A rate within a unit's own group, or the population and the expected cohort of a round."""
        if self.sampling_rate is None:
            self._require("population", "cohort")
        else:
            self._forbid("cohort")

    def _forbid(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) is not None:
                instead = f"; choose {_WITH_SAMPLING[name]} (--sampling)" if self.scheme == Scheme.NONE else ""
                raise InputError(
                    name, getattr(self, name), f"nothing: scheme = '{self.scheme}' takes no {name}{instead}"
                )

    def _require(self, *names: str) -> None:
        expected = f"a whole number of at least 1 with scheme = '{self.scheme}'"
        lacking = {name: expected for name in names if getattr(self, name) is None}
        if lacking:
            raise MissingKeys(lacking)

    def _consistent_sizes(self, population: int, cohort: int) -> None:
        if cohort > population:
            raise InputError("cohort", cohort, f"at most the population, {population}")
        if self.sampling_rate is not None and not math.isclose(self.sampling_rate, cohort / population, rel_tol=1e-9):
            raise InputError("sampling_rate", self.sampling_rate, f"cohort / population = {cohort / population}")

    @property
    def rate(self) -> float:
        """The probability that one unit takes part in one round."""
        if self.sampling_rate is not None:
            return self.sampling_rate
        if self.block is not None:
            return (self.per_block or 1) / self.block
        if self.bins is not None:
            return 1 / self.bins
        return self.cohort / self.population if self.cohort and self.population else 1.0

    @property
    def leaves_some_out(self) -> bool:
        """Whether a cohort of a fixed size leaves somebody out, who takes the place of a unit that is not there."""
        return self.scheme == Scheme.FIXED_SIZE and self.cohort != self.population

    def require_even(self, noise: str) -> None:
        """Raises InputError where an epoch's last batch is smaller, and what is added to it depends on its size."""
        if self.scheme.partitions_epochs and self.is_uneven and not self.drop_last:
            expected = f"a divisor of the population, {self.population}: {noise} would be another in the last batch"
            raise InputError("sampling.cohort", self.cohort, expected)

    def require_present(self, field: str, units: int) -> None:
        """Raises InputError where more units are to take part in a round than there can be."""
        most = self.population if self.scheme.draws_units_independently else self.cohort or self.population
        if most is not None and units > most:
            raise InputError(field, units, f"at most the {most} units that can take part in a round")

    def rounds_of(self, epochs: float) -> int:
        """How many rounds so many passes over the population are, in exact decimals; the last one counts whole."""
        if self.scheme.partitions_epochs:
            share = Fraction(1, self.together)
        elif self.bins is not None:
            share = Fraction(1, self.bins)
        elif self.population and self.cohort:
            share = Fraction(self.cohort, self.population)
        elif self.sampling_rate is not None and self.scheme != Scheme.MIN_SEPARATED:
            share = exact_rate(self.sampling_rate)
        else:
            raise InputError("composition.epochs", epochs, "rounds: without cohorts of known size there are no epochs")
        return rounds_in(epochs, share)

    @property
    def together(self) -> int:
        """How many rounds one description of `sampled` covers: an epoch, a pass, a block, else one."""
        if self.block is not None:
            return self.block
        if self.scheme.partitions_epochs and self.population and self.cohort:
            return self.population // self.cohort if self.drop_last else -(-self.population // self.cohort)
        return 1

    @property
    def is_uneven(self) -> bool:
        """Whether the cohort does not divide the population: the last batch is smaller, or left out (drop_last)."""
        return bool(self.population and self.cohort and self.population % self.cohort)

    @property
    def drops_units(self) -> bool:
        """Whether a shuffled epoch leaves some units out, drawn anew in each: its cost is known from above only."""
        return self.scheme == Scheme.SHUFFLE and self.drop_last is True and self.is_uneven

    @property
    def step(self) -> int:
        """By how many rounds at least a run grows: whole epochs or blocks only, where `times` asks for them."""
        return 1 if self.scheme == Scheme.CYCLIC else self.together

    def times(self, rounds: int) -> int:
        """How often what `sampled` describes runs in so many rounds.

        A unit of a cyclic schedule's first batch takes part in a pass that was begun, too. Raises InputError for a part
        of a shuffled epoch or of a block of random allocation.
        """
        if self.scheme == Scheme.CYCLIC:
            return -(-rounds // self.together)
        if rounds % self.step:
            whole = "blocks" if self.block is not None else "epochs"
            rounded = "down" if self.drop_last else "up"
            length = "block" if self.block is not None else f"population / cohort, rounded {rounded},"
            raise InputError("composition.rounds", rounds, f"whole {whole}: a multiple of {length} = {self.together}")
        return rounds // self.together

    @property
    def members(self) -> Fraction | None:
        """How many units take part in a round, or are expected to; None where no size is stated."""
        if self.cohort or self.population is None:
            return Fraction(self.cohort) if self.cohort else None
        rounds = Fraction(self.per_block or 1, self.block or self.bins or 1)
        return self.population * (rounds if self.sampling_rate is None else Fraction(repr(self.sampling_rate)))

    def divisor(self) -> float:
        """The constant by which a mean over the cohort divides."""
        if self.cohort:
            return float(self.cohort)
        if self.population is None:
            raise MissingKeys({"sampling.population": "a whole number of at least 1, since the noise is on a mean"})
        return self.rate * self.population

    def sampled(self, base: Mechanism) -> Mechanism:
        """One round (an epoch when shuffled, a pass when cyclic, a block of random allocation) with `base`'s noise."""
        if self.scheme == Scheme.POISSON and self.max_cohort is not None:
            return TruncatedPoisson(base, self.rate, self.population or 0, self.max_cohort)
        if self.scheme == Scheme.POISSON:
            return Poisson(base, self.rate)
        if self.scheme == Scheme.FIXED_SIZE:
            return FixedSize(base, self.population or 0, self.cohort or 0)
        if self.scheme == Scheme.RANDOM_ALLOCATION:
            return RandomAllocation(base, self.together, self.per_block or 1)
        if self.scheme == Scheme.CYCLIC:
            return Cyclic(base, self.together)
        return self._shuffled(base) if self.scheme == Scheme.SHUFFLE else base

    def _shuffled(self, base: Mechanism) -> Shuffled:
        smaller = self.is_uneven and not self.drop_last
        return Shuffled(base, self.together, self.together - 1 if smaller else self.together)


class CompositionTable(Table):
    """[composition]: how many rounds, adaptively, with fresh randomness; or how many epochs. Default: one round.

    days: on how many days so much ran.
    """

    rounds: Rounds | None = None
    epochs: Positive | None = None
    days: Rounds | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> CompositionTable:
        if self.rounds is not None and self.epochs is not None:
            raise InputError("epochs", self.epochs, "nothing beside rounds")
        return self
