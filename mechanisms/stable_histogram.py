"""Noisy sums by group, of which those below a threshold are withheld: the groups need not be known in advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .gaussian import Gaussian
from .laplace import Laplace
from .quantity import Quantity
from .validate import InputError, count, number


def _above_one_unit(field: str, value: object) -> float:
    threshold = number(field, value)
    if threshold < 1.0:
        raise InputError(field, value, "a number of at least 1, in units of one unit's contribution")
    return threshold


@dataclass(frozen=True, slots=True)
class StableHistogram(Mechanism):
    """A noisy sum for each group that somebody is in, released where it is at least a threshold (Korolova, Kenthapadi,
    Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016, arXiv 1504.07553, Theorem 7.3; also known as tau-thresholding and
    partition selection, Wilson et al. 2020, arXiv 1909.01917).

    noise: of one group's sum, Laplace or Gaussian, whose noise_multiplier is over what a unit adds to a group at most.
    threshold: in the same units, at least 1. buckets: how many groups a unit is in at most. What a unit adds is above
    0; a group that it alone is in is released with a small probability, where it would not have been there: delta.

    >>> import math
    >>> from dpcert import delta
    >>> found = delta(StableHistogram(Laplace(1.0), threshold=15.0), epsilon=1.0)
    >>> 0.5 * math.exp(-14.0) * (1 - 1e-9) <= found.upper <= 0.5 * math.exp(-14.0) * (1 + 1e-9)
    True
    """

    noise: Laplace | Gaussian
    threshold: Annotated[
        float,
        Quantity(_above_one_unit, "smallest sum that is released, divided by the most that a unit adds to one group"),
    ]
    buckets: Annotated[int, Quantity(count, "in how many groups one unit is, at most")] = 1

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if type(self.noise) not in (Laplace, Gaussian):
            raise InputError("noise", self.noise, "Laplace(...) or Gaussian(...)")
