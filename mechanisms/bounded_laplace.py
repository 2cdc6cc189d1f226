"""Laplace noise whose output stays within a public range."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .validate import positive, range_over_sensitivity


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

    scale: float
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "width", range_over_sensitivity("width", self.width))
