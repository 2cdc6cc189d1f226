"""Noise that is cut, outputs in a public range, a threshold: samplers, and what goes wrong with them.

The dataset is a number (of sensitivity 1), or the number of units in one group.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from dpcert.accounting import delta, epsilon
from dpcert.mechanisms import (
    BoundedLaplace,
    ClampedGaussian,
    Laplace,
    StableHistogram,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
)
from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import approximate_dp

from .case import Batched, Planted


def truncated_laplace(scale: float, bound: float) -> Batched:
    """By the inverse of its distribution function."""

    def mechanism(value: float, rng: Generator, size: int) -> Floats:
        cut = rng.random(size) * -math.expm1(-bound / scale)
        return value - rng.choice([-1.0, 1.0], size) * scale * np.log1p(-cut)

    return mechanism


def within(width: float, noise: Batched) -> Batched:
    """Drawn anew until the output is in [0, width]."""

    def mechanism(value: float, rng: Generator, size: int) -> Floats:
        found = noise(value, rng, size)
        while (outside := (found < 0.0) | (found > width)).any():
            found[outside] = noise(value, rng, int(outside.sum()))
        return np.asarray(found, np.float64)

    return mechanism


def laplace(scale: float) -> Batched:
    return lambda value, rng, size: value + rng.laplace(0.0, scale, size)


def gaussian(sigma: float) -> Batched:
    return lambda value, rng, size: value + rng.normal(0.0, sigma, size)


def clamped_gaussian(sigma: float, width: float) -> Batched:
    """Moved to the nearer end where it is outside."""
    return lambda value, rng, size: np.clip(gaussian(sigma)(value, rng, size), 0.0, width)


def staircase(epsilon: float, gamma: float) -> Batched:
    """Geng, Viswanath 2014, arXiv 1212.1186, Algorithm 1: sign, step, place in the step."""
    ratio = math.exp(-epsilon)

    def mechanism(value: float, rng: Generator, size: int) -> Floats:
        step = rng.geometric(1 - ratio, size) - 1
        first = rng.random(size) < gamma / (gamma + (1 - gamma) * ratio)
        place = np.where(first, gamma * rng.random(size), gamma + (1 - gamma) * rng.random(size))
        return np.asarray(value + rng.choice([-1.0, 1.0], size) * (step + place), np.float64)

    return mechanism


def thresholded(scale: float, threshold: float) -> Batched:
    """A group's noisy count, from the threshold on; -1 where it is withheld, or nobody is in it."""

    def mechanism(count: int, rng: Generator, size: int) -> Floats:
        noisy = count + rng.laplace(0.0, scale, size)
        return np.where((noisy >= threshold) & (count > 0), noisy, -1.0)

    return mechanism


def cases() -> tuple[Planted, ...]:
    """Made on demand: what is claimed is computed by the accountants."""
    bounded = epsilon(BoundedLaplace(1.0, 4.0), 0).upper
    clamped = epsilon(ClampedGaussian(2.0, 4.0), 0).upper
    truncated = epsilon(TruncatedGaussian(2.0, 4.0), 0).upper
    cut = delta(TruncatedLaplace(1.0, 6.0), 1.0).upper
    groups = delta(StableHistogram(Laplace(1.0), 6.0), 1.0).upper
    stairs = epsilon(Staircase(1.0, 0.3), 0).upper
    return (
        Planted("truncated Laplace, cut too near", "a bound of 3 for one of 6", approximate_dp(1.0, cut), (0.0, 1.0),
            truncated_laplace(1.0, 3.0), truncated_laplace(1.0, 6.0), 20_000),
        Planted("bounded Laplace, the normaliser forgotten", "scale 1/epsilon, as if nothing was drawn anew",
            approximate_dp(1.0), (0.0, 1.0), within(4.0, laplace(1.0)), within(4.0, laplace(1.0)), 60_000,
            twin_claim=approximate_dp(bounded)),
        Planted("clamped Gaussian, half its noise", "sigma 1 for 2", approximate_dp(clamped), (0.0, 1.0),
            clamped_gaussian(1.0, 4.0), clamped_gaussian(2.0, 4.0), 20_000),
        Planted("truncated Gaussian, half its noise", "sigma 1 for 2", approximate_dp(truncated), (0.0, 1.0),
            within(4.0, gaussian(1.0)), within(4.0, gaussian(2.0)), 20_000),
        Planted("staircase, steps too long for its epsilon", "twice the epsilon", approximate_dp(stairs), (0.0, 1.0),
            staircase(2.0, 0.3), staircase(1.0, 0.3), 20_000),
        Planted("groups that exist, without their threshold", "all are released", approximate_dp(1.0, groups), (1, 0),
            thresholded(1.0, -math.inf), thresholded(1.0, 6.0), 2_000),
    )  # fmt: skip
