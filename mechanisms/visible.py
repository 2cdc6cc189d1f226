"""Sampled rounds whose cohorts are no secret."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .sampled import FixedSize, Poisson
from .validate import InputError


@dataclass(frozen=True, slots=True)
class VisibleParticipation(Mechanism):
    """A sampled round that shows whether the unit took part: its coin is released with the result.

    What clients who add their own noise release: one noisy upload, or none. Sampling decides how often the unit is
    counted and hides nothing, whatever the observer is said to know. dp_accounting has no such event.

    >>> from dpcert import Gaussian, Poisson, epsilon
    >>> hidden = Poisson(Gaussian(1.0), 0.01)
    >>> shown = epsilon(VisibleParticipation(hidden), 1e-5, "zero-out")
    >>> shown.lower > epsilon(hidden, 1e-5, "zero-out").upper
    True
    """

    mechanism: Poisson | FixedSize

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Poisson | FixedSize):
            raise InputError("mechanism", self.mechanism, "a sampled round, Poisson or FixedSize")
