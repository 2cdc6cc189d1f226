"""Integer noise that clients add themselves, and that only its sum hides: mechanisms for secure aggregation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from .base import Mechanism
from .quantity import Quantity, noise_size
from .validate import InputError, count, positive

Clip = Annotated[float, Quantity(positive, "the largest Euclidean norm of one unit's vector, in steps of the grid")]
Dimension = Annotated[int, Quantity(count, "number of coordinates")]


def _proved_sigma(field: str, value: object) -> float:
    sigma = positive(field, value)
    if sigma < 0.5:
        raise InputError(field, value, "at least 0.5, where the bound on their sum is proved")
    return sigma


@dataclass(frozen=True, slots=True)
class Skellam(Mechanism):
    """A sum of integer vectors plus Skellam noise, the difference of two Poisson variables, in each coordinate.

    Agarwal, Kairouz, Liu 2021 (arXiv 2110.04995, Theorem 3.5: `renyi_lines`). Sums of independent Skellam variables are
    Skellam, so every client may add its share. variance: of the noise in one release that the observer does not know,
    all honest shares of those who take part in it together (with `Cyclic`, of one batch), in squared units of the grid.
    clip: bound on the Euclidean norm of one unit's integer vector, in units of the grid; dimension: its length.

    >>> Skellam(variance=400.0, clip=8.0, dimension=10).variance
    400.0
    """

    variance: Annotated[
        float, noise_size("variance of all honest clients' noise together, in squared steps of the grid")
    ]
    clip: Clip
    dimension: Dimension

    def renyi_lines(self, move: float) -> tuple[tuple[float, float], ...]:
        """(slope, constant) of linear bounds on D_alpha at integer orders, when the sum moves by move * clip.

        alpha D2^2/(2 v) + min(((2 alpha - 1) D2^2 + 6 D1)/(4 v^2), 3 D1/(2 v)), the paper's Theorem 3.5, v being the
        variance, D2 and D1 the norms of an integer vector, so that D1 <= min(sqrt(dimension) D2, D2^2).

        move: by how much one unit moves the sum, in steps of the grid.
        """
        v, squared = self.variance, (move * self.clip) ** 2
        l1 = min(math.sqrt(self.dimension * squared), squared)
        return (
            (squared / (2 * v) + squared / (2 * v * v), (6 * l1 - squared) / (4 * v * v)),
            (squared / (2 * v), 3 * l1 / (2 * v)),
        )


@dataclass(frozen=True, slots=True)
class DistributedDiscreteGaussian(Mechanism):
    """A sum of integer vectors, to which each of several clients adds discrete Gaussian noise of its own.

    Kairouz, Liu, Steinke 2021 (arXiv 2102.06387, Proposition 14: `renyi_lines`). The sum of discrete Gaussians is only
    close to one. sigma: parameter of one client's noise, at least 1/2, in units of the grid. clients: who add it to one
    release (with `Cyclic`, one batch's) and do not collude. clip: bound on the Euclidean norm of one unit's integer
    vector; dimension: its length.

    >>> DistributedDiscreteGaussian(sigma=2.0, clients=100, clip=8.0, dimension=10).clients
    100
    """

    sigma: Annotated[
        float, noise_size("scale parameter of one client's noise, in steps of the grid; at least 1/2", _proved_sigma)
    ]
    clients: Annotated[int, Quantity(count, "how many clients add noise to one release and do not collude")]
    clip: Clip
    dimension: Dimension

    def renyi_lines(self, move: float) -> tuple[tuple[float, float], ...]:
        """(slope, constant) of linear bounds on D_alpha, when the sum moves by move * clip.

        The paper's Proposition 14: alpha D^2/2 + tau d and alpha (D + sqrt(d) tau)^2/2, with
        D = move clip/(sqrt(clients) sigma), d the dimension, and tau = 10 sum over 0 < k < clients of
        e^(-2 pi^2 sigma^2 k/(k+1)).

        move: by how much one unit moves the sum, in steps of the grid.
        """
        distance = move * self.clip / (math.sqrt(self.clients) * self.sigma)
        tau = self._inflation()
        return (distance**2 / 2, tau * self.dimension), ((distance + math.sqrt(self.dimension) * tau) ** 2 / 2, 0.0)

    def _inflation(self) -> float:
        """tau; from the thousandth term on each is bounded by that one."""
        terms = min(self.clients - 1, 1000)
        exponents = [-2 * math.pi**2 * self.sigma**2 * k / (k + 1) for k in range(1, terms + 1)]
        rest = (self.clients - 1 - terms) * math.exp(exponents[-1]) if exponents else 0.0
        return 10 * (math.fsum(math.exp(exponent) for exponent in exponents) + rest)
