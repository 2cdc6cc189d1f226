"""Integer-valued noise: the discrete Gaussian and the discrete Laplace mechanisms."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Mechanism
from .validate import count, positive


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

    sigma: float
    clip: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "clip", count("clip", self.clip))


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(Mechanism):
    """A scalar integer sum plus discrete Laplace noise, P[x] proportional to exp(-|x| / scale).

    Ghosh, Roughgarden, Sundararajan 2009, arXiv 0811.2841 (the geometric mechanism): where the sum moves by m, no
    loss is larger than m / scale. scale: in units of the grid. clip: bound on one unit's integer contribution.

    >>> from dpcert import epsilon
    >>> epsilon(DiscreteLaplace(scale=2.0), delta=0).upper
    0.5
    """

    scale: float
    clip: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "clip", count("clip", self.clip))
