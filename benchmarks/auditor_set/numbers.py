"""One number: noise of the wrong size or shape, and what is done to it afterwards. (14 broken, 7 sound)"""

from __future__ import annotations

import numpy as np

from .case import Case, twins

ONE = ([1.0, 0.0], [1.0, 1.0])


def laplace(scale):
    return lambda data, rng, size: sum(data) + rng.laplace(0, scale, size)


def gaussian(deviation):
    return lambda data, rng, size: sum(data) + rng.normal(0, deviation, size)


def divided_by_the_private_count(data, rng, size):
    """The mean's noise is scaled to the true number of entries, which add-remove hides."""
    return sum(data) / max(1, len(data)) + rng.laplace(0, 1 / max(1, len(data)), size)


def noisy_sum_over_noisy_count(data, rng, size):
    return (sum(data) + rng.laplace(0, 2, size)) / np.maximum(1, len(data) + rng.laplace(0, 2, size))


def one_sided_geometric(data, rng, size):
    return sum(data) + rng.geometric(0.2, size)


def two_sided_geometric(data, rng, size):
    p = 1 - np.exp(-0.5)
    return sum(data) + rng.geometric(p, size) - rng.geometric(p, size)


def cut_noise(limit):
    """Noise that is cut to [-limit, limit]: its ends move with the data. Probability e^-limit beyond."""
    return lambda data, rng, size: sum(data) + np.clip(rng.laplace(0, 1, size), -limit, limit)


def clamped(data, rng, size):
    return np.clip(sum(data) + rng.laplace(0, 1, size), -3.0, 6.0)


def rounded_to_a_private_grid(data, rng, size):
    noisy, grid = sum(data) + rng.laplace(0, 1, size), 1.0 + 0.5 * (data[1] > 0.5)
    return np.round(noisy / grid) * grid


def rounded(data, rng, size):
    return np.round(sum(data) + rng.laplace(0, 1, size))


def integer_noise(data, rng, size):
    """Rounded noise on an unrounded sum: the fraction is the data's. ONE moved by a half."""
    return sum(data) + np.round(rng.laplace(0, 4, size))


def noise_by_local_sensitivity(data, rng, size):
    """The median's noise is scaled to the distance of its neighbours in the data."""
    some = sorted(data)
    return np.median(some) + rng.laplace(0, 0.05 + abs(some[-1] - some[0]) / 2, size)


def uniform_noise(data, rng, size):
    return sum(data) + rng.uniform(-40, 40, size)


def seldom_without_noise(rate):
    """With a small probability the noise is forgotten."""
    return lambda data, rng, size: sum(data) + np.where(rng.random(size) < rate, 0.0, rng.laplace(0, 1, size))


def seldom_with_little_noise(data, rng, size):
    return sum(data) + rng.laplace(0, np.where(rng.random(size) < 0.05, 0.1, 1.3), size)


def half_of_the_time(data, rng, size):
    """A sample of half of the entries is said to halve epsilon; it does not."""
    kept = rng.random((size, len(data))) < 0.5
    return kept @ np.asarray(data) + rng.laplace(0, 1, size)


CASES: tuple[Case, ...] = (
    *twins("Laplace, scale 0.9 of what is needed", ONE, 1.0, laplace(0.9), laplace(1.0)),
    *twins("Gaussian, 0.9 of the deviation", ONE, 1.0, gaussian(0.9 * 3.731), gaussian(3.731), 1e-5),
    *twins("mean over the private count", ([1.0] * 3, [1.0] * 2), 1.0,
           divided_by_the_private_count, noisy_sum_over_noisy_count),
    *twins("one-sided geometric noise", ONE, 2.0, one_sided_geometric, two_sided_geometric),
    *twins("noise cut at 4", ONE, 1.0, cut_noise(4), clamped),
    *twins("noise cut at 7", ONE, 1.0, cut_noise(7)),
    *twins("rounded to a grid of the data's", ONE, 1.0, rounded_to_a_private_grid, rounded),
    *twins("integer noise on fractions", ([1.0, 0.0], [1.0, 0.5]), 1.0, integer_noise),
    *twins("noise by local sensitivity", ([0.0, 0.0, 0.1], [0.0, 0.0, 1.0]), 1.0, noise_by_local_sensitivity),
    *twins("uniform noise", ONE, 1.0, uniform_noise),
    *twins("noise forgotten once in 100", ONE, 1.0, seldom_without_noise(0.01)),
    *twins("noise forgotten once in 1000", ONE, 1.0, seldom_without_noise(0.001)),
    *twins("one in 20 with a thirteenth of the noise", ONE, 1.0, seldom_with_little_noise),
    *twins("half a sample, epsilon halved", ONE, 0.5, half_of_the_time, laplace(2.0)),
)  # fmt: skip
