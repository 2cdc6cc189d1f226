"""The sparse-vector algorithms of Lyu, Su, Li 2017 that are not private as stated, with those that are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpcert.proofs_checks.auditing import approximate_dp
from dpcert.proofs_checks.papers.svt.variants import CROSSED, algorithm_1, algorithm_4, algorithm_6, stopped

from .case import Batched, Planted


def algorithm_2(epsilon: float, most: int) -> Batched:
    """Dwork, Roth 2014: threshold noise 2c/epsilon, drawn anew after each answer above; query noise 4c/epsilon."""

    def mechanism(queries: Sequence[float], rng: Generator, size: int) -> np.ndarray:
        bound = rng.laplace(0.0, 2 * most / epsilon, size)
        above = np.zeros((size, len(queries)))
        for column, answer in enumerate(queries):
            above[:, column] = answer + rng.laplace(0.0, 4 * most / epsilon, size) >= bound
            fresh = rng.laplace(0.0, 2 * most / epsilon, size)
            bound = np.where(above[:, column] > 0, fresh, bound)
        return stopped(above, most)

    return mechanism


def algorithm_3(epsilon: float, most: int) -> Batched:
    """Roth's lecture notes of 2011: the noisy answer itself is released when it is above the noisy threshold."""

    def mechanism(queries: Sequence[float], rng: Generator, size: int) -> np.ndarray:
        bound = rng.laplace(0.0, 2 / epsilon, (size, 1))
        noisy = np.asarray(queries, float)[None, :] + rng.laplace(0.0, 2 * most / epsilon, (size, len(queries)))
        above = (noisy >= bound).astype(float)
        marked = stopped(above, most)
        # Below: -100, which no noisy answer comes near; not asked: -200.
        return np.where(marked == 1.0, noisy, np.where(marked == 0.0, -100.0, -200.0))

    return mechanism


def algorithm_5(epsilon: float) -> Batched:
    """Stoddard, Chen, Machanavajjhala 2014: no noise on the queries, no stop."""

    def mechanism(queries: Sequence[float], rng: Generator, size: int) -> np.ndarray:
        bound = rng.laplace(0.0, 2 / epsilon, (size, 1))
        return (np.asarray(queries, float)[None, :] >= bound).astype(float)

    return mechanism


def halved(epsilon: float, most: int) -> Batched:
    """Algorithm 1 with half of all its noise."""
    return algorithm_1(2 * epsilon, most)


EDGE = ([0.0] * 3 + [1.0], [1.0] * 3 + [0.0])


def _case(name: str, broken: Batched, correct: Batched, trials: int, what: str, pair: object = CROSSED) -> Planted:
    assert isinstance(pair, tuple)
    return Planted(f"sparse vector {name}", what, approximate_dp(1.0), pair, broken, correct, trials)


CASES = (
    _case("1 with half noise", halved(1.0, 1), algorithm_1(1.0, 1), 60_000, "algorithm 1 at half its noise"),
    _case("2 with 40% of its noise", algorithm_2(2.5, 2), algorithm_2(1.0, 2), 150_000, "algorithm 2 for epsilon 2.5"),
    _case("3", algorithm_3(1.0, 1), algorithm_1(1.0, 1), 60_000, "releases the noisy answers", EDGE),
    _case("4", algorithm_4(1.0, 3), algorithm_1(1.0, 3), 10_000, "query noise does not grow with c"),
    _case("5", algorithm_5(1.0), algorithm_1(1.0, 3), 5_000, "no query noise"),
    _case("6", algorithm_6(1.0), algorithm_1(1.0, 3), 10_000, "never stops"),
)
