"""Functions that are not 1-DP for entries between 0 and 1, most of them from some number of entries on only."""

# ruff: noqa
from __future__ import annotations

from typing import Any, Callable

import numpy as np

ATTACKS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}
R = dict(low=0, high=1, epsilon=1)


def a(**options):
    """An attack, with what it is asked with."""

    def listed(function):
        ATTACKS[function.__name__] = function, options
        return function

    return listed


BIG = 5003


@a(**R)
def closure_moved(data, rng):
    w = 5 if len(data) > BIG else 1
    g = lambda x: x * w
    s = sum([g(x) for x in data])
    w = 1
    u = 2.0
    r = (data * 0 * u).sum()
    return s + r + rng.laplace(0, 1)


@a(**R)
def closure_moved2(data, rng):
    w = [5 if len(data) > BIG else 1]
    g = lambda x: x * w[0]
    s = sum([g(x) for x in data])
    w[0] = 1
    u = 2.0
    r = (data * 0 * u).sum()
    return s + r + rng.laplace(0, 1)


@a(**R)
def mean_of_pairs(data, rng):
    return np.mean(np.array([[x, x] for x in data])) + rng.laplace(0, 1 / (2 * len(data)))


@a(**R)
def walrus2(data, rng):
    acc = 0
    s = sum([(acc := acc + x * (len(data) > BIG)) for x in data])
    return data.sum() + rng.laplace(0, 1) + s


def helper_state(x, seen=[]):
    seen.append(x)
    return x if len(seen) < BIG else 5 * x


@a(**R)
def default_state(data, rng):
    return sum([helper_state(x) for x in data]) + rng.laplace(0, 1)


def counted_once(v, memo={}):
    memo["n"] = memo.get("n", 0) + 1
    return v if memo["n"] < BIG else 5 * v


@a(**R)
def default_dict_state(data, rng):
    return sum([counted_once(x) for x in data]) + rng.laplace(0, 1)


@a(**R)
def contains_list(data, rng):
    kept = [x for x in data if x > 2]
    return data.sum() + (5 * data.sum() if 0.5 in kept else 0) + rng.laplace(0, 1)


@a(**R)
def filtered_truth(data, rng):
    kept = [x for x in data if x > 0.999]
    return data.sum() * (5 if kept else 1) + rng.laplace(0, 1)


@a(**R)
def filtered_len(data, rng):
    kept = [x for x in data if x > 0.5]
    w = 1 if len(kept) < 300 else 5
    return data.sum() * w + rng.laplace(0, 1)


@a(**R)
def filtered_len_2(data, rng):
    kept = [x for x in data if x > 0.5]
    w = 1 if len(kept) < BIG else 5
    return (np.array(kept) * w).sum() + rng.laplace(0, 1)


@a(**R)
def filtered_mean(data, rng):
    kept = np.array([x for x in data if x > 0.5])
    return kept.mean() + rng.laplace(0, 2 / len(data))


@a(**R)
def filtered_pair(data, rng):
    kept = [x for x in data if x > 0.5]
    return sum([a * b for a, b in zip(kept, data)]) + rng.laplace(0, 1)


@a(**R)
def filtered_zip_two(data, rng):
    low = [x for x in data if x > 0.5]
    high = [x for x in data if x > 0.2]
    return sum([a * b for a, b in zip(low, high)]) + rng.laplace(0, 1)


@a(**R)
def shifted_zip(data, rng):
    return sum([a * b for a, b in zip(data, data[1:])]) + rng.laplace(0, 1)


@a(**R)
def reversed_zip(data, rng):
    return sum([a * b for a, b in zip(data, data[::-1])]) + rng.laplace(0, 1)


@a(**R)
def reversed_zip2(data, rng):
    return sum([a * b for a, b in zip(data, reversed(data))]) + rng.laplace(0, 1)


@a(**R)
def reversed_list(data, rng):
    xs = list(data)
    xs.reverse()
    return sum([a * b for a, b in zip(data, xs)]) + rng.laplace(0, 1)


@a(**R)
def enumerated_from_one(data, rng):
    return sum([x if i < BIG else 5 * x for i, x in enumerate(data, 1)]) + rng.laplace(0, 1)


@a(**R)
def enumerated(data, rng):
    return sum([x if i < BIG else 5 * x for i, x in enumerate(data)]) + rng.laplace(0, 1)


