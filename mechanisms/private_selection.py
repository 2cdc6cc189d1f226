"""Private selection: a private run is repeated a random number of times, and the best result alone is released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, optional
from .validate import InputError, number, open_probability, positive

_NEAR = 2.0**-40
"""Far above the rounding of `mean`, as a share of gamma."""


def _shape(field: str, value: object) -> float:
    shape = number(field, value)
    if shape <= -1:
        raise InputError(field, value, "a number above -1; 1 for a geometric law")
    return shape


@dataclass(frozen=True, slots=True)
class BestOfSeveral(Mechanism):
    """The best of K runs of a mechanism, K secret: hyper-parameter search.

    Every run draws its own setting (such as a learning rate) and randomness; its output includes how good it is, and
    only the best is released, to whoever does not know when units take part: that would count the runs. With gamma, K
    is at least 1 and truncated negative binomial: P(K = k) is proportional to (1 - gamma)^k prod_{i < k} (i + shape) /
    (i + 1), shape = 1 is geometric, 0 logarithmic (Papernot, Steinke 2022, arXiv 2110.03620, Definition 1; Liu, Talwar
    2019, arXiv 1811.07971, for the geometric law). With poisson_mean in its place, K is Poisson distributed (the same
    paper, Section 3.4); where it is 0, something is released that depends on no data.

    gamma: in (0, 1); the smaller, the more runs. shape: of the distribution of K, above -1. poisson_mean: mean of K,
    above 0, in the place of gamma and shape.

    >>> from dpcert.mechanisms import Gaussian
    >>> round(BestOfSeveral(Gaussian(4.0), gamma=0.1).mean, 9)
    10.0
    >>> BestOfSeveral(Gaussian(4.0), poisson_mean=10).mean
    10.0
    """

    mechanism: Mechanism
    gamma: Annotated[
        float | None,
        Quantity(optional(open_probability), "parameter of the number of runs: the smaller, the more runs are likely"),
    ] = None
    shape: Annotated[
        float, Quantity(_shape, "of the distribution of the number of runs: 1 means geometric, 0 logarithmic")
    ] = 1.0
    poisson_mean: Annotated[
        float | None,
        Quantity(optional(positive), "instead of gamma and shape: the mean of a Poisson-distributed number of runs"),
    ] = None

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if not isinstance(self.mechanism, Mechanism):
            raise InputError("mechanism", self.mechanism, "a mechanism description, of one run")
        if self.poisson_mean is None and self.gamma is None:
            raise InputError("gamma", None, "a number strictly between 0 and 1, or poisson_mean in its place")
        for name, usual in (("gamma", None), ("shape", 1.0)):
            if self.poisson_mean is not None and (value := getattr(self, name)) != usual:
                raise InputError(name, value, "nothing beside poisson_mean: one law of the number of runs")

    @classmethod
    def with_mean(cls, mechanism: Mechanism, mean: float, shape: float = 1.0) -> BestOfSeveral:
        """The search whose expected number of runs is `mean`; shape: infinite for a Poisson law.

        gamma is rounded down, which costs no less; it is halved for here, since this room imports no root finder of the
        accountants. Raises InputError for a mean that no such law has.

        mean: expected number of runs, above 1.

        >>> from dpcert.mechanisms import Gaussian
        >>> round(BestOfSeveral.with_mean(Gaussian(4.0), 10, shape=0.5).gamma, 6)
        0.0625
        """
        if shape == math.inf:
            return cls(mechanism, poisson_mean=mean)
        if number("mean", mean) <= 1:
            raise InputError("mean", mean, "a number above 1: at least one run always takes place, then some more")
        low, high = 0.0, 1.0
        while high - low > _NEAR * low:
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            low, high = (middle, high) if cls(mechanism, middle, shape).mean >= mean else (low, middle)
        return cls(mechanism, low * (1 - _NEAR), shape)

    @property
    def mean(self) -> float:
        """The expected number of runs."""
        if self.poisson_mean is not None:
            return self.poisson_mean
        assert self.gamma is not None  # __post_init__
        if self.shape == 0.0:
            return (1 / self.gamma - 1) / math.log(1 / self.gamma)
        return self.shape * (1 - self.gamma) / (self.gamma * -math.expm1(self.shape * math.log(self.gamma)))
