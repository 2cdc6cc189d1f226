"""Noise that is too small, in the wrong place, or not random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import approximate_dp, gdp

from .case import Batched, Planted


def laplace_sum(scale: float) -> Batched:
    """Sum of values clipped to [0, 1], plus Laplace noise of this scale: 1/scale-DP under add-remove."""

    def mechanism(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
        return float(np.clip(dataset, 0.0, 1.0).sum()) + rng.laplace(0.0, scale, size)

    return mechanism


def gaussian_sum(sigma: float) -> Batched:
    """Sum of values clipped to [-1, 1], plus Gaussian noise: (1/sigma)-GDP under add-remove, 2/sigma under replace."""

    def mechanism(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
        return float(np.clip(dataset, -1.0, 1.0).sum()) + rng.normal(0.0, sigma, size)

    return mechanism


def fixed_seed(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The noise comes from a generator that is seeded anew, with a constant, in every call."""
    noise = np.random.default_rng(10).laplace(0.0, 1.0)
    return np.full(size, float(np.clip(dataset, 0.0, 1.0).sum()) + noise)


def noise_on_one_example(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """Every example is to be released with its own noise, but only the first one gets any."""
    released = np.tile(np.clip(dataset, 0.0, 1.0), (size, 1))
    released[:, 0] += rng.laplace(0.0, 1.0, size)
    return released


def noise_on_every_example(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: local noise for each."""
    released = np.tile(np.clip(dataset, 0.0, 1.0), (size, 1))
    return released + rng.laplace(0.0, 1.0, released.shape)


def noiseless_metric(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """A private sum, with the exact mean reported beside it as a metric."""
    exact = float(np.mean(np.clip(dataset, 0.0, 1.0)))
    return np.column_stack([laplace_sum(1.0)(dataset, rng, size=size), np.full(size, exact)])


def private_metric(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: the metric is computed from the private sum and the public size."""
    total = laplace_sum(1.0)(dataset, rng, size=size)
    return np.column_stack([total, total / 4])


FOUR = ([1.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0])

CASES = (
    Planted("half noise, Laplace", "scale 1/2 for 1", approximate_dp(1.0), FOUR, laplace_sum(0.5), laplace_sum(1.0)),
    Planted("half noise, Gaussian", "sigma 1/2 for 1", gdp(1.0), FOUR, gaussian_sum(0.5), gaussian_sum(1.0)),
    Planted(
        "10% low noise, Gaussian", "sigma .9 for 1", gdp(1.0), FOUR, gaussian_sum(0.9), gaussian_sum(1.0), trials=12_000
    ),
    Planted(
        "noise of one example only",
        "local noise drawn for the first example alone",
        approximate_dp(1.0),
        FOUR,
        noise_on_one_example,
        noise_on_every_example,
    ),
    Planted(
        "sensitivity halved",
        "replace-one moves a sum in [-1, 1] by 2, the noise is for 1",
        gdp(1.0),
        ([0.5, 1.0], [0.5, -1.0]),
        gaussian_sum(1.0),
        gaussian_sum(2.0),
    ),
    Planted(
        "fixed seed", "constant noise", approximate_dp(1.0), FOUR, fixed_seed, laplace_sum(1.0), trials=1_000
    ),
    Planted(
        "noiseless metric",
        "the exact mean is released beside the private sum",
        approximate_dp(1.0),
        FOUR,
        noiseless_metric,
        private_metric,
    ),
)  # fmt: skip
