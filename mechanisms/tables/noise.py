"""What [mechanism] tables of noise that is added say beside descriptions, or in their place."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import model_validator

from .. import (
    DiscreteLaplace,
    DistributedDiscreteGaussian,
    DistributedGaussian,
    InputError,
    Laplace,
    Mechanism,
    RandomizedResponse,
    Repeat,
)
from ..quantity import Quantity, noise_size, quantities
from ..validate import positive
from .cohort import SamplingTable
from .described import DescribedTable
from .fields import MissingKeys, sampling_rate
from .kinds import Described, ExactTable, MechanismTable, exactly
from .norms import ClippedGaussianTable, Norm, NormedTable, over_root


class GaussianSumTable(ClippedGaussianTable, DescribedTable):
    """Gaussian noise on a sum."""

    def described(self, sampling: SamplingTable) -> Described:
        return self.clipped(self.mechanism().noise_multiplier)


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


ClipNorm = Annotated[float, Quantity(positive, "the clipping bound: the largest norm of one unit's contribution")]


class GaussianMeanTable(ClippedGaussianTable):
    """Noise on the mean over the cohort, divided by its size or by the weights of who is in it.

    z = noise_std * cohort / clip_norm for uniform weights; a list of them is normalised over each cohort.
    """

    kind: Literal["gaussian-mean"]
    noise_std: Annotated[float, noise_size("standard deviation of the noise on the mean")]
    clip_norm: ClipNorm
    weights: Annotated[
        Weights,
        Quantity(_weights, "uniform, a bound on the largest weight, or a list of relative weights, one per client"),
    ] = "uniform"

    def described(self, sampling: SamplingTable) -> Described:
        if isinstance(self.weights, float):
            _require_possible(self.weights, sampling)
            return Described(self._noise(self.weights).upper, None)
        sampling.require_even("noise on a mean")
        if self.weights == "uniform":
            return self._noise(1 / sampling.divisor())
        largest, least = _weight_of_heaviest(self.weights, sampling)
        return Described(self._noise(largest).upper, self._noise(least).lower)

    def _noise(self, weight: float) -> Described:
        return self.clipped(self.noise_std / (self.clip_norm * weight))


def _require_possible(largest: float, sampling: SamplingTable) -> None:
    """Raises InputError where weights of at most this cannot add up to 1; 1/n as the nearest double can."""
    members = sampling.members
    if members is not None and Fraction(repr(largest)) * members < 1 - Fraction(1, 2**52):
        expected = f"at least 1/{float(members):.10g}, rounded up: the weights in a mean over so many add up to 1"
        raise InputError("mechanism.weights", largest, expected)


def _weight_of_heaviest(weights: tuple[float, ...], sampling: SamplingTable) -> tuple[float, float]:
    """The largest and the least weight that the heaviest client has in a cohort that it belongs to."""
    if sampling.population is not None and len(weights) != sampling.population:
        expected = f"one for each of the population of {sampling.population}, not {len(weights)}"
        raise InputError("mechanism.weights", list(weights), expected)
    *others, heaviest = sorted(weights)
    if sampling.scheme.draws_units_independently:  # the mean divides by the constant expected total weight
        constant = heaviest / (sampling.rate * math.fsum(weights))
        return constant, constant
    companions = (sampling.cohort or len(weights)) - 1
    lightest, weightiest = others[:companions], others[len(others) - companions :]
    return heaviest / math.fsum([heaviest, *lightest]), heaviest / math.fsum([heaviest, *weightiest])


_ASSUMED = "the sensitivity of the mean that the source assumed when it scaled its noise"


class PerClientGaussianTable(MechanismTable):
    """Every client adds its own noise to its update before the average; not under add-remove, as an absent client's
    noise is absent too.

    The sum over a cohort of K carries sqrt(K) times that noise, so whoever sees only the average faces
    z = noise_std * sqrt(K) / clip_norm; the server sees each update under noise_std alone (DPFedMTL, Algorithm 1, eqs.
    (3) and (6)). A finding says where the assumed sensitivity is too small.
    """

    kind: Literal["per-client-gaussian"]
    noise_std: Annotated[float, noise_size("standard deviation of each client's noise, before averaging")]
    clip_norm: ClipNorm
    assumed_sensitivity: Annotated[float, Quantity(positive, _ASSUMED)] | None = None

    def described(self, sampling: SamplingTable) -> Described:
        if sampling.scheme.draws_units_independently:
            expected = "fixed-size or none: with a random cohort the amount of noise is random too"
            raise InputError("sampling.scheme", sampling.scheme, expected)
        sampling.require_even("noise that clients add")
        return exactly(DistributedGaussian(self.noise_std * math.sqrt(sampling.divisor()) / self.clip_norm))


class LaplaceNoiseTable(NormedTable, DescribedTable):
    """Laplace noise of every coordinate's own.

    All of a contribution's numbers together cost at most what one does that moves as far as they do in absolute values
    (docs/theory/selection.md, "Moved gradually"); attained: one number that moves alone, or all of them by as much.
    """

    def described(self, sampling: SamplingTable) -> Described:
        one = self.mechanism()
        if self.is_one_number or self.norm == Norm.L1:
            return exactly(one)
        if self.norm == Norm.LINF and not sampling.scheme.is_random:
            return exactly(Repeat(one, self.coordinates))
        noise, dimension = Fraction(repr(one.noise_multiplier)), self.dimension or 1
        together = over_root(noise, dimension**2 if self.norm == Norm.LINF else dimension)[0]
        each = Repeat(Laplace(over_root(noise * dimension, dimension)[1]), dimension)
        return Described(Laplace(together), one if sampling.scheme.is_random else each)


class DiscreteGaussianNoiseTable(NormedTable, DescribedTable):
    """A number on the integers; or, with norm = "linf", several that are clipped one by one."""

    @classmethod
    def asks_norm(cls) -> bool:
        return False

    @model_validator(mode="after")
    def _of_each_number(self) -> DiscreteGaussianNoiseTable:
        if self.norm is None and self.dimension not in (None, 1):
            raise MissingKeys({"norm": "linf beside dimension, where every number was clipped by itself"})
        return self

    def described(self, sampling: SamplingTable) -> Described:
        one = self.mechanism()
        if self.norm != Norm.LINF or self.is_one_number:
            self.only_one_number("of discrete Gaussian noise in several dimensions only linf is known")
        return exactly(one if self.is_one_number else Repeat(one, self.coordinates))


class DiscreteLaplaceNoiseTable(NormedTable, DescribedTable):
    """On the integers (the geometric mechanism); norms as for LaplaceNoiseTable, of whole numbers: there the sum of
    absolute values is at most the sum of squares, too. By whole steps "Moved gradually" holds of it: the trade-off of
    e^t-bounded neighbours, iterated, breaks where that of the geometric mechanism does."""

    def described(self, sampling: SamplingTable) -> Described:
        one, dimension = self.mechanism(), self.dimension or 1
        if self.is_one_number or self.norm == Norm.L1:
            return exactly(one)
        if self.norm == Norm.LINF and not sampling.scheme.is_random:
            return exactly(Repeat(one, dimension))
        if self.norm == Norm.LINF:
            return Described(DiscreteLaplace(one.scale, one.clip * dimension), one)
        square = one.clip**2
        most, each = min(math.isqrt(dimension * square), square), max(1, math.isqrt(square // dimension))
        moved = Repeat(DiscreteLaplace(one.scale, each), min(dimension, square // each**2))
        return Described(DiscreteLaplace(one.scale, most), one if sampling.scheme.is_random else moved)


_RESPONSE = quantities(RandomizedResponse)
_PICKED = "in place of flip_probability: probability of reporting a random one of all categories, the true one included"


class RandomizedResponseTable(ExactTable):
    """One of several categories; replace-one only. `flip_probability` = `pick_rate` (k - 1)/k for k categories:
    RAPPOR's f, which picks a bit anew, is `pick_rate = f`, a flip of f/2."""

    alternatives: ClassVar = {"flip_probability": ("a number strictly between 0 and 1", "pick_rate")}
    kind: Literal["randomized-response"]
    flip_probability: Annotated[float, _RESPONSE["flip_probability"][1]] | None = None
    pick_rate: Annotated[float, Quantity(sampling_rate, _PICKED)] | None = None
    categories: Annotated[int, _RESPONSE["categories"][1]] = 2

    @model_validator(mode="after")
    def _one_probability(self) -> RandomizedResponseTable:
        if self.flip_probability is not None and self.pick_rate is not None:
            raise InputError("pick_rate", self.pick_rate, "nothing beside flip_probability: it follows from that")
        return self

    @property
    def flip(self) -> Fraction:
        """That another category is reported, of the decimal that was stated."""
        if self.flip_probability is not None:
            return Fraction(repr(self.flip_probability))
        return Fraction(repr(self.pick_rate)) * (self.categories - 1) / self.categories

    def mechanism(self) -> Mechanism:
        return RandomizedResponse(float(self.flip), self.categories)


class DistributedNoiseTable(DescribedTable):
    """Noise that clients add, known from above only."""

    def described(self, sampling: SamplingTable) -> Described:
        sampling.require_even("noise that clients add")
        found = self.mechanism()
        if isinstance(found, DistributedDiscreteGaussian):
            sampling.require_present("mechanism.clients", found.clients)
        return Described(found, None)
