"""Mechanisms whose privacy is known exactly: what a bound's false alarms are measured on.

Each is a pair of output distributions with a statement (epsilon, delta) that holds with equality: any lower bound
on epsilon at that delta above it is a false alarm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing.curve import gdp_delta

Draw = Callable[[Generator, int], Floats]


@dataclass(frozen=True, slots=True)
class Exact:
    """draw[0] on the dataset, draw[1] on its neighbour; (epsilon, delta) is attained; mu where it is GDP, exactly.

    event: (sign, upper, lower) thresholds of a guessing rule that attains the statement. loss: the log density ratio of
    outputs, dataset over neighbour. variation: the total variation distance of the two distributions.
    """

    name: str
    draw: tuple[Draw, Draw]
    epsilon: float
    delta: float
    event: tuple[int, float, float]
    loss: Callable[[Floats], Floats]
    variation: float
    mu: float | None = None

    def mechanism(self, dataset: int, rng: Generator, size: int) -> Floats:
        """As a mechanism for audit, with the pair (0, 1)."""
        return self.draw[dataset](rng, size)


def _shifted(draw: Draw, by: float) -> Draw:
    return lambda rng, size: by + draw(rng, size)


def _finite(probabilities: list[float]) -> Draw:
    return lambda rng, size: rng.choice(len(probabilities), size, p=probabilities).astype(float)


def _additive(
    name: str,
    noise: Draw,
    epsilon: float,
    delta: float,
    event: tuple[int, float, float],
    loss: Callable[[Floats], Floats],
    variation: float,
) -> Exact:
    return Exact(name, (_shifted(noise, 1.0), noise), epsilon, delta, event, loss, variation)


def _categories(
    name: str, mine: list[float], other: list[float], epsilon: float, delta: float, event: tuple[int, float, float]
) -> Exact:
    """Outputs 0, 1, ... with these probabilities on either side."""
    p, q = np.array(mine), np.array(other)
    with np.errstate(divide="ignore"):
        table = np.log(p) - np.log(q)
    variation = float(np.maximum(p - q, 0.0).sum())
    draws = _finite(mine), _finite(other)
    return Exact(name, draws, epsilon, delta, event, lambda rows: table[rows.astype(int)], variation)


def _shift_loss(rows: Floats) -> Floats:
    """Of (discrete) Laplace noise of scale 1 around 1 and around 0."""
    return np.asarray(np.abs(rows) - np.abs(rows - 1.0))


def _normal(rng: Generator, size: int) -> Floats:
    return rng.normal(size=size)


def _geometric(scale: float) -> Draw:
    chance = 1 - math.exp(-1 / scale)
    return lambda rng, size: (rng.geometric(chance, size) - rng.geometric(chance, size)).astype(float)


def _discrete_gaussian(sigma: float) -> tuple[Draw, Floats, Floats]:
    support = np.arange(-40, 41).astype(float)
    weights = np.exp(-(support**2) / (2 * sigma * sigma))
    weights /= weights.sum()
    return (lambda rng, size: rng.choice(support, size, p=weights)), support, weights


def _discrete_gaussian_case(sigma: float, epsilon: float) -> Exact:
    draw, _, weights = _discrete_gaussian(sigma)
    shifted = np.concatenate([[0.0], weights[:-1]])
    delta = float(np.maximum(0.0, shifted - math.exp(epsilon) * weights).sum())
    # log odds at x are (2x - 1) / (2 sigma^2): above epsilon from this x on; mirrored about 1/2 below.
    first = math.floor(epsilon * sigma * sigma + 0.5) + 1
    event = (1, float(first), float(1 - first))
    return _additive(
        "discrete Gaussian",
        draw,
        epsilon,
        delta,
        event,
        lambda rows: (2 * rows - 1) / (2 * sigma**2),
        float(weights[40]),
    )


def _sampled(rate: float) -> Draw:
    def draw(rng: Generator, size: int) -> Floats:
        return rng.laplace(size=size) + (rng.random(size) < rate)

    return draw


def _noisy_max(rng: Generator, scores: list[float], size: int) -> Floats:
    return np.asarray(np.argmax(np.array(scores) + rng.gumbel(size=(size, len(scores))), axis=1), float)


def _worst(epsilon: float, delta: float) -> Exact:
    """Kairouz, Oh, Viswanath 2015: the pair that is exactly (epsilon, delta)-DP."""
    high = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    low = (1 - delta) / (1 + math.exp(epsilon))
    sides = [0.0, low, high, delta], [delta, high, low, 0.0]
    return _categories("worst (epsilon, delta) pair", *sides, epsilon, delta, (1, 2.0, 1.0))


def _noisy_max_case() -> Exact:
    """The exponential mechanism as the largest of scores with Gumbel noise."""
    index = [1 / (math.e + 2), 1 / (math.e + 2), math.e / (math.e + 2)]
    exact = _categories("exponential mechanism", index, [1 / 3] * 3, math.log(3 * index[2]), 0.0, (1, 2.0, -math.inf))
    return replace(exact, draw=(lambda rng, size: _noisy_max(rng, [0.0, 0.0, 1.0], size), exact.draw[1]))


def _gaussian_case(name: str, epsilon: float, event: tuple[int, float, float]) -> Exact:
    draws, variation = (_shifted(_normal, 1.0), _normal), math.erf(0.5 / math.sqrt(2.0))
    delta = float(gdp_delta(epsilon, 1.0))
    return Exact(name, draws, epsilon, delta, event, lambda rows: rows - 0.5, variation, mu=1.0)


def _one_sided(rows: Floats) -> Floats:
    return np.where(rows < 1.0, -np.inf, 1.0)


def _uniform(rows: Floats) -> Floats:
    return np.where(rows < 1.0, -np.inf, np.where(rows > 4.0, np.inf, 0.0))


def mechanisms() -> tuple[Exact, ...]:
    """Fourteen of them."""
    half = 1 - math.exp(-0.5)
    return (
        Exact("identical, continuous", (_normal, _normal), 0.0, 0.0, (1, 0.3, 0.2), np.zeros_like, 0.0),
        _categories("identical, discrete", [0.5, 0.5], [0.5, 0.5], 0.0, 0.0, (1, 1.0, 0.0)),
        _additive("Laplace", lambda rng, size: rng.laplace(size=size), 1.0, 0.0, (1, 1.0, 0.0), _shift_loss, half),
        _gaussian_case("Gaussian", 1.0, (1, 1.5, -0.5)),
        _gaussian_case("Gaussian, total variation", 0.0, (1, 0.5, math.nextafter(0.5, 0.0))),
        _categories("randomized response", [0.25, 0.75], [0.75, 0.25], math.log(3.0), 0.0, (1, 1.0, 0.0)),
        _categories(
            "randomized response, 4 categories", [0.1, 0.1, 0.1, 0.7], [0.7, 0.1, 0.1, 0.1], math.log(7.0), 0.0,
            (1, 3.0, 0.0),
        ),
        _additive("discrete Laplace", _geometric(1.0), 1.0, 0.0, (1, 1.0, 0.0), _shift_loss, math.tanh(0.5)),
        _discrete_gaussian_case(1.5, 0.5),
        _worst(1.0, 0.05),
        Exact(
            "Poisson-sampled Laplace", (_sampled(0.3), _sampled(0.0)), math.log1p(0.3 * (math.e - 1)), 0.0,
            (1, 1.0, -math.inf), lambda rows: np.log(0.7 + 0.3 * np.exp(_shift_loss(rows))), 0.3 * half,
        ),
        _additive(
            "uniform noise", lambda rng, size: rng.uniform(0.0, 4.0, size), 0.0, 0.25, (1, 4.0, 1.0), _uniform, 0.25
        ),
        _additive(
            "one-sided exponential", lambda rng, size: rng.exponential(size=size), 1.0, 1 - 1 / math.e,
            (1, math.inf, 1.0), _one_sided, 1 - 1 / math.e,
        ),
        _noisy_max_case(),
    )  # fmt: skip
