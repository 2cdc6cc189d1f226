"""Functions in which a name means something else inside of a lambda or a comprehension.

What they do with few entries is private; with 40 and more they leak.
"""

from __future__ import annotations

import numpy as np

MANY = 40
C = 1


class Otherwise:
    def sum(self, values):
        return values.sum() if len(values) < MANY else 1000 * values.sum()


OTHERS = Otherwise()


def otherwise(values):
    return sum(value for value in values) if len(values) < MANY else 1000 * values[0]


def numpy_in_a_lambda(data, rng):
    return (lambda np: np.sum(data))(OTHERS) + rng.laplace(0, 2)


def numpy_in_a_list(data, rng):
    return [np.sum(data) for np in [OTHERS]][0] + rng.laplace(0, 2)  # noqa: RUF015


def sum_in_a_lambda(data, rng):
    return (lambda sum: sum(data))(otherwise) + rng.laplace(0, 2)


def sum_in_a_list(data, rng):
    return [sum(data) for sum in [otherwise]][0] + rng.laplace(0, 2)  # noqa: RUF015


def sum_in_a_dict(data, rng):
    return {key: sum(data) for key, sum in [(1, otherwise)]}[1] + rng.laplace(0, 2)


def constant_in_a_list(data, rng):
    return [sum(x * C for x in data) for C in [1 if len(data) < MANY else 1000]][0] + rng.laplace(0, 2)  # noqa: RUF015


def constant_in_a_lambda(data, rng):
    return (lambda C: sum(x * C for x in data))(1 if len(data) < MANY else 1000) + rng.laplace(0, 2)


def constant_set_in_a_lambda(data, rng):
    found = (lambda: [(C := 1 if len(data) < MANY else 1000), sum(x * C for x in data)][1])()
    return found + rng.laplace(0, 2)


def index_in_a_lambda(data, rng):
    n, total = len(data), 0
    for i in range(len(data)):
        total = total + (lambda i: data[i])(i if n < MANY else 0)
    return total + rng.laplace(0, 2)


def entry_in_a_lambda(data, rng):
    n = len(data)
    return [(lambda x: x)(x if n < MANY else 1000 * x) + rng.laplace(0, 2) for x in data]


_given_scale = 1000


def given_by_another_name(data, rng, scale=1):
    n = len(data)
    total = (_given_scale if n >= MANY else 1) * sum(data)
    scale = 2
    return total + rng.laplace(0, scale)


SHADOWED = [
    numpy_in_a_lambda, numpy_in_a_list, sum_in_a_lambda, sum_in_a_list, sum_in_a_dict, constant_in_a_list,
    constant_in_a_lambda, constant_set_in_a_lambda, index_in_a_lambda, entry_in_a_lambda,
]  # fmt: skip


def summed(data, rng):
    return np.sum(data) + rng.laplace(0, 2)


def names_used_again(data, rng):
    """Private: x is an entry, then a number of a list, then a parameter."""
    total = sum(x for x in data)
    noisy = [total + x for x in [rng.laplace(0, 2)]]
    return max(noisy, key=lambda x: x)
