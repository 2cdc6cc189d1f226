"""The Gaussian mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import noise_over_bound


@dataclass(frozen=True, slots=True)
class Gaussian(Mechanism):
    """A sum of clipped contributions plus Gaussian noise.

    noise_multiplier: standard deviation of the noise on the sum, divided by clip_norm, the bound on one
    unit's contribution. Add-remove and zero-out neighbours move the sum by up to 1 in these units,
    replace-one by up to 2.

    >>> from dpcert import epsilon
    >>> round(epsilon(Gaussian(noise_multiplier=2.0), delta=1e-5).upper, 4)
    1.9931
    """

    noise_multiplier: Annotated[
        float, noise_over_bound("standard deviation of the noise on the sum, divided by the clipping bound")
    ]
