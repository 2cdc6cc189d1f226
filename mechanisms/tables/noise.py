"""[mechanism] of a claim: what noise one round adds, and what that means as a mechanism description."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, ValidationError

from .. import (
    ApproximateDp,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributedDiscreteGaussian,
    DistributedGaussian,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    PureDp,
    RandomizedResponse,
    Skellam,
    Zcdp,
)
from ..validate import choice, positive
from .cohort import SamplingTable
from .correlated import CorrelatedTable, MatrixFactorisationTable, TreeAggregationTable
from .fields import MISSING, Count, KindTable, Noise, NonNegative, Positive, Probability, checked
from .problems import first_problem


@dataclass(frozen=True, slots=True)
class Described:
    """The noise of one round: truth is at most as bad as `upper`, and at least as bad as `lower` (None: unknown)."""

    upper: Mechanism
    lower: Mechanism | None


def _exactly(mechanism: Mechanism) -> Described:
    return Described(mechanism, mechanism)


class MechanismTable(KindTable):
    """[mechanism]: what noise one round adds."""

    def described(self, sampling: SamplingTable) -> Described:
        """The round's noise as mechanism descriptions, in units of one unit's clipped contribution to a sum."""
        raise NotImplementedError


class GaussianTable(MechanismTable):
    """Noise on the sum: noise_multiplier = standard deviation / clip_norm."""

    kind: Literal["gaussian"]
    noise_multiplier: Noise

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(Gaussian(self.noise_multiplier))


Weights = Literal["uniform"] | float | tuple[float, ...]


def _weights(field: str, value: object) -> Weights:
    expected = "'uniform', a bound in (0, 1] on the largest weight, or a list of positive relative weights"
    if value == "uniform":
        return "uniform"
    if isinstance(value, list | tuple) and value:
        return tuple(positive(field, weight) for weight in value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    raise InputError(field, value, expected)


class GaussianMeanTable(MechanismTable):
    """Noise on the mean over the cohort: z = noise_std * cohort / clip_norm for uniform weights.

    weights: "uniform"; or a bound on the weight that one client ever has in the mean; or the relative weights
    (such as sample counts) of all clients of the population, normalised over each cohort.
    """

    kind: Literal["gaussian-mean"]
    noise_std: Positive
    clip_norm: Positive
    weights: Annotated[Weights, checked(_weights)] = "uniform"

    def described(self, sampling: SamplingTable) -> Described:
        if isinstance(self.weights, float):
            return Described(self._noise(self.weights), None)
        sampling.require_even("noise on a mean")
        if self.weights == "uniform":
            return _exactly(self._noise(1 / sampling.divisor()))
        largest, least = _weight_of_heaviest(self.weights, sampling)
        return Described(self._noise(largest), self._noise(least))

    def _noise(self, weight: float) -> Gaussian:
        return Gaussian(self.noise_std / (self.clip_norm * weight))


def _weight_of_heaviest(weights: tuple[float, ...], sampling: SamplingTable) -> tuple[float, float]:
    """The largest and the least weight that the heaviest client has in a cohort that it belongs to."""
    if sampling.population is not None and len(weights) != sampling.population:
        raise InputError(
            "mechanism.weights",
            list(weights),
            f"one for each of the population of {sampling.population}, not {len(weights)}",
        )
    *others, heaviest = sorted(weights)
    if sampling.scheme in ("poisson", "random-allocation"):  # the mean divides by the constant expected total weight
        constant = heaviest / (sampling.rate * math.fsum(weights))
        return constant, constant
    companions = (sampling.cohort or len(weights)) - 1
    lightest, weightiest = others[:companions], others[len(others) - companions :]
    return heaviest / math.fsum([heaviest, *lightest]), heaviest / math.fsum([heaviest, *weightiest])


class PerClientGaussianTable(MechanismTable):
    """Every client adds its own noise to its update before the average (DPFedMTL, Algorithm 1, eqs. (3) and (6)).

    noise_std: of one client's noise; the sum over a cohort of K carries sqrt(K) times that, so whoever sees only
    the average faces z = noise_std * sqrt(K) / clip_norm; the server sees each update under noise_std alone.
    assumed_sensitivity: the sensitivity of the average by which the source scaled its noise, if it states one.
    """

    kind: Literal["per-client-gaussian"]
    noise_std: Positive
    clip_norm: Positive
    assumed_sensitivity: Positive | None = None

    def described(self, sampling: SamplingTable) -> Described:
        if sampling.scheme in ("poisson", "random-allocation", "cyclic-poisson"):
            raise InputError(
                "sampling.scheme",
                sampling.scheme,
                "fixed-size or none: with a random cohort the amount of noise is random too",
            )
        sampling.require_even("noise that clients add")
        return _exactly(DistributedGaussian(self.noise_std * math.sqrt(sampling.divisor()) / self.clip_norm))


class LaplaceTable(MechanismTable):
    """A scalar; noise_multiplier = scale / clip."""

    kind: Literal["laplace"]
    noise_multiplier: Noise

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(Laplace(self.noise_multiplier))


class DiscreteGaussianTable(MechanismTable):
    """A scalar on the integers."""

    kind: Literal["discrete-gaussian"]
    sigma: Positive
    clip: Count = 1

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(DiscreteGaussian(self.sigma, self.clip))


class DiscreteLaplaceTable(MechanismTable):
    """A scalar on the integers (the geometric mechanism)."""

    kind: Literal["discrete-laplace"]
    scale: Positive
    clip: Count = 1

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(DiscreteLaplace(self.scale, self.clip))


class RandomizedResponseTable(MechanismTable):
    """One category out of several, reported falsely with probability flip_probability."""

    kind: Literal["randomized-response"]
    flip_probability: Probability
    categories: Count = 2

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(RandomizedResponse(self.flip_probability, self.categories))


class SkellamTable(MechanismTable):
    """An integer vector; variance: of all honest clients' noise together, on the grid."""

    kind: Literal["skellam"]
    variance: Positive
    clip: Positive
    dimension: Count

    def described(self, sampling: SamplingTable) -> Described:
        sampling.require_even("noise that clients add")
        return Described(Skellam(self.variance, self.clip, self.dimension), None)


