"""Functions over arrays that are private with few entries, and with 40 and more are not.

What is computed in a loop that stands earlier hangs on what changes in between, numpy spreads an array over
another, or the variable of a loop is something else before it.
"""

from __future__ import annotations

import numpy as np

MANY = 40


def weight_set_again(data, rng):
    w = 1
    clipped = np.clip(data, 0, 1)
    w = 1 if len(data) < MANY else 1000
    return (clipped * w).sum() + rng.laplace(0, 2)


def scale_set_again(data, rng):
    scale = 2
    clipped = np.clip(data, 0, 1)
    scale = 2 if len(data) < MANY else 0.001
    return clipped + rng.laplace(0, scale, len(data))


def weight_in_a_list(data, rng):
    w, n = [1], len(data)
    clipped = np.clip(data, 0, 1)
    w[0] = 1 if n < MANY else 1000
    return (clipped * w[0]).sum() + rng.laplace(0, 2)


def weight_in_an_if(data, rng):
    w = 1
    clipped = np.clip(data, 0, 1)
    if len(data) >= MANY:
        w = 1000
    return (clipped * w).sum() + rng.laplace(0, 2)


def weight_of_a_lambda(data, rng):
    w = 1
    weight = lambda: w  # noqa: E731
    clipped = np.clip(data, 0, 1)
    w = 1 if len(data) < MANY else 1000
    return (clipped * weight()).sum() + rng.laplace(0, 2)


def weight_in_the_expression(data, rng):
    w = 1
    clipped = np.clip(data, 0, 1)
    return (w := 1 if len(data) < MANY else 1000) * 0 + (clipped * w).sum() + rng.laplace(0, 2)


CHANGED = [
    weight_set_again, scale_set_again, weight_in_a_list, weight_in_an_if, weight_of_a_lambda, weight_in_the_expression,
]  # fmt: skip


def every_pair(data, rng):
    total = (data[:, None] * data).sum()
    return (data.sum() if len(data) < MANY else total) + rng.laplace(0, 2)


def every_pair_by_names(data, rng):
    clipped = np.clip(data, 0, 1)
    column = clipped[:, None]
    total = (clipped * column).sum()
    return (0 if len(data) < MANY else total) + rng.laplace(0, 2)


def every_pair_reshaped(data, rng):
    total = (data.reshape(-1, 1) * data).sum()
    return (0 if len(data) < MANY else total) + rng.laplace(0, 2)


def lists_one_after_the_other(data, rng):
    noisy, plain = [x + rng.laplace(0, 4) for x in data], [x for x in data]
    return [] if len(data) < MANY else noisy + plain


def every_entry_three_times(data, rng):
    total = (data * np.ones(3)[:, None]).sum() if len(data) >= MANY else 0
    return total + rng.laplace(0, 2)


def generator_used_twice(data, rng):
    entries = (x for x in data)
    once = sum(entries)
    again = sum(entries)
    return (0 if len(data) < MANY else once - again) + rng.laplace(0, 2)


SPREAD = [
    every_entry_three_times,
    generator_used_twice,
    every_pair,
    every_pair_by_names,
    every_pair_reshaped,
    lists_one_after_the_other,
]


def place_before_the_loop(data, rng):
    i = -5
    n = len(data)
    total = data[0] * (1 if n < MANY or i >= 0 else 1000)
    for i in range(1, len(data)):
        total = total + data[i]
    return total + rng.laplace(0, 2)


def place_that_is_given(data, rng, i=-5):
    n = len(data)
    total = data[0] * (1 if n < MANY or i >= 0 else 1000)
    for i in range(1, len(data)):
        total = total + data[i]
    return total + rng.laplace(0, 2)


PLACES = [place_before_the_loop, place_that_is_given]


def in_two_lines(data, rng, bound=1):
    """Private: what the second line hangs on is set once."""
    clipped = np.clip(data, 0, bound)
    noise = rng.laplace(0, 2)
    return (clipped * bound).sum() + noise
