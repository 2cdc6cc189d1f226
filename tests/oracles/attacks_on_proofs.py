"""Broken mechanisms that try to slip past the proof; each is private for no epsilon, or (MILD) for a larger one."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import math
import operator
import sys

import numpy as np


def one_draw_in_two_outputs(d, rng):
    noise = rng.laplace(0, 2)
    return d.sum() + noise, d[0] + noise


def threshold_of_exact_data(d, rng):
    out, bound = [], rng.laplace(0, 2)
    for x in d:
        out.append(bool(x + rng.laplace(0, 4) > bound))
        if out[-1]:
            bound = x
    return [*out, bound]


def scale_by_a_branch(d, rng):
    return d.sum() + rng.laplace(0, 1.0 if d[0] > 0.5 else 100.0)


def scale_by_data(d, rng):
    return rng.laplace(0, 1 + d[0])


def early_return(d, rng):
    return 1.0 if d.max() > 0.9 else rng.laplace(0, 1)


def order_of_a_dict(d, rng):
    return {"a": 0, "b": 0} if d[0] > 0.5 else {"b": 0, "a": 0}


def state_in_a_default(d, rng, seen=[]):  # noqa: B006
    seen.append(1)
    return bool(d[0] > 0.5) if len(seen) > 3 else rng.laplace(0, 1)


def changed_through_a_view(d, rng):
    view = d[:]
    view[0] = 0
    return d.sum() + rng.laplace(0, 0.1)


def changed_in_place(d, rng):
    d += rng.laplace(0, 1)
    return d[0], d.sum()


def generator_seeded_by_data(d, rng):
    return np.random.default_rng(int(d[0] > 0.5)).laplace(0, 1)


def ties_of_an_exact_maximum(d, rng):
    return int(np.argmax(d))


def integer_division(d, rng):
    return d[0] // 0.5


def sign(d, rng):
    return np.sign(d[0] - 0.5)


def absolute_noise(d, rng):
    noise = rng.laplace(0, 1)
    return d.sum() + abs(noise), np.sign(noise)


def not_a_number(d, rng):
    return math.nan if d[0] > 0.5 else rng.laplace(0, 1)


def infinite(d, rng):
    return math.inf if d[0] > 0.5 else -math.inf


def recursion(d, rng):
    def total(i, so_far):
        return so_far if i == len(d) else total(i + 1, so_far + d[i])

    noise = rng.laplace(0, 1)
    return total(0, noise) - noise if noise > 0 else total(0, noise)


def exception_as_an_output(d, rng):
    try:
        if d[0] > 0.5:
            raise ValueError
    except ValueError:
        return 1
    return 0


def swallowed_refusal(d, rng):
    try:
        return int(d[0] * 3)
    except BaseException:
        return rng.laplace(0, 1)


def assertion(d, rng):
    assert d[0] <= 0.9
    return rng.laplace(0, 1)


def is_true(d, rng):
    return (d.tolist()[0] > 0.5) is True


def is_not_false(d, rng):
    return 0 if (d.tolist()[0] > 0.5) is False else 1


def match_true(d, rng):
    match d.tolist()[0] > 0.5:
        case True:
            return 1
    return 0


def match_type(d, rng):
    match d.tolist()[0]:
        case float():
            return d[0]
    return rng.laplace(0, 1)


def same_object(d, rng):
    largest = max(d.tolist()[0], 0.5)
    return largest is d.tolist()[0] or operator.is_(d.tolist()[0] > 0.5, True)


def operator_is(d, rng):
    return operator.is_(d.tolist()[0] > 0.5, True)


def truth_value_by_type(d, rng):
    return isinstance(d.tolist()[0] > 0.5, bool) and bool(d[0] > 0.3)


def generator_by_type(d, rng):
    return d[0] if isinstance(rng, np.random.Generator) else rng.laplace(0, 1)


def who_runs_it(d, rng):
    return rng.laplace(0, 1) if "dpcert.proofs_checks.proving" in sys.modules else d[0]


def by_the_frame(d, rng):
    return rng.laplace(0, 1) if len(inspect.stack()) > 3 else d[0]


def by_the_attributes(d, rng):
    return rng.laplace(0, 1) if hasattr(d[0], "terms") or hasattr(d[0], "slopes") else d[0]


class Labelled(np.ndarray):
    pass


def attribute_of_an_array(d, rng):
    out = np.array([rng.laplace(0, 1)]).view(Labelled)
    out.label = d[0]
    return out


@dataclasses.dataclass
class Release:
    value: object


def attribute_of_a_dataclass(d, rng):
    out = Release(rng.laplace(0, 1))
    out.exact = d[0]
    return out


def number_of_draws(d, rng):
    return len([rng.laplace(0, 1) for x in d if x > 0.5])


def cached(d, rng):
    return functools.lru_cache(lambda i: bool(d[i] > 0.5))(0)


def counted(d, rng):
    return collections.Counter(bool(x > 0.5) for x in d)[True]


def uniform_noise(d, rng):
    return rng.random() + d[0] / 10


def geometric_noise_upwards_only(d, rng):
    return int(d[0] > 0.5) + rng.geometric(0.9)


def floored(d, rng):
    return math.floor(d[0] * 2)


def noise_clipped_to_data(d, rng):
    return np.clip(rng.laplace(0, 1), d[0] - 1, d[0])


def untyped_numbers(d, rng):
    return True if d[0] > 0.5 else 1


BROKEN = [
    one_draw_in_two_outputs, threshold_of_exact_data, scale_by_a_branch, scale_by_data, early_return, order_of_a_dict,
    state_in_a_default, changed_through_a_view, changed_in_place, generator_seeded_by_data, ties_of_an_exact_maximum,
    integer_division, sign, absolute_noise, not_a_number, infinite, recursion, exception_as_an_output,
    swallowed_refusal, assertion, is_true, is_not_false, match_true, match_type, same_object, operator_is,
    truth_value_by_type, generator_by_type, who_runs_it, by_the_frame, by_the_attributes, attribute_of_an_array,
    attribute_of_a_dataclass, number_of_draws, cached, counted, uniform_noise, geometric_noise_upwards_only, floored,
    noise_clipped_to_data, untyped_numbers,
]  # fmt: skip  # fmt: skip


MILD = (changed_through_a_view, absolute_noise, recursion, changed_in_place, scale_by_a_branch)


def compared_with_none(d, rng):
    best = None
    for x in d:
        value = x + rng.laplace(0, 2)
        if best is None or value > best:
            best = value
    return best


def asks_for_a_generator(d, rng):
    assert isinstance(rng, np.random.Generator)
    return d.sum() + rng.laplace(0, 1)