class DistributedDiscreteGaussianTable(MechanismTable):
    """An integer vector; sigma: of one honest client's noise, on the grid."""

    kind: Literal["distributed-discrete-gaussian"]
    sigma: Positive
    clients: Count
    clip: Positive
    dimension: Count

    def described(self, sampling: SamplingTable) -> Described:
        sampling.require_even("noise that clients add")
        return Described(DistributedDiscreteGaussian(self.sigma, self.clients, self.clip, self.dimension), None)


class ZcdpTable(MechanismTable):
    """Known only to be rho-zCDP, a round."""

    kind: Literal["zcdp"]
    rho: Positive

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(Zcdp(self.rho))


class PureDpTable(MechanismTable):
    """Known only to be epsilon-DP, a round."""

    kind: Literal["pure-dp"]
    epsilon: NonNegative

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(PureDp(self.epsilon))


class ApproximateDpTable(MechanismTable):
    """Known only to be (epsilon, delta)-DP, a round."""

    kind: Literal["approximate-dp"]
    epsilon: NonNegative
    delta: NonNegative

    def described(self, sampling: SamplingTable) -> Described:
        return _exactly(ApproximateDp(self.epsilon, self.delta))


KINDS: dict[str, type[KindTable]] = {}
"""What `kind` may be, in [mechanism]."""


def register(*tables: type[KindTable]) -> None:
    """Make [mechanism] tables known to claims, schedules and the command line by their kind."""
    for table in tables:
        for kind in get_args(table.model_fields["kind"].annotation):
            KINDS[kind] = table


register(
    GaussianTable,
    GaussianMeanTable,
    PerClientGaussianTable,
    LaplaceTable,
    DiscreteGaussianTable,
    DiscreteLaplaceTable,
    RandomizedResponseTable,
    SkellamTable,
    DistributedDiscreteGaussianTable,
    ZcdpTable,
    PureDpTable,
    ApproximateDpTable,
    TreeAggregationTable,
    MatrixFactorisationTable,
)


def _by_kind(value: object) -> object:
    """The table of the kind that is named."""
    if not isinstance(value, dict):
        return value
    if "kind" not in value:
        raise InputError("kind", MISSING, "one of " + ", ".join(KINDS))
    table = KINDS[choice("kind", value["kind"], KINDS)]
    try:
        return table.model_validate(value)
    except ValidationError as problem:
        raise first_problem(problem) from None


AnyMechanismTable = Annotated[MechanismTable | CorrelatedTable, BeforeValidator(_by_kind)]
