"""Laplace noise that is never larger than a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_over_bound
from .validate import positive


@dataclass(frozen=True, slots=True)
class TruncatedLaplace(Mechanism):
    """A scalar sum of contributions clipped to [-clip, clip], plus Laplace noise that is drawn anew until it is within
    [-bound, bound] (Geng, Ding, Guo, Kumar 2020, arXiv 1810.00877, Definition 4).

    noise_multiplier: the scale of the untruncated noise over clip; bound: of the noise, over clip. Outputs near the two
    ends tell neighbours apart for certain, so that delta is above 0.

    >>> import math
    >>> from dpcert import delta
    >>> recipe = TruncatedLaplace(1.0, bound=math.log1p((math.e - 1) / 2e-6))  # Theorem 1 for (1, 1e-6)
    >>> round(delta(recipe, 1.0).upper / 1e-6, 9)
    1.0
    """

    noise_multiplier: Annotated[
        float, noise_over_bound("scale of the untruncated noise on the sum, divided by the clipping bound")
    ]
    bound: Annotated[float, Quantity(positive, "the largest noise, divided by the clipping bound")]
