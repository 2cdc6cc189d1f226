"""What all correlated Gaussian noise has in common: however many rounds, one Gaussian release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_over_bound
from .validate import count

NodeNoise = Annotated[
    float, noise_over_bound("standard deviation of the noise (in a tree: of one node's), divided by the clipping bound")
]
MinSeparation = Annotated[
    int, Quantity(count, "number of rounds from one participation of a unit to its next, at least; 1: every round")
]
MaxParticipations = Annotated[int, Quantity(count, "in how many rounds a unit takes part, at most")]
RoundsTogether = Annotated[int, Quantity(count, "rounds of the run")]


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