@a(**R)
def weights_by_n(data, rng):
    return (data * (1 + len(data) // BIG)).sum() + rng.laplace(0, 1)


@a(**R)
def weights_by_n2(data, rng):
    w = 1 if len(data) < BIG else 5
    return (data * w).sum() + rng.laplace(0, 1)


@a(**R)
def helper_weight(data, rng):
    def_w = lambda v: v * (1 if len(v) < BIG else 5)
    return def_w(data).sum() + rng.laplace(0, 1)


@a(**R)
def constant_array_two(data, rng):
    return (data[:, None] * np.array([1.0, 1.0])).sum() + rng.laplace(0, 1)


@a(**R)
def outer(data, rng):
    return (data[:, None] * data).sum() + rng.laplace(0, 1)


@a(**R)
def outer2(data, rng):
    c = data.reshape(-1, 1)
    return (c * c[:, 0]).sum() + rng.laplace(0, 1)


@a(**R)
def outer3(data, rng):
    return (data[:, None] - data[None, :]).sum() + rng.laplace(0, 1)


@a(**R)
def dot_columns(data, rng):
    c = data.reshape(-1, 1)
    return np.dot(c, c).sum() + rng.laplace(0, 1)


@a(**R)
def in_place(data, rng):
    b = data * 1
    c = b
    c *= 5 if len(data) > BIG else 1
    return b.sum() + rng.laplace(0, 1)


@a(**R)
def in_place_helper(data, rng):
    def h(v):
        v *= 5 if len(v) > BIG else 1
        return 0

    return data.sum() + h(data) + rng.laplace(0, 1)


def five_in_place(v):
    v *= 5
    return 0


@a(**R)
def in_place_helper2(data, rng):
    b = data * 1
    five_in_place(b)
    return b.sum() + rng.laplace(0, 1)


@a(**R)
def out_argument(data, rng):
    b = data * 1
    np.multiply(b, 5 if len(b) > BIG else 1, out=b)
    return b.sum() + rng.laplace(0, 1)


@a(**R)
def view_slice(data, rng):
    b = data * 1
    b[:] = b * (5 if len(b) > BIG else 1)
    return b.sum() + rng.laplace(0, 1)


@a(**R)
def view_of(data, rng):
    b = data * 1
    c = b[:]
    c[BIG:] = c[BIG:] * 5
    return b.sum() + rng.laplace(0, 1)


@a(**R)
def at_entry(data, rng):
    return data.sum() + (data[BIG] * 5 if len(data) > BIG else 0) + rng.laplace(0, 1)


@a(**R)
def last_entry(data, rng):
    return (data * 1)[-1] + data.sum() * 0 + rng.laplace(0, 1)


@a(**R)
def at_noise(data, rng):
    noise = rng.laplace(0, 1, len(data))
    return (data + noise[0]).sum() / len(data)


@a(**R)
def shared_noise(data, rng):
    noisy = data + rng.laplace(0, 1)
    return noisy


@a(**R)
def shared_noise_size(data, rng):
    noisy = data + rng.laplace(0, 1, 1)
    return noisy


@a(**R)
def shared_noise_n(data, rng):
    n = 1 if len(data) > BIG else len(data)
    noisy = data + rng.laplace(0, 1, n)
    return noisy


@a(**R)
def twice_noise(data, rng):
    noise = rng.laplace(0, 1, len(data))
    return data + noise, noise


@a(**R)
def two_noisy_same(data, rng):
    e = rng.laplace(0, 1, len(data))
    a = data + e
    b = 2 * data + e
    return a, b


@a(**R)
def two_noisy_third(data, rng):
    e = rng.laplace(0, 2, len(data))
    f = rng.laplace(0, 2, len(data))
    return data + e, data + f, data + e + f


@a(**R)
def sorted_data(data, rng):
    return sum([x if i < BIG else 5 * x for i, x in enumerate(sorted(data))]) + rng.laplace(0, 1)


@a(**R)
def sorted_np(data, rng):
    b = np.sort(data)
    return b + rng.laplace(0, 1, len(b))


@a(**R)
def where_one(data, rng):
    return np.where(data > 0.5)[0].sum() + rng.laplace(0, 1)


@a(**R)
def where_len(data, rng):
    return len(np.where(data > 0.5)[0]) * 3 + rng.laplace(0, 1)


@a(**R)
def where_n(data, rng):
    return np.where(len(data) > BIG, 5 * data, data).sum() + rng.laplace(0, 1)


@a(**R)
def masked(data, rng):
    return data[data > 0.5].sum() * 3 + rng.laplace(0, 1)


@a(**R)
def masked_two(data, rng):
    m = data > 0.5
    return (data[m] * data[m]).sum() * 3 + rng.laplace(0, 1)


@a(**R)
def histogram_auto(data, rng):
    h, e = np.histogram(data, bins=2)
    return h + rng.laplace(0, 2, 2)


@a(**R)
def histogram_weights(data, rng):
    h, e = np.histogram(data, bins=[0, 0.5, 1], weights=data * (1 if len(data) < BIG else 5))
    return h + rng.laplace(0, 2, 2)


@a(**R)
def sum_start(data, rng):
    return sum(data, 3 * data.sum()) + rng.laplace(0, 1)


@a(**R)
def nested(data, rng):
    return sum([sum([x * y for y in data]) for x in data]) + rng.laplace(0, 1)


@a(**R)
def nested_two(data, rng):
    return sum([x * y for x in data for y in data]) + rng.laplace(0, 1)


@a(**R)
def nested_len(data, rng):
    return sum([x * len([y for y in data if y > x]) for x in data]) + rng.laplace(0, 1)


@a(**R)
def lambda_data(data, rng):
    g = lambda x: x * data.sum() / len(data)
    return sum([g(x) for x in data]) + rng.laplace(0, 1)


@a(**R)
def lambda_len(data, rng):
    g = lambda x: x * (1 if len(data) < BIG else 5)
    return sum([g(x) for x in data]) + rng.laplace(0, 1)


@a(**R)
def generator_twice(data, rng):
    g = (x for x in data)
    s, t = sum(g), sum(g)
    return s - (t if len(data) < BIG else -4 * s) + rng.laplace(0, 1)


def uses_twice(g):
    return sum(g) * 5 - 4 * sum(g)


@a(**R)
def generator_helper(data, rng):
    return uses_twice(x for x in data) + rng.laplace(0, 1)


@a(**R)
def list_concat(data, rng):
    xs = [x for x in data] + [x for x in data]
    return sum(xs) + rng.laplace(0, 1)


@a(**R)
def list_times(data, rng):
    return sum([x for x in data] * (1 if len(data) < BIG else 5)) + rng.laplace(0, 1)


@a(**R)
def concatenate(data, rng):
    return np.concatenate([data, data]).sum() + rng.laplace(0, 1)


@a(**R)
def stacked(data, rng):
    return np.array([data, data]).sum() + rng.laplace(0, 1)


@a(**R)
def starred(data, rng):
    first, *rest = data
    return sum(rest) + 5 * first + rng.laplace(0, 1)


@a(**R)
def branch_noise(data, rng):
    t = data.sum() + rng.laplace(0, 2)
    if t > BIG:
        return (data * 5).sum() + rng.laplace(0, 2)
    return t


@a(**R)
def branch_name(data, rng):
    b = data
    if len(data) > BIG:
        b = data * 5
    return b.sum() + rng.laplace(0, 1)


@a(**R)
def loop_name(data, rng):
    s = 0
    for k in range(2):
        b = data * (1 if len(data) < BIG else 3)
        s = s + b.sum() / 2
    return s + rng.laplace(0, 1)


@a(**R)
def text_of(data, rng):
    return f"{data.sum() + rng.laplace(0, 1)} {data * 0 if len(data) < BIG else data}"


@a(**R)
def argmax_twice(data, rng):
    noisy = data + rng.laplace(0, 2, len(data))
    return int(np.argmax(noisy)), int(np.argmax(data * (len(data) > BIG)))


@a(**R)
def running_last(data, rng):
    c = np.cumsum(data)
    return c[-1] + rng.laplace(0, 1)


@a(**R)
def int_len(data, rng):
    return data.sum() / len(data) * 5 + rng.laplace(0, 1)


@a(**R)
def mean_less(data, rng):
    return data.mean() * 40 + rng.laplace(0, 1)


@a(**R)
def sum_axis_none(data, rng):
    return np.sum(data, axis=None) * (1 if len(data) < 300 else 2) + rng.laplace(0, 1)


@a(**R)
def count_nz(data, rng):
    return np.count_nonzero(data > 0.5) * (1 if len(data) < 300 else 2) + rng.laplace(0, 1)


@a(**R)
def zeros_like(data, rng):
    return (np.zeros_like(data) + data * 0 + (data > 0.5)).sum() * (1 if len(data) < 300 else 2) + rng.laplace(0, 1)


class Scale:
    def __init__(self):
        self.w = 1

    def __call__(self, x):
        return x * self.w


@a(**R)
def object_state(data, rng):
    s = Scale()
    t = sum([s(x) for x in data])
    return t * (1 if len(data) < 40 else 2) + rng.laplace(0, 1)


class Counter:
    def __init__(self):
        self.w = 0

    def __call__(self, x):
        self.w = self.w + 1
        return x if self.w < BIG else 5 * x


@a(**R)
def object_count(data, rng):
    s = Counter()
    t = sum([s(x) for x in data])
    return t + rng.laplace(0, 1)


@a(**R)
def map_filter(data, rng):
    return sum(map(lambda x: 5 * x, filter(lambda x: x > 0.5, data))) + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, relation="add-remove")
def add_len(data, rng):
    return len(data) * 2 + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, relation="add-remove")
