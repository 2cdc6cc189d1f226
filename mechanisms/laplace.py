"""The Laplace mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import noise_over_bound


@dataclass(frozen=True, slots=True)
class Laplace(Mechanism):
    """A scalar sum of contributions clipped to [-clip, clip], plus Laplace noise.

    noise_multiplier: the noise's scale parameter b divided by clip. Add-remove and zero-out neighbours
    move the sum by up to 1 in these units, replace-one by up to 2.

    >>> from dpcert import epsilon
    >>> epsilon(Laplace(noise_multiplier=2.0), delta=0).upper
    0.5
    """

    noise_multiplier: Annotated[float, noise_over_bound("scale of the noise on the sum, divided by the clipping bound")]
