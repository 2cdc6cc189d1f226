"""[mechanism] tables of noise that is cut, or whose outputs are, and of sums that are withheld below a threshold."""

from __future__ import annotations

from typing import Literal

from .. import (
    BoundedLaplace,
    ClampedGaussian,
    Gaussian,
    Laplace,
    Mechanism,
    StableHistogram,
    TruncatedGaussian,
    TruncatedLaplace,
)
from .cohort import SamplingTable
from .fields import Count, Noise, NoiseSize, Positive
from .kinds import Described, MechanismTable
from .norms import NormedTable


class TruncatedLaplaceTable(NormedTable):
    """A scalar; noise_multiplier = scale / clip, bound: the largest noise / clip."""

    kind: Literal["truncated-laplace"]
    noise_multiplier: Noise
    bound: Positive

    def described(self, sampling: SamplingTable) -> Described:
        self.only_one_number("of noise that is cut, in several dimensions, no bound is known")
        mechanism = TruncatedLaplace(self.noise_multiplier, self.bound)
        return Described(mechanism, mechanism)


class BoundedLaplaceTable(NormedTable):
    """A number in a public range, drawn anew until the output is; scale and width over the sensitivity."""

    kind: Literal["bounded-laplace"]
    scale: NoiseSize
    width: Positive

    def described(self, sampling: SamplingTable) -> Described:
        self.only_one_number("the public range is that of one number")
        mechanism = BoundedLaplace(self.scale, self.width)
        return Described(mechanism, mechanism)


class RangedGaussianTable(MechanismTable):
    """A number in a public range, the output clamped to it or drawn anew; sigma and width over the sensitivity."""

    kind: Literal["clamped-gaussian", "truncated-gaussian"]
    sigma: NoiseSize
    width: Positive

    def described(self, sampling: SamplingTable) -> Described:
        ranged = {"clamped-gaussian": ClampedGaussian, "truncated-gaussian": TruncatedGaussian}[self.kind]
        mechanism = ranged(self.sigma, self.width)
        return Described(mechanism, mechanism)


class StableHistogramTable(MechanismTable):
    """Noisy sums by group, from a threshold on; noise_multiplier and threshold over what a unit adds to one."""

    kind: Literal["stable-histogram"]
    noise: Literal["laplace", "gaussian"]
    noise_multiplier: Noise
    threshold: Positive
    buckets: Count = 1

    def described(self, sampling: SamplingTable) -> Described:
        noises: dict[str, type[Laplace | Gaussian]] = {"laplace": Laplace, "gaussian": Gaussian}
        noise = noises[self.noise](self.noise_multiplier)
        mechanism: Mechanism = StableHistogram(noise, self.threshold, self.buckets)
        return Described(mechanism, mechanism)