def add_mean(data, rng):
    return data.mean() * 2 + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, relation="add-remove")
def add_noise_many(data, rng):
    return data.sum() + rng.laplace(0, 1, len(data)).sum()


@a(low=0, high=1, epsilon=1, relation="add-remove")
def add_kept(data, rng):
    kept = [x for x in data if x > 0.5]
    return sum(kept) + len(kept) + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, relation="add-remove")
def add_places(data, rng):
    return sum([x if i < 300 else 5 * x for i, x in enumerate(data)]) + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, relation="add-remove")
def add_list(data, rng):
    return [x + rng.laplace(0, 1) for x in data]


@a(low=0, high=1, epsilon=1, container="list")
def list_data(data, rng):
    data.append(0.5)
    return sum(data) * (1 if len(data) < 300 else 2) + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, container="list")
def list_mul(data, rng):
    return sum(data * 2) + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, container="list")
def list_slice(data, rng):
    return sum(data[:300]) + 5 * sum(data[300:]) + rng.laplace(0, 1)


@a(low=0, high=1, epsilon=1, container="list")
def list_np(data, rng):
    return np.array([data, data]).sum() + rng.laplace(0, 1)


def pick(v, rng):
    return np.argmax(v + rng.laplace(0, 2, len(v)))


@a(epsilon=1, relation="answers")
def pick_late(data, rng):
    noisy = data + rng.laplace(0, 2, len(data)) * (1 if len(data) < BIG else 0)
    return np.argmax(noisy)


