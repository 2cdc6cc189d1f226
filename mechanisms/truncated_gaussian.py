"""Gaussian noise that is drawn anew until the output is within a public range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_size
from .validate import range_over_sensitivity


@dataclass(frozen=True, slots=True)
class TruncatedGaussian(Mechanism):
    """A number within a public range, plus Gaussian noise that is drawn anew until the sum is within the range
    (Chen, Hale 2022, arXiv 2211.17230, Definition 5).

    sigma: of the untruncated noise, and width: of the range, both over the sensitivity between the neighbours that are
    asked about.

    >>> from dpcert import epsilon
    >>> round(epsilon(TruncatedGaussian(sigma=4.0, width=10.0), 0).upper, 6)
    0.421719
    """

    sigma: Annotated[float, noise_size("standard deviation of the untruncated noise, divided by the sensitivity")]
    width: Annotated[float, Quantity(range_over_sensitivity, "width of the public range, divided by the sensitivity")]
