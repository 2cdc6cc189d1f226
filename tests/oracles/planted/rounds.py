"""Several rounds: noise used twice, cohorts and stopping that depend on the data, batches that are not random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpcert.mechanisms import Gaussian, Poisson, Repeat
from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import gdp, of_mechanism

from .case import Planted

BATCHES, SIGMA = 10, 1.0


def _sum(dataset: Sequence[float]) -> float:
    return float(np.clip(dataset, -1.0, 1.0).sum())


def reused_noise(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """Two rounds, f and then f/2, with the same draw of noise: their combination 2 y_2 - y_1 cancels the data."""
    noise = rng.normal(0.0, np.sqrt(2.0), size)
    return np.column_stack([_sum(dataset) + noise, _sum(dataset) / 2 + noise])


def fresh_noise(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: two rounds of sigma sqrt 2 compose to sigma 1."""
    noise = rng.normal(0.0, np.sqrt(2.0), (size, 2))
    return np.array([1.0, 0.5]) * _sum(dataset) + noise


def data_dependent_cohort(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """Clients with small updates skip the round, and the noisy sum is divided by the number of those who did not."""
    active = [value for value in dataset if abs(value) > 0.5]
    return (_sum(active) + rng.normal(0.0, 1.0, size)) / max(1, len(active))


def fixed_cohort(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: everybody counts, and the denominator is public."""
    return (_sum(dataset) + rng.normal(0.0, 1.0, size)) / 4


def early_stopping(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """Up to three noisy rounds, but the run ends as soon as the exact loss is small; NaN for rounds not run."""
    noisy = _sum(dataset) + rng.normal(0.0, np.sqrt(3.0), (size, 3))
    rounds = 3 if _sum(dataset) > 1.5 else 2
    noisy[:, rounds:] = np.nan
    return noisy


def no_stopping(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: always three rounds."""
    return _sum(dataset) + rng.normal(0.0, np.sqrt(3.0), (size, 3))


def cyclic(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """One epoch over the batches in a fixed order, one noisy sum each; claimed as BATCHES Poisson rounds."""
    noisy = rng.normal(0.0, SIGMA, (size, BATCHES))
    for position, value in enumerate(dataset):
        noisy[:, position % BATCHES] += np.clip(value, -1.0, 1.0)
    return noisy


def poisson(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: each example joins each batch by a coin of its own."""
    noisy = rng.normal(0.0, SIGMA, (size, BATCHES))
    for value in dataset:
        noisy += np.clip(value, -1.0, 1.0) * (rng.random((size, BATCHES)) < 1 / BATCHES)
    return noisy


def cases() -> tuple[Planted, ...]:
    """Made on demand: the Poisson claim is computed by the accountants."""
    subsampled = of_mechanism(Repeat(Poisson(Gaussian(SIGMA), 1 / BATCHES), BATCHES), lines=16)
    pair = ([1.0, 0.2, 1.0], [1.0, 0.2])
    return (
        Planted("noise reused", "two rounds share their noise", gdp(1.0), pair, reused_noise, fresh_noise),
        Planted(
            "data-dependent cohort",
            "the size of the cohort depends on the updates",
            gdp(1.0),
            ([1.0, 1.0, 0.2, 0.2], [1.0, 0.2, 0.2, 0.2]),
            data_dependent_cohort,
            fixed_cohort,
            trials=5_000,
        ),
        Planted("early stopping", "the exact loss ends the run", gdp(1.0), pair, early_stopping, no_stopping),
        Planted("cyclic batches", "claimed as Poisson", subsampled, ([1.0], []), cyclic, poisson, trials=20_000),
    )
