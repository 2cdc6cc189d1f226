"""Aggregators: how a round's clipped updates become one number per coordinate, and how far one client moves it.

Every update has L2 norm at most clip_norm. `largest_weight` is the most that one client's update can weigh in the
released mean, whatever the cohort; one client then moves the mean by clip_norm * largest_weight when its update is
zeroed and by twice that when its data (its sample count included) are replaced: the mean is o + w (g - o), with o
the mean of the others and w the client's own weight, and all of these lie in the ball of radius
largest_weight * clip_norm around o - largest_weight * o (proof: docs/theory/billboard.md, "Sensitivity").

Where the noise is added decides who faces which noise multiplier (standard deviation on the sum / clip_norm, in
units in which the heaviest client contributes at most 1):

- at a trusted server: clients face it all; the server itself saw the updates without any;
- by each client on its own update: whoever sees uploads faces one client's noise; whoever sees the mean only faces
  all of it; colluding clients subtract their own noise from the mean;
- in shares under secure aggregation: as the latter two, but nobody sees a single upload.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from .neighbours import Relation, neighbouring_relation, sensitivity
from .quantity import Quantity, check_fields
from .validate import InputError, count, positive

Clip = Annotated[float, Quantity(positive, "the largest L2 norm of an update")]
Noise = Annotated[float, Quantity(positive, "standard deviation, in the units of the updates")]
Cohort = Annotated[int, Quantity(count, "clients a round")]

_DIVIDES = "zero-out or replace-one: this mean divides by the cohort, so a client that leaves changes all weights"


def _each_positive(field: str, values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(positive(field, value) for value in values)


class Aggregation:
    """What all aggregators answer. Subclasses are frozen dataclasses with a clip_norm."""

    __slots__ = ()
    clip_norm: float

    def __post_init__(self) -> None:
        """Checks every field that says how (quantity.py)."""
        check_fields(self)

    @property
    def largest_weight(self) -> float:
        """The most that one client's update can weigh in the released mean."""
        raise NotImplementedError

    @property
    def least_weight(self) -> float:
        """The least that the heaviest client's update weighs in a mean that it is part of."""
        return self.largest_weight

    def sensitivity(self, relation: Relation) -> float:
        """How far, in L2, one neighbouring step moves the mean before noise. zero-out: clip_norm * largest_weight;
        replace-one: twice that. Raises InputError for add-remove where it changes what the mean divides by.
        """
        relation = neighbouring_relation(relation)
        if relation == Relation.ADD_REMOVE:
            self._under_add_remove()
        return sensitivity(relation) * self.clip_norm * self.largest_weight

    def _under_add_remove(self) -> None:
        raise InputError("neighbouring", Relation.ADD_REMOVE, _DIVIDES)

    def clients_noise_multiplier(self, colluders: int = 0) -> float:
        """The noise that is left for `colluders` clients who pool what they know and see the released mean.

        Raises InputError where they are as many as the cohort: the client itself must be in it.
        """
        raise NotImplementedError

    def server_noise_multiplier(self) -> float:
        """The noise between the server and one client's update; 0 when the server sees updates as they are."""
        return 0.0


@dataclass(frozen=True, slots=True)
class _PlainMean(Aggregation):
    """Over exactly `cohort` updates."""

    clip_norm: Clip
    noise_std: Noise
    cohort: Cohort

    @property
    def largest_weight(self) -> float:
        """1 / cohort."""
        return 1.0 / self.cohort


@dataclass(frozen=True, slots=True)
class UniformMean(_PlainMean):
    """The plain mean over exactly `cohort` updates, noise of standard deviation noise_std on it, at the server."""

    def clients_noise_multiplier(self, colluders: int = 0) -> float:
        """noise_std * cohort / clip_norm, whoever colludes: the server's noise is nobody else's."""
        return self.noise_std * self.cohort / self.clip_norm


