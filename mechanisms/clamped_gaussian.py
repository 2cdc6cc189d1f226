"""Gaussian noise whose output is clamped into a public range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_size
from .validate import range_over_sensitivity


@dataclass(frozen=True, slots=True)
class ClampedGaussian(Mechanism):
    """A number within a public range, plus Gaussian noise; what falls outside of the range is moved to its end.

    sigma: of the noise, and width: of the range, both over the sensitivity between the neighbours asked about. The
    number itself has to be within the range (a count of a known population, a clipped mean): its loss is bounded then.

    >>> from dpcert import epsilon
    >>> round(epsilon(ClampedGaussian(sigma=4.0, width=10.0), 0).upper, 6)
    0.677333
    """

    sigma: Annotated[float, noise_size("standard deviation of the noise, divided by the sensitivity")]
    width: Annotated[float, Quantity(range_over_sensitivity, "width of the public range, divided by the sensitivity")]
