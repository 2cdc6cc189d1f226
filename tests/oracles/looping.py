"""Loops over the data: mechanisms that are private for every number of entries, and such that leak late."""

from __future__ import annotations

import math

import numpy as np

from dpcert.mechanisms.samplers import discrete_laplace

SEEN: list[int] = []
EDGES = [0.3, 0.6]
LATE = 8
"""Later than any number of entries that is proved one by one or tried."""


def sparse_vector(answers, rng):
    bound, out, count = rng.laplace(0, 2), [], 0
    for answer in answers:
        above = bool(answer + rng.laplace(0, 4) >= bound)
        out.append(above)
        if above:
            count += 1
            if count == 1:
                break
    return out


def noisy_max(answers, rng):
    best, where = -math.inf, -1
    for i, answer in enumerate(answers):
        value = answer + rng.laplace(0, 2)
        if value > best:
            best, where = value, i
    return where


def exponential_max(answers, rng):
    best, where = -math.inf, -1
    for i in range(len(answers)):
        value = answers[i] + rng.exponential(2)
        if value > best:
            best, where = value, i
    return where


def prefix_sums(data, rng):
    total, out = 0.0, []
    for entry in data:
        total = total + entry + rng.laplace(0, 1)
        out.append(total)
    return out


def histogram(data, rng):
    counts = [0, 0, 0]
    for entry in data:
        counts[0 if entry < EDGES[0] else 1 if entry < EDGES[1] else 2] += 1
    return [count + rng.laplace(0, 2) for count in counts]


def whole_count(data, rng):
    above = 0
    for entry in data:
        if entry > 1:
            above += 1
    return above + discrete_laplace(1)


def first_hit(data, rng):
    noise = rng.laplace(0, 1)
    for entry in data:
        if entry > 2:  # never, in [0, 1]
            return "hit"
    return noise


def noisy_sum(data, rng):
    """A docstring."""
    return data.sum() + rng.laplace(0, 1)


def clipped(data, rng):
    return float(np.clip(data, 0, 0.5).sum()) + rng.laplace(0, 1)


def sum_and_size(data, rng):
    return sum(data) + rng.laplace(0, 2), len(data) + rng.laplace(0, 2)


def counts(data, rng):
    return {"low": (data < 0.5).sum() + rng.laplace(), "high": sum(x >= 0.5 for x in data) + rng.laplace()}


def late_index(data, rng):
    out = []
    for i, entry in enumerate(data):
        out.append(entry if i == LATE else entry + rng.laplace())
    return out


def late_count(data, rng):
    out, count = [], 0
    for entry in data:
        count = count + 1
        out.append(entry if count > LATE else entry + rng.laplace())
    return out


def late_by_a_global(data, rng):
    SEEN.clear()
    out = []
    for entry in data:
        out.append(entry if len(SEEN) > LATE else entry + rng.laplace())
        SEEN.append(1)
    return out


def late_by_an_alias(data, rng):
    count = [0]
    same = count
    out = []
    for entry in data:
        out.append(entry if count[0] > LATE else entry + rng.laplace())
        same[0] += 1
    return out


def late_by_a_default(data, rng):
    SEEN.clear()
    out = []
    for entry in data:
        out.append(entry if calls() > LATE else entry + rng.laplace())
    return out


def calls(made=SEEN):
    made.append(1)
    return len(made)


def late_by_an_attribute(data, rng):
    calls.number = 0
    out = []
    for entry in data:
        calls.number += 1
        out.append(entry if calls.number > LATE else entry + rng.laplace())
    return out


def late_by_the_output(data, rng):
    out = []
    for entry in data:
        out.append(entry if len(out) > LATE else entry + rng.laplace())
    return out


def late_by_an_iterator(data, rng):
    left = iter(range(LATE))
    out = []
    for entry in data:
        out.append(entry if next(left, None) is None else entry + rng.laplace())
    return out


def late_by_a_generator(data, rng):
    left = (i for i in range(LATE))
    out = []
    for entry in data:
        out.append(entry if sum(1 for _ in zip(left, [0], strict=False)) == 0 else entry + rng.laplace())
    return out


def swapped(answers, rng):
    """Which of two equal-looking lists is which tells how often they were swapped."""
    one, other = [], []
    for answer in answers:
        if answer + rng.laplace(0, 1000) > 0:
            one, other = other, one
        one.append(1)
    return one, other


def held_over(data, rng):
    out, first = [], True
    for entry in data:
        count = 0 if first else count + 1  # noqa: F821 (it is the former step's)
        first = False
        out.append(entry if count > LATE else entry + rng.laplace())
    return out


def many_above(answers, rng):
    """A budget for 2 above, which 12 are allowed to spend."""
    bound, out, count = rng.laplace(0, 4), [], 0
    for answer in answers:
        above = bool(answer + rng.laplace(0, 8) >= bound)
        out.append(above)
        if above:
            count += 1
            if count == 12:
                break
    return out


def last_above(answers, rng):
    where = -1
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 2) > 0:
            where = i
    return where


def its_value(answers, rng):
    best = -math.inf
    for answer in answers:
        value = answer + rng.laplace(0, 2)
        if value > best:
            best = value
    return best


def running_sums(data, rng):
    total, out = 0.0, []
    for entry in data:
        total = total + entry
        out.append(total + rng.laplace(0, 1))
    return out


def the_last(data, rng):
    found = 0.0
    for entry in data:
        found = entry
    return found


PRIVATE = (
    (sparse_vector, 1.0, {"relation": "answers"}),
    (noisy_max, 1.0, {"relation": "answers"}),
    (exponential_max, 1.0, {"relation": "answers"}),
    (prefix_sums, 1.0, {}),
    (histogram, 1.0, {}),
    (histogram, 0.5, {"relation": "add-remove"}),
    (whole_count, 1.0, {"high": 3, "whole": True}),
    (first_hit, 0.0, {}),
    (noisy_sum, 1.0, {}),
    (clipped, 0.5, {"high": None, "low": None}),
    (sum_and_size, 1.0, {"relation": "add-remove"}),
    (counts, 2.0, {}),
)
LEAKING = (
    (late_index, {}),
    (late_count, {}),
    (late_by_a_global, {}),
    (late_by_an_alias, {}),
    (late_by_a_default, {}),
    (late_by_an_attribute, {}),
    (late_by_the_output, {}),
    (late_by_an_iterator, {}),
    (late_by_a_generator, {}),
    (held_over, {}),
    (swapped, {"relation": "answers"}),
    (many_above, {"relation": "answers"}),
    (last_above, {"relation": "answers"}),
    (its_value, {"relation": "answers"}),
    (running_sums, {}),
    (the_last, {}),
)