@dataclass(frozen=True, slots=True)
class FixedDenominatorMean(Aggregation):
    """The sum over a Poisson cohort divided by the constant expected_cohort, noise noise_std on it, at the server.

    Dividing by the realised cohort instead is not covered: a client that joins changes everybody's weight, and an
    empty cohort has no mean.
    """

    clip_norm: Clip
    noise_std: Noise
    expected_cohort: Annotated[float, Quantity(positive, "clients a round on average")]

    @property
    def largest_weight(self) -> float:
        """1 / expected_cohort."""
        return 1.0 / self.expected_cohort

    def _under_add_remove(self) -> None:
        """The denominator is a constant, so a client that leaves takes its own update away and no more."""

    def clients_noise_multiplier(self, colluders: int = 0) -> float:
        """noise_std * expected_cohort / clip_norm."""
        return self.noise_std * self.expected_cohort / self.clip_norm


@dataclass(frozen=True, slots=True)
class SampleCountMean(Aggregation):
    """Updates weighted by sample counts, n_k / sum over the cohort (FedAvg), noise noise_std on it, at the server.

    counts: of every client of the population. The heaviest client weighs most beside the cohort - 1 lightest.
    Changing a client's own count stays within the bound as long as it stays at most the largest one stated.
    """

    clip_norm: Clip
    noise_std: Noise
    counts: Annotated[tuple[float, ...], Quantity(_each_positive, "samples of each client")]
    cohort: Cohort

    def __post_init__(self) -> None:
        Aggregation.__post_init__(self)
        if self.cohort > len(self.counts):
            raise InputError("cohort", self.cohort, f"at most the number of counts, {len(self.counts)}")

    @property
    def largest_weight(self) -> float:
        """max_k n_k / (n_k + the cohort - 1 smallest other counts); it is attained by the largest count."""
        *others, heaviest = sorted(self.counts)
        return heaviest / math.fsum([heaviest, *others[: self.cohort - 1]])

    @property
    def least_weight(self) -> float:
        """max_k n_k / (n_k + the cohort - 1 largest other counts)."""
        *others, heaviest = sorted(self.counts)
        return heaviest / math.fsum([heaviest, *others[len(others) - self.cohort + 1 :]])

    def clients_noise_multiplier(self, colluders: int = 0) -> float:
        """noise_std / (clip_norm * largest_weight)."""
        return self.noise_std / (self.clip_norm * self.largest_weight)


@dataclass(frozen=True, slots=True)
class PerClientNoise(_PlainMean):
    """Each of exactly `cohort` clients adds noise of standard deviation noise_std to its own update; plain mean."""

    def clients_noise_multiplier(self, colluders: int = 0) -> float:
        """noise_std * sqrt(cohort - colluders) / clip_norm: up to `colluders` of the cohort subtract their own noise.

        At least the client's own noise is left; with everybody else colluding, nothing but that.
        """
        colluders = count("colluders", colluders, least=0)
        return self.noise_std * math.sqrt(max(1, self.cohort - colluders)) / self.clip_norm

    def server_noise_multiplier(self) -> float:
        """noise_std / clip_norm: the server sees every noisy upload by itself."""
        return self.noise_std / self.clip_norm


@dataclass(frozen=True, slots=True)
class SecureAggregation(_PlainMean):
    """Secure aggregation: only the mean leaves it; each of exactly `cohort` clients adds a noise share beforehand.

    noise_std: of the noise on the mean when all shares arrive; a client that drops out takes its share away, which
    `dropouts`, the most clients that may be missing, accounts for.
    """

    dropouts: Annotated[int, Quantity(partial(count, least=0), "clients that may be missing")] = 0

    def __post_init__(self) -> None:
        Aggregation.__post_init__(self)
        if self.dropouts >= self.cohort:
            raise InputError("dropouts", self.dropouts, f"fewer than the cohort, {self.cohort}")

    def clients_noise_multiplier(self, colluders: int = 0) -> float:
        """noise_std * sqrt(cohort * shares) / clip_norm; shares left = cohort - dropouts - colluders, at least 1."""
        shares = max(1, self.cohort - self.dropouts - count("colluders", colluders, least=0))
        return self.noise_std * math.sqrt(self.cohort * shares) / self.clip_norm

    def server_noise_multiplier(self) -> float:
        """What clients face without colluders: the server too sees only the mean."""
        return self.clients_noise_multiplier()
