"""The staircase mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import open_probability, positive


@dataclass(frozen=True, slots=True)
class Staircase(Mechanism):
    """A number, plus noise whose density is a staircase with steps of the sensitivity's length (Geng, Viswanath 2014,
    arXiv 1212.1186, Section 2).

    From one step to the next the density falls by e^-epsilon, within a step at the share `gamma` of it. The sensitivity
    is the one between the neighbours that are asked about.

    >>> from dpcert import epsilon
    >>> epsilon(Staircase(epsilon=1.0), 0).upper
    1.0
    """

    epsilon: Annotated[float, Quantity(positive, "the epsilon of one number")]
    gamma: Annotated[float, Quantity(open_probability, "where in a step of the staircase the density falls")] = 0.5
