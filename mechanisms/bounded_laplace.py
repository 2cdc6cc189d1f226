"""Laplace noise whose output stays within a public range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_size
from .validate import range_over_sensitivity


@dataclass(frozen=True, slots=True)
class BoundedLaplace(Mechanism):
    """A number within a public range, plus Laplace noise that is drawn anew until the sum is within the range
    (Holohan, Antonatos, Braghin, Mac Aonghusa 2020, arXiv 1808.10410, Definition 3).

    scale: of the noise, and width: of the range, both over the sensitivity between the neighbours asked about. Clamping
    the sum into the range instead is post-processing, and costs what Laplace noise does.

    >>> from dpcert import epsilon
    >>> round(epsilon(BoundedLaplace(scale=1.0, width=10.0), 0).upper, 6)  # not 1: the normaliser moves too
    1.48985
    """

    scale: Annotated[float, noise_size("scale of the noise, divided by the sensitivity")]
    width: Annotated[float, Quantity(range_over_sensitivity, "width of the public range, divided by the sensitivity")]
