"""What all correlated Gaussian noise has in common: however many rounds, one Gaussian release."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .base import Mechanism


class CorrelatedGaussian(Mechanism, ABC):
    """All rounds of a run together, with Gaussian noise that is correlated between them.

    Its cost is that of a single Gaussian release with the given noise multiplier and this sensitivity, for adaptively
    chosen contributions too. A unit's participations are limited, and must not depend on the data.

    >>> from dpcert import TreeAggregation
    >>> isinstance(TreeAggregation(noise_multiplier=4.0, rounds=8), CorrelatedGaussian)
    True
    """

    __slots__ = ()

    noise_multiplier: float

    @abstractmethod
    def squared_sensitivity(self) -> tuple[float, float]:
        """(attained, bound): the largest squared distance by which zeroing out a unit moves what the noise is put on.

        At least the first of the two, at most the second, in units of clip_norm squared.
        """
