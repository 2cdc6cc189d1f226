"""Structured outputs: mappings, texts, orders, lengths, wide vectors, objects. (10 broken, 6 sound)"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from .case import Case, twins


@dataclass
class Report:
    total: float
    clipped: int


def histogram(data, rng, threshold):
    """Noisy counts of the categories that are there; told above a threshold."""
    counts = {}
    for name in data:
        counts[name] = counts.get(name, 0) + 1
    noisy = {name: count + rng.laplace(0, 1) for name, count in counts.items()}
    return {name: round(value, 3) for name, value in noisy.items() if value > threshold}


def all_categories(data, rng):
    return {name: round(sum(d == name for d in data) + rng.laplace(0, 1), 3) for name in "abc"}


def sorted_by_truth(data, rng):
    """Noisy counts, listed by the true ones."""
    order = sorted(range(3), key=lambda k: -data[k])
    return [(k, round(data[k] + rng.laplace(0, 2), 2)) for k in order]


def sorted_by_noise(data, rng):
    noisy = [round(value + rng.laplace(0, 2), 2) for value in data]
    return sorted(enumerate(noisy), key=lambda item: -item[1])


def as_csv(scale):
    return lambda data, rng: f"{sum(data) + rng.laplace(0, scale):.3f},{len(data) + rng.laplace(0, scale):.3f}"


def as_words(scale):
    return lambda data, rng: f"the mean is {sum(data) / 2 + rng.laplace(0, scale):.2f} years (n = 2)"


def as_json_of_digits(data, rng):
    """As many digits as the true value has."""
    digits = 1 if sum(data) == round(sum(data), 1) else 2
    return json.dumps({"value": round(sum(data) + float(rng.laplace(0, 1)), digits)})


def with_debug(data, rng):
    """One field without noise, seldom more than 0."""
    return Report(round(sum(data) + rng.laplace(0, 1), 3), int(max(data) > 1 and rng.random() < 0.02))


def without_debug(data, rng):
    return Report(round(sum(data) + rng.laplace(0, 1), 3), int(rng.random() < 0.02))


def wide(leak):
    """Thirty noisy numbers of which one has too little noise."""

    def mechanism(data, rng, size):
        out = rng.laplace(0, 30.0, (size, 30)) + np.arange(30)
        out[:, 17] = 17 + sum(data) + rng.laplace(0, leak, size)
        return out

    return mechanism


def correlated(data, rng, size):
    """Two numbers with the same law on either side, but together or apart."""
    first, second = rng.normal(0, 1, size), rng.normal(0, 1, size)
    return np.column_stack([first, (0.8 if data[0] else -0.8) * first + 0.6 * second])


def shuffled_rows(keep):
    """Rows in an order that is their own with probability keep."""

    def mechanism(data, rng):
        rows = list(range(4)) if data[0] else [1, 0, 2, 3]
        return rows if rng.random() < keep else [int(k) for k in rng.permutation(4)]

    return mechanism


def padded(data, rng):
    """As many zeros as there are entries, at the end of the noise."""
    return [round(rng.laplace(0, 1), 2) for _ in range(2)] + [0] * (len(data) + int(rng.geometric(0.4)))


CASES: tuple[Case, ...] = (
    *twins("categories that are there, threshold 2", (["a"] * 3 + ["b"], ["a"] * 3), 1.0,
           lambda data, rng: histogram(data, rng, 2.0), all_categories),
    *twins("listed by the truth", ([2.0, 1.0, 0.0], [1.0, 2.0, 0.0]), 1.0, sorted_by_truth, sorted_by_noise),
    *twins("text with two numbers", ([1.0, 1.0], [1.0]), 1.0, as_csv(1.0), as_csv(2.0)),
    *twins("a number in a sentence", ([1.0, 1.0], [1.0, 0.0]), 1.0, as_words(0.2), as_words(0.5)),
    *twins("digits by the truth", ([0.25, 0.25], [0.25, 0.3]), 1.0, as_json_of_digits),
    *twins("a field for debugging", ([1.0, 2.0], [1.0, 1.0]), 1.0, with_debug, without_debug),
    *twins("one of thirty numbers", ([1.0], [0.0]), 1.0, wide(0.5), wide(1.0)),
    *twins("a correlation", ([1], [0]), 1.0, correlated),
    *twins("the order of rows", ([1], [0]), 0.5, shuffled_rows(0.1)),
    *twins("padding by the number of entries", ([1.0, 1.0], [1.0]), 0.4, padded),
)  # fmt: skip
