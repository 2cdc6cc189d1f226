"""A release without noise: what a noise multiplier of 0 says."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .gaussian import Gaussian


@dataclass(frozen=True, slots=True)
class NoNoise(Mechanism):
    """A sum of clipped contributions as it is: whoever takes part is found out, whatever the norm and the dimension.

    Its epsilon is infinite at every delta below the probability of taking part. Kinds of noise refuse a noise of 0; a
    claim or the command line that states one means this.

    >>> from dpcert import Poisson, epsilon
    >>> epsilon(NoNoise(), delta=0.5).lower
    inf
    >>> epsilon(Poisson(NoNoise(), sampling_rate=0.001), delta=0.01).upper  # a thousandth of the units is exposed
    0.0
    """


def gaussian_or_none(noise_multiplier: float) -> Gaussian | NoNoise:
    """What a program that was told this noise multiplier ran: without noise, where it is 0.

    >>> gaussian_or_none(1.1), gaussian_or_none(0)
    (Gaussian(noise_multiplier=1.1), NoNoise())
    """
    return NoNoise() if noise_multiplier == 0 else Gaussian(noise_multiplier)
