"""Small worlds of disjoint releases: each part draws its own cohort and noise, a unit's data enter a few of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import federation as fed
from judging import RESOLVED
from sides import ONE, ZERO, Contribution, Side, Vector

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Disjoint,
    DistributedGaussian,
    Gaussian,
    Laplace,
    Mechanism,
    Poisson,
)

KINDS = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "discrete-gaussian": DiscreteGaussian,
    "discrete-laplace": DiscreteLaplace,
    "distributed": DistributedGaussian,
}


@dataclass(frozen=True)
class Parts:
    """laws, scales, rates: of each part's noise and of its Poisson coins, 1 where everybody takes part.

    Of noise that clients bring a scale is one client's."""

    laws: tuple[str, ...]
    scales: tuple[float, ...]
    rates: tuple[float, ...]
    at_most: int
    relation: str
    sees: str
    clients: int = 2
    delta: float = 0.05

    def run(self) -> Disjoint:
        """What the product is told."""
        parts: list[Mechanism] = []
        for law, scale, rate in zip(self.laws, self.scales, self.rates, strict=True):
            noise = KINDS[law](scale * math.sqrt(self.clients) if law == "distributed" else scale)
            parts.append(Poisson(noise, rate) if rate < 1 else noise)
        return Disjoint(parts, at_most=self.at_most)

    def ask(self) -> Bracket:
        """The product's answer."""
        if self.sees == "visible":
            return epsilon(self.run(), self.delta, self.relation, participation="visible")
        return epsilon(self.run(), self.delta, self.relation, notion="billboard" if self.sees == "pooled" else "dp")

    def setting(self) -> fed.Setting:
        """The oracle's."""
        brought = "distributed" in self.laws
        laws = tuple("gaussian" if law == "distributed" else law for law in self.laws)
        variances = tuple(self._variance(k) for k in range(len(laws)))
        others = tuple(range(1, self.clients)) if self.sees == "pooled" else ()
        sees = {"hidden": "release", "visible": "unit", "pooled": "coalition"}[self.sees]
        return fed.Setting(self._coins, variances, None, brought, laws, sees, others)  # type: ignore[arg-type]

    def _variance(self, part: int) -> Fraction:
        noise = KINDS[self.laws[part]](1.0) if self.laws[part] == "distributed" else None
        scale = Fraction(self.scales[part])
        if noise is None:
            return scale**2
        told = self.run().mechanisms[part]
        assert isinstance(told, DistributedGaussian)
        return Fraction(told.noise_multiplier) ** 2 / self.clients

    def _coins(self, there: fed.Cohort) -> fed.Drawn:
        single = [fed.poisson(1, Fraction(rate))(there) for rate in self.rates]
        return [
            (math.prod((p for p, _ in draws), start=ONE), tuple(coins[0] for _, coins in draws))
            for draws in itertools.product(*single)
        ]

    def pairs(self) -> Iterator[tuple[Side, Side]]:
        """The unit's data in some parts against absent, zero, or in other parts; everybody else alike in all parts."""
        data = [dict(each) for each in self._data()]
        for value in (-ONE, ZERO, ONE):
            rest = (self._sent(dict.fromkeys(range(len(self.laws)), value)),) * (self.clients - 1)
            for one in data:
                if self.relation != "replace-one":
                    gone = None if self.relation == "add-remove" else self._sent({})
                    yield (self._sent(one), *rest), (gone, *rest)
                    continue
                for other in data:
                    if one != other:
                        yield (self._sent(one), *rest), (self._sent(other), *rest)

    def _data(self) -> Iterator[tuple[tuple[int, Fraction], ...]]:
        """By part what is sent there, in at most so many parts."""
        for size in range(self.at_most + 1):
            for parts in itertools.combinations(range(len(self.laws)), size):
                for values in itertools.product((-ONE, ONE), repeat=size):
                    yield tuple(zip(parts, values, strict=True))

    @staticmethod
    def _sent(values: dict[int, Fraction]) -> Contribution:
        def contribution(part: int, taken: int) -> Vector:
            return (values.get(part, ZERO),)

        return contribution

    def most(self, epsilon: float, decided: fed.Decided = lambda low, high: False) -> fed.Ends:
        """Ends of the largest divergence."""
        return fed.most(self.setting(), self.pairs(), epsilon, RESOLVED * self.delta, decided)


PARTS = [
    (("gaussian", "laplace"), (1.0, 2.0), (1.0, 1.0), 1),
    (("gaussian", "gaussian"), (1.0, 0.6), (0.5, 0.25), 1),
    (("discrete-laplace", "discrete-gaussian"), (1.0, 0.6), (1.0, 0.5), 1),
    (("distributed", "distributed"), (1.0, 2.0), (1.0, 1.0), 1),
    (("gaussian", "gaussian"), (1.0, 2.0), (1.0, 1.0), 2),
    (("discrete-laplace", "discrete-laplace", "discrete-gaussian"), (1.0, 2.0, 1.0), (1.0, 1.0, 1.0), 2),
    (("gaussian", "gaussian", "gaussian"), (1.0, 2.0, 0.6), (0.5, 1.0, 0.2), 1),
    (("laplace", "laplace"), (1.0, 2.0), (0.2, 1.0), 1),
]
"""Laws, scales, rates, and in how many parts a unit's data are at most."""
