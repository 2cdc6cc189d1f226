"""Mechanisms of which only a privacy bound is known (published as such, with nothing else to go by)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity
from .validate import delta_below_one, nonnegative, positive


@dataclass(frozen=True, slots=True)
class PureDp(Mechanism):
    """Any mechanism that is epsilon-DP for the stated neighbours. epsilon: at least 0.

    >>> from dpcert import Repeat, epsilon
    >>> round(epsilon(Repeat(PureDp(0.1), 100), 1e-6).upper, 3)  # optimal composition, not 10
    4.775
    """

    epsilon: Annotated[float, Quantity(nonnegative, "of one round")]


@dataclass(frozen=True, slots=True)
class ApproximateDp(Mechanism):
    """Any mechanism that is (epsilon, delta)-DP for the stated neighbours.

    >>> from dpcert import epsilon
    >>> round(epsilon(ApproximateDp(epsilon=1.0, delta=1e-6), 1e-6).upper, 12)
    1.0
    """

    epsilon: Annotated[float, Quantity(nonnegative, "of one round")]
    delta: Annotated[float, Quantity(delta_below_one, "of one round")]


@dataclass(frozen=True, slots=True)
class Zcdp(Mechanism):
    """Any mechanism that is rho-zCDP for the stated neighbours (Bun, Steinke 2016, Definition 1.1).

    >>> from dpcert import epsilon
    >>> round(epsilon(Zcdp(rho=0.1), 1e-6).upper, 3)
    2.142
    """

    rho: Annotated[float, Quantity(positive, "of one round")]
