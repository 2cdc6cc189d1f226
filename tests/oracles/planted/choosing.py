"""Choosing by noisy scores: samplers of the exponential mechanism, permute-and-flip and noisy maxima, and their faults.

The dataset is the list of scores, each of sensitivity 1; outputs are the index that is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import approximate_dp

from .case import Batched, Planted


def exponential_mechanism(epsilon: float) -> Batched:
    """Probabilities proportional to exp(epsilon score / 2) (McSherry, Talwar 2007)."""

    def mechanism(scores: Sequence[float], rng: Generator, size: int) -> Floats:
        weights = np.exp(epsilon * (np.asarray(scores, float) - max(scores)) / 2)
        return rng.choice(len(scores), size, p=weights / weights.sum()).astype(float)

    return mechanism


def permute_and_flip(epsilon: float) -> Batched:
    """In random order, each accepted with probability exp(epsilon (score - best) / 2) (McKenna, Sheldon 2020, arXiv
    2010.12603, Algorithm 1)."""

    def mechanism(scores: Sequence[float], rng: Generator, size: int) -> Floats:
        accept = np.exp(epsilon * (np.asarray(scores, float) - max(scores)) / 2)
        accepted = rng.random((size, len(scores))) < accept
        place = np.where(accepted, rng.random((size, len(scores))), 2.0)  # the best is always accepted
        return np.asarray(np.argmin(place, axis=1), float)

    return mechanism


def noisy_max(epsilon: float) -> Batched:
    """Laplace noise of scale 2/epsilon on every score (Dwork, Roth 2014, Claim 3.9; scores may move either way)."""

    def mechanism(scores: Sequence[float], rng: Generator, size: int) -> Floats:
        noisy = np.asarray(scores, float) + rng.laplace(0.0, 2 / epsilon, (size, len(scores)))
        return np.asarray(np.argmax(noisy, axis=1), float)

    return mechanism


def noisy_max_with_its_value(epsilon: float) -> Batched:
    """The broken one: the winning noisy score is released as well, without noise of its own."""

    def mechanism(scores: Sequence[float], rng: Generator, size: int) -> Floats:
        noisy = np.asarray(scores, float) + rng.laplace(0.0, 2 / epsilon, (size, len(scores)))
        return np.column_stack([np.argmax(noisy, axis=1), noisy.max(axis=1)])

    return mechanism


APART = ([0.0, 1.0, 0.0], [1.0, 0.0, 1.0])
"""Scores that move in both directions."""

TIED = ([0.0] * 20, [1.0] * 20)
"""Scores that all move together, so that which wins says nothing, and its value does."""

_ONE = approximate_dp(1.0)

CASES = (
    Planted(
        "exponential mechanism for monotone scores", "exp(epsilon score) where scores move either way", _ONE, APART,
        exponential_mechanism(2.0), exponential_mechanism(1.0), 20_000,
    ),
    Planted(
        "permute and flip for monotone scores", "acceptance exp(epsilon (score - best))", _ONE, APART,
        permute_and_flip(2.0), permute_and_flip(1.0), 20_000,
    ),
    Planted(
        "noisy max for monotone scores", "scale 1/epsilon where scores move either way", approximate_dp(0.5), APART,
        noisy_max(1.5), noisy_max(0.5), 20_000,
    ),
    Planted(
        "noisy max with its value", "the largest noisy score is told too", _ONE, TIED,
        noisy_max_with_its_value(1.0), noisy_max(1.0), 20_000,
    ),
)  # fmt: skip
