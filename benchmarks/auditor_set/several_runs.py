"""Several runs: composition, best of many, noise used again. (10 broken, 7 sound)"""

from __future__ import annotations

import numpy as np
from scipy import stats

from .case import Case, twins

ONE = ([1.0, 0.0], [1.0, 1.0])


def releases(many, scale):
    return lambda data, rng, size: sum(data) + rng.laplace(0, scale, (size, many))


def mean_of(many, scale):
    return lambda data, rng, size: (sum(data) + rng.laplace(0, scale, (size, many))).mean(axis=1)


def largest_of(many, scale):
    return lambda data, rng, size: (sum(data) + rng.laplace(0, scale, (size, many))).max(axis=1)


def median_of(many, scale):
    return lambda data, rng, size: np.median(sum(data) + rng.laplace(0, scale, (size, many)), axis=1)


def best_of_geometric(scale):
    """As many runs as a coin says, the largest is told: three epsilon, not one (Liu, Talwar 2019)."""

    def mechanism(data, rng, size):
        largest = rng.random(size) ** (1 / rng.geometric(0.05, size))  # of as many uniform numbers
        return sum(data) + stats.laplace.ppf(largest, scale=scale)

    return mechanism


def sum_and_count(same_noise):
    def mechanism(data, rng, size):
        first = rng.laplace(0, 2, size)
        second = first if same_noise else rng.laplace(0, 2, size)
        return np.column_stack([sum(data) + first, len([v for v in data if v > 0.5]) + second])

    return mechanism


def agreeing(threshold):
    """How many of twenty noisy copies are above a threshold."""
    return lambda data, rng, size: (sum(data) + rng.laplace(0, 10, (size, 20)) > threshold).sum(axis=1)


def coins(many, stay):
    """The same bit reported several times."""

    def mechanism(data, rng, size):
        return (rng.random((size, many)) < (stay if data[0] else 1 - stay)).astype(int)

    return mechanism


def memoised(data, rng, size):
    """A permanent answer is drawn once, and then reported four times with further noise: epsilon of one report."""
    kept = np.where(rng.random(size) < 0.75, data[0], 1 - data[0])
    again = rng.random((size, 4)) < 0.8
    return np.where(again, kept[:, None], 1 - kept[:, None])


def sampled_ten_times(data, rng, size):
    """Ten releases of a tenth of the entries each, accounted as one."""
    kept = rng.random((size, 10, len(data))) < 0.1
    return kept @ np.asarray(data) + rng.laplace(0, 1, (size, 10))


CASES: tuple[Case, ...] = (
    *twins("three releases for the price of one", ONE, 1.0, releases(3, 1.0), releases(3, 3.0)),
    *twins("the mean of four", ONE, 1.0, mean_of(4, 1.0), mean_of(4, 4.0)),
    *twins("the largest of ten", ONE, 1.0, largest_of(10, 1.0), largest_of(10, 10.0)),
    *twins("the median of five", ONE, 1.0, median_of(5, 1.0), median_of(5, 5.0)),
    *twins("the best of geometrically many", ONE, 1.0, best_of_geometric(1.0), best_of_geometric(3.0)),
    *twins("one noise for two answers", ([0.7, 0.2], [0.7, 0.9]), 1.0, sum_and_count(True), sum_and_count(False)),
    *twins("votes of twenty copies", ONE, 0.3, agreeing(1.5)),
    *twins("a bit reported four times", ([1], [0]), 1.0, coins(4, 1 / (1 + np.exp(-1))),
           coins(4, 1 / (1 + np.exp(-0.25)))),
    *twins("permanent and instantaneous answers", ([1], [0]), 0.8, memoised),
    *twins("ten samples as one", ([1.0, 1.0], [1.0]), 0.16, sampled_ten_times),
)  # fmt: skip
