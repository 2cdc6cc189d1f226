"""Integer-valued noise: the discrete Gaussian and the discrete Laplace mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_size
from .validate import count


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Mechanism):
    """A scalar integer sum plus discrete Gaussian noise, P[x] proportional to exp(-x^2 / (2 sigma^2)).

    Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Definition 1.
    sigma: the parameter of the noise, in units of the integer grid.
    clip: bound on one unit's integer contribution; replace-one neighbours move the sum by up to 2 clip.

    >>> from dpcert import epsilon
    >>> round(epsilon(DiscreteGaussian(sigma=4.0, clip=1), delta=1e-5).upper, 4)
    0.9274
    """

    sigma: Annotated[float, noise_size("scale parameter of the noise, in steps of the grid")]
    clip: Annotated[int, Quantity(count, "the bound on one unit's contribution, in whole steps of the grid")] = 1


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Mechanism):
    """A scalar integer sum plus discrete Laplace noise, P[x] proportional to exp(-|x| / scale).

    Ghosh, Roughgarden, Sundararajan 2009, arXiv 0811.2841 (the geometric mechanism): where the sum moves by m, no
    loss is larger than m / scale. scale: in units of the grid. clip: bound on one unit's integer contribution.

    >>> from dpcert import epsilon
    >>> epsilon(DiscreteLaplace(scale=2.0), delta=0).upper
    0.5
    """

    scale: Annotated[float, noise_size("scale of the noise, in steps of the grid")]
    clip: Annotated[int, Quantity(count, "the bound on one unit's contribution, in whole steps of the grid")] = 1
