"""Noise whose low-order bits give the dataset away, and releases rounded in the wrong place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import approximate_dp, gdp

from .case import Batched, Planted

GRID = 2.0**-10


def _sum(dataset: Sequence[float]) -> float:
    return float(np.clip(dataset, -1.0, 1.0).sum())


def textbook_laplace(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """value - sign(u) log(1 - 2 |u|), in doubles: the value's magnitude decides which low-order bits are left."""
    u = rng.random(size) - 0.5
    return np.asarray(_sum(dataset) - np.sign(u) * np.log1p(-2 * np.abs(u)), np.float64)


def single_laplace(dataset: Sequence[float], rng: Generator, size: int) -> NDArray[np.float32]:
    """The same in float32."""
    noise = (-np.log(rng.random(size) + 1e-12) * rng.choice([-1.0, 1.0], size)).astype(np.float32)
    return np.asarray(np.float32(_sum(dataset)) + noise, np.float32)


def single_gaussian(dataset: Sequence[float], rng: Generator, size: int) -> NDArray[np.float32]:
    """Gaussian noise drawn, and added, in float32."""
    return np.float32(_sum(dataset)) + rng.standard_normal(size, dtype=np.float32)


def _snapped(noise: str) -> Batched:
    """The twins: value and noise are multiples of GRID, exactly, and so is their sum, whatever the value.

    Rounding the noise alone to a grid is not the discrete distribution, but its error, about GRID, is far below
    what an audit of this size resolves; exact samplers are for release.
    """

    def mechanism(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
        drawn = rng.laplace(0.0, 1.0, size) if noise == "laplace" else rng.normal(0.0, 1.0, size)
        return np.asarray(GRID * (np.round(_sum(dataset) / GRID) + np.round(drawn / GRID)), np.float64)

    return mechanism


def rounded_noise(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The noise is rounded to whole numbers before it is added: the fractional part of the sum survives."""
    return _sum(dataset) + np.round(rng.laplace(0.0, 1.0, size))


def rounded_sum(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: the noisy sum is rounded."""
    return np.round(_sum(dataset) + rng.laplace(0.0, 1.0, size))


ZERO_ONE = ([0.0, 1.0], [0.0])
THIRDS = ([0.0, 0.3], [0.0])

CASES = (
    Planted(
        "low bits, Laplace", "textbook, doubles", approximate_dp(1.0), ZERO_ONE, textbook_laplace, _snapped("laplace"),
        2_000, "low-bits",
    ),
    Planted(
        "low bits, float32 Laplace", "float32", approximate_dp(1.0), ZERO_ONE, single_laplace, _snapped("laplace"),
        2_000, "low-bits",
    ),
    Planted(
        "low bits, float32 Gaussian", "float32", gdp(1.0), ZERO_ONE, single_gaussian, _snapped("gaussian"),
        4_000, "low-bits",
    ),
    Planted(
        "rounded noise", "rounded before it is added", approximate_dp(1.0), THIRDS, rounded_noise, rounded_sum,
    ),
)  # fmt: skip