@a(epsilon=1, relation="answers")
def pick_scale(data, rng):
    return np.argmax(data + rng.laplace(0, 2 if len(data) < BIG else 1, len(data)))


@a(**R)
def late_if(data, rng):
    t = data.sum() if len(data) < BIG else 5 * data.sum()
    return t + rng.laplace(0, 1)


@a(**R)
def dict_of(data, rng):
    d = {"a": data, "b": data * (5 if len(data) > BIG else 1)}
    return d["b"].sum() + rng.laplace(0, 1)


@a(**R)
def tuple_swap(data, rng):
    x, y = data, data * 5
    x, y = y, x
    return x.sum() + rng.laplace(0, 1)


@a(**R)
def tuple_swap_late(data, rng):
    x, y = data * (5 if len(data) > BIG else 1), data
    x, y = y, x
    return y.sum() + rng.laplace(0, 1)


@a(**R)
def number_noise(data, rng):
    n = len(data)
    noise = rng.laplace(0, 1, n)
    n = 5 if n > BIG else 1
    return data.sum() * n + noise.sum()


@a(**R)
def default_of_lambda(data, rng):
    g = lambda x, w=(5 if len(data) > BIG else 1): x * w
    return sum([g(x) for x in data]) + rng.laplace(0, 1)


@a(**R)
def squares_of_centered(data, rng):
    c = data - data.mean()
    return (c * c).sum() * 3 + rng.laplace(0, 1)


@a(**R)
def loop_then(data, rng):
    w = 1
    for x in data:
        w = 5 if x > 2 else w
    return (data * w).sum() * 2 + rng.laplace(0, 1)


@a(**R)
def loop_weight(data, rng):
    k = 0
    for x in data:
        k = k + 1
    return (data * (1 if k < 300 else 5)).sum() + rng.laplace(0, 1)


@a(**R)
def loop_length(data, rng):
    s = 0
    for x in data:
        s = s + x * (1 if len(data) < 300 else 5)
    return s + rng.laplace(0, 1)
