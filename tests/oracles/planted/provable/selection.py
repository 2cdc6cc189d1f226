"""Which answer is the largest, and by how much. Datasets are answers to queries of sensitivity 1; epsilon = 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .case import Mechanism, Provable

ANSWERS = {"relation": "answers"}


def largest_of(noise: str, scale: float) -> Mechanism:
    """Report noisy max, in numpy (Dwork, Roth 2014, section 3.3)."""
    return lambda data, rng: int(np.argmax(data + getattr(rng, noise)(scale=scale, size=len(data))))


def largest_by_loop(scale: float) -> Mechanism:
    def noisy_max(data: Any, rng: Any) -> int:
        best, where = -math.inf, -1
        for i, answer in enumerate(data):
            value = answer + rng.laplace(0, scale)
            if value > best:
                best, where = value, i
        return where

    return noisy_max


def largest_value(data: Any, rng: Any) -> Any:
    return max(answer + rng.laplace(0, 2) for answer in data)


def largest_and_its_value(data: Any, rng: Any) -> Any:
    """The value is released with the noise that selected it."""
    noisy = data + rng.laplace(0, 2, len(data))
    where = int(np.argmax(noisy))
    return where, noisy[where]


def select_then_measure(selecting: float, measuring: float) -> Mechanism:
    def mechanism(data: Any, rng: Any) -> Any:
        where = int(np.argmax(data + rng.laplace(0, selecting, len(data))))
        return where, data[where] + rng.laplace(0, measuring)

    return mechanism


def with_gap(scale: float) -> Mechanism:
    """Noisy max with its lead over the runner-up (Ding, Wang, Zhang, Kifer 2019, arXiv 1904.12773, Algorithm 1)."""

    def noisy_max(data: Any, rng: Any) -> Any:
        noisy = data + rng.laplace(0, scale, len(data))
        where = int(np.argmax(noisy))
        return where, noisy[where] - max(noisy[i] for i in range(len(data)) if i != where)

    return noisy_max


def top_two(scale: float) -> Mechanism:
    def mechanism(data: Any, rng: Any) -> list[int]:
        noisy = data + rng.laplace(0, scale, len(data))
        return [int(i) for i in np.argsort(-noisy)[:2]]

    return mechanism


def exact_runner_up(data: Any, rng: Any) -> Any:
    """The lead is over the exact answers of the others."""
    noisy = data + rng.laplace(0, 2, len(data))
    where = int(np.argmax(noisy))
    return where, noisy[where] - max(data[i] for i in range(len(data)) if i != where)


CASES = (
    Provable("noisy max", largest_by_loop(1), largest_by_loop(2), options=ANSWERS),
    Provable("noisy max in numpy", largest_of("laplace", 1), largest_of("laplace", 2), options=ANSWERS),
    Provable("exponential noisy max", largest_of("exponential", 1), largest_of("exponential", 2), options=ANSWERS),
    Provable("Gumbel noisy max", largest_of("gumbel", 1), largest_of("gumbel", 2), options=ANSWERS),
    Provable("the largest value instead of its place", largest_value, largest_by_loop(2), options=ANSWERS),
    Provable("value with its own noise", largest_and_its_value, select_then_measure(4, 2), options=ANSWERS),
    Provable("select, then measure", select_then_measure(2, 1), select_then_measure(4, 2), options=ANSWERS),
    Provable("noisy max with gap", with_gap(1), with_gap(2), options=ANSWERS),
    Provable("gap to exact answers", exact_runner_up, with_gap(2), options=ANSWERS),
    Provable("the top two", top_two(2), top_two(4), entries=4, options=ANSWERS),
)
