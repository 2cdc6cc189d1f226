"""A hundred and twenty more attacks, one line each: none is 1-DP for entries between 0 and 1."""

# ruff: noqa
from __future__ import annotations

import functools
import math
import numpy as np

CONST = np.array([1.0, 2.0, 3.0])
TABLE2 = np.array([[1.0], [2.0]])


class Prop:
    @property
    def w(self):
        return 1000.0


@functools.lru_cache
def cached(n):
    return n


def default_changed(data, rng, held=[1.0]):
    held[0] = held[0] + 1
    return held[0] * data.sum() + rng.laplace(0, 1)


ATTACKS = []


def add(f):
    ATTACKS.append(f)
    return f


@add
def bcast_const(d, rng):
    return (d + TABLE2).sum() + rng.laplace(0, 1)


@add
def bcast_const2(d, rng):
    return (d[:, None] * CONST).sum() + rng.laplace(0, 1)


@add
def keep(d, rng):
    return d.sum(keepdims=True) * 5 + rng.laplace(0, 1)


@add
def axis0_twice(d, rng):
    return d.reshape(1, -1).sum(axis=0) + rng.laplace(0, 1)


@add
def outarg(d, rng):
    b = np.zeros(len(d))
    np.multiply(d, 1000, b)
    return b.sum() + rng.laplace(0, 1)


@add
def clip_out(d, rng):
    np.multiply(d, 1000, d)
    return d.sum() + rng.laplace(0, 1)


@add
def where_kw(d, rng):
    return np.sum(d * 9, where=d > 0.5) + rng.laplace(0, 1)


@add
def init_kw(d, rng):
    return np.max(d, initial=d[0] * 9) + rng.laplace(0, 1)


@add
def add_at(d, rng):
    b = np.zeros(2)
    np.add.at(b, [0, 0, 0], d[0])
    return b[0] + rng.laplace(0, 1)


@add
def fancy_repeat(d, rng):
    b = np.zeros(1)
    b[[0, 0, 0]] += d[0]
    return 3 * b[0] + rng.laplace(0, 1)


@add
def inplace_alias(d, rng):
    a = d[:]
    a *= 3
    return d.sum() + rng.laplace(0, 1)


@add
def inplace_alias2(d, rng):
    a = d.T
    a += d
    return d.sum() + rng.laplace(0, 1)


@add
def inplace_ravel(d, rng):
    m = d.reshape(-1, 1)
    m *= 2
    return d.sum() + rng.laplace(0, 1)


@add
def inplace_atleast(d, rng):
    m = np.atleast_1d(d)
    m *= 2
    return d.sum() + rng.laplace(0, 1)


@add
def inplace_asarray(d, rng):
    m = np.asarray(d)
    m += d
    return d.sum() + rng.laplace(0, 1)


@add
def list_alias(d, rng):
    b = [d[0]]
    c = b
    c[0] = 3 * c[0]
    return b[0] + rng.laplace(0, 1)


@add
def nested_alias(d, rng):
    b = [[d[0]]] * 2
    b[0][0] = 5 * d[0]
    return b[1][0] + rng.laplace(0, 1)


@add
def tuple_alias(d, rng):
    b = ([d[0]],)
    b[0][0] = 5 * d[0]
    return b[0][0] + rng.laplace(0, 1)


@add
def dict_alias(d, rng):
    b = {"a": [d[0]]}
    c = dict(b)
    c["a"][0] = 5 * d[0]
    return b["a"][0] + rng.laplace(0, 1)


@add
def dict_copy(d, rng):
    b = {"a": [d[0]]}
    c = b.copy()
    c["a"].append(d[0] * 4)
    return sum(b["a"]) + rng.laplace(0, 1)


@add
def slice_copy_inner(d, rng):
    b = [[d[0]]]
    c = b[:]
    c[0][0] = 5 * d[0]
    return b[0][0] + rng.laplace(0, 1)


@add
def walrus_comp(d, rng):
    return sum([y for x in d if (y := 3 * x) > 0]) + rng.laplace(0, 1)


@add
def gen_twice(d, rng):
    g = (x for x in d)
    a = sum(g)
    b = sum(g)
    return (a - b) * 1.0 * 5 + rng.laplace(0, 1)


@add
def gen_any(d, rng):
    g = (x for x in d)
    any(x > 0.5 for x in g)
    return 5 * sum(g) + rng.laplace(0, 1)


@add
def gen_zip(d, rng):
    g = iter(list(d))
    return 5 * sum(a for a, b in zip(g, g)) + rng.laplace(0, 1)


@add
def map_exhaust(d, rng):
    m = map(lambda x: 9 * x, d)
    s = sum(m)
    return s + sum(m) + rng.laplace(0, 1)


@add
def filter_len(d, rng):
    return len(list(filter(lambda x: x > 0.5, d))) + rng.laplace(0, 0.5)


@add
def enum_start(d, rng):
    return sum(i * x for i, x in enumerate(d, 3)) + rng.laplace(0, 1)


@add
def zip_short(d, rng):
    return sum(a * b for a, b in zip(d, [7] * 1)) + rng.laplace(0, 1)


@add
def sorted_key(d, rng):
    return sorted(d, key=lambda x: -x)[0] + rng.laplace(0, 0.5)


@add
def chained(d, rng):
    return 1.0 * (0.2 < d[0] < 0.8) + rng.laplace(0, 0.5)


@add
def and_value(d, rng):
    return (d[0] and 5.0) + rng.laplace(0, 1)


@add
def or_value(d, rng):
    return (d[0] * 0 or 5 * d[0]) + rng.laplace(0, 1)


@add
def fstr_debug(d, rng):
    x = d[0]
    return f"{x=}"


@add
def fstr_noise_name(d, rng):
    x = rng.laplace(0, 1)
    return f"{x + d[0]=}"


@add
def assert_msg(d, rng):
    assert d[0] < 2, f"{d[0]}"
    return d[0] * 3 + rng.laplace(0, 1)


@add
def neg_scale(d, rng):
    return d.sum() + rng.laplace(0, 1 if d[0] > 0.5 else 2)


@add
def zero_div(d, rng):
    return d.sum() + rng.laplace(0, 1) + 0 * (1 / (1 - int(d[0] == 1)))


@add
def index_err(d, rng):
    return [1.0, 2.0][int(2 * d[0])] + rng.laplace(0, 1)


@add
def outlen(d, rng):
    return [rng.laplace(0, 1)] * int((d > 0.5).sum())


@add
def outlen2(d, rng):
    return np.zeros((d > 0.5).sum())


@add
def dedupe(d, rng):
    return len(set(d.tolist())) + rng.laplace(0, 0.1)


@add
def dict_key(d, rng):
    return len({round(x, 1): 1 for x in d.tolist()}) + rng.laplace(0, 0.1)


@add
def mod(d, rng):
    return (d[0] * 10) % 1 + rng.laplace(0, 0.5)


@add
def fdiv(d, rng):
    return (d[0] * 10) // 1 + rng.laplace(0, 1)


@add
def half(d, rng):
    return round(d[0] + 0.5) * 2 + rng.laplace(0, 1)


@add
def reuse(d, rng):
    n = rng.laplace(0, 1)
    return d[0] + n, d[0] * 2 + n


@add
def noise_times(d, rng):
    n = rng.laplace(0, 1)
    return d[0] + n * d[0]


@add
def noise_zero(d, rng):
    return d[0] + 0 * rng.laplace(0, 1)


@add
def noise_cancel(d, rng):
    n = rng.laplace(0, 1)
    return (d[0] + n) - n


@add
def bitgen(d, rng):
    return d[0] + rng.bit_generator.random_raw()


@add
def spawn(d, rng):
    return d[0] + rng.spawn(1)[0].laplace(0, 1)


@add
def shuffle(d, rng):
    rng.shuffle(d)
    return d[0]


@add
def perm(d, rng):
    return rng.permutation(d)


@add
def choice_p(d, rng):
    return rng.choice([0, 1], p=[d[0], 1 - d[0]])


@add
def choice_d(d, rng):
    return rng.choice(d)


@add
def choice_size(d, rng):
    return rng.choice(d, size=2)


@add
def size_data(d, rng):
    return rng.laplace(0, 1, int((d > 0.5).sum()))


@add
def size_data2(d, rng):
    rng.laplace(0, 1, int(d[0] > 0.5))
    return d[0] * 0 + rng.random()


@add
def integers_size(d, rng):
    return d[0] + rng.integers(0, 2, size=1)[0]


@add
def argmax_tie(d, rng):
    return int(np.argmax(np.round(d)))


@add
def argmax_part(d, rng):
    return int(np.argmax((d + rng.laplace(0, 2, len(d)))[:1])) * 1.0 + float(np.argmax(d[:2]))


@add
def early(d, rng):
    k = 0
    for i, x in enumerate(d):
        k = i
        if x > 0.5:
            break
    s = 0.0
    for j in range(k + 1):
        s += d[j]
    return s + rng.laplace(0, 1), k


@add
def tail(d, rng):
    return 2 * sum(x for x in d[1:]) + rng.laplace(0, 1)


@add
def rev(d, rng):
    return 2 * sum(x for x in reversed(d)) + rng.laplace(0, 1)


@add
def nested(d, rng):
    s = 0.0
    for x in d:
        for y in d:
            s += x * y
    return s + rng.laplace(0, 1)


@add
def loop_else(d, rng):
    for x in d:
        if x > 0.9:
            break
    else:
        return 1
    return 0


@add
def var_after(d, rng):
    for x in d:
        pass
    return 3 * x + rng.laplace(0, 1)


@add
def var_after2(d, rng):
    for i, x in enumerate(d):
        if x > 0.5:
            continue
    return i * x + rng.laplace(0, 0.3)


@add
def multi_ret(d, rng):
    if d[0] > 0.5:
        return 1.0 + rng.laplace(0, 1)
    return -1.0 + rng.laplace(0, 1)


@add
def types(d, rng):
    return 1 if d[0] > 0.5 else 1.0


@add
def types2(d, rng):
    return True if d[0] > 0.5 else 1


@add
def types3(d, rng):
    n = rng.laplace(0, 1)
    return [n] if d[0] > 0.5 else (n,)


@add
def types4(d, rng):
    return np.array([rng.laplace(0, 1)]) if d[0] > 0.5 else [rng.laplace(0, 1)]


@add
def partial_l(d, rng):
    return functools.partial(lambda s, x: s * x, 7)(d[0]) + rng.laplace(0, 1)


@add
def late_l(d, rng):
    fs = [lambda: k * d[0] for k in range(5)]
    return fs[0]() + rng.laplace(0, 1)


@add
def rec(d, rng):
    def f(i):
        return 0.0 if i == len(d) else 2 * d[i] + f(i + 1)

    return f(0) + rng.laplace(0, 1)


@add
def reduce_(d, rng):
    return functools.reduce(lambda a, b: a + 3 * b, d, 0.0) + rng.laplace(0, 1)


@add
def prop(d, rng):
    return Prop().w * d[0] + rng.laplace(0, 1)


@add
def lru(d, rng):
    return cached(5) * d[0] + rng.laplace(0, 1)


@add
def const_arr(d, rng):
    return (d[0] * CONST).sum() + rng.laplace(0, 1)


@add
def pow_(d, rng):
    return (3 * d[0]) ** 2 + rng.laplace(0, 1)


@add
def expd(d, rng):
    return np.exp(d[0]) + rng.laplace(0, 1)


@add
def bools(d, rng):
    return ((d > 0.3) | (d > 0.6)).sum() * 2 + rng.laplace(0, 1)


@add
def bool_add(d, rng):
    return ((d > 0.3) * 1 + (d > 0.6) * 1).sum() + rng.laplace(0, 1)


@add
def int_arr(d, rng):
    a = np.zeros(1, int)
    a[0] = int(d[0] * 5)
    return a[0] + rng.laplace(0, 1)


@add
def f32(d, rng):
    return d.astype(np.float32).sum() + rng.laplace(0, 1)


@add
def cum(d, rng):
    return np.cumsum(d) + rng.laplace(0, 1, len(d))


@add
def sort_in(d, rng):
    d.sort()
    return d + rng.laplace(0, 1, len(d))


@add
def median(d, rng):
    return np.median(d) + rng.laplace(0, 0.5)


@add
def quant(d, rng):
    return np.sort(d)[len(d) // 2] + rng.laplace(0, 0.5)


@add
def std(d, rng):
    return np.std(d) * 3 + rng.laplace(0, 1)


@add
def norm(d, rng):
    return np.linalg.norm(d) * 2 + rng.laplace(0, 1)


@add
def dot(d, rng):
    return np.dot(d, d) * 2 + rng.laplace(0, 1)


@add
def hist(d, rng):
    return np.histogram(d, bins=[0, 0.5, 1])[0] + rng.laplace(0, 1, 2)


@add
def bincount(d, rng):
    return np.bincount((d > 0.5).astype(int), minlength=2) + rng.laplace(0, 1, 2)


@add
def digit(d, rng):
    return np.digitize(d, [0.5]) + rng.laplace(0, 0.5, len(d))


@add
def whr(d, rng):
    return np.where(d > 0.5, 2, 0).sum() + rng.laplace(0, 1)


@add
def nonz(d, rng):
    return len(np.nonzero(d > 0.5)[0]) * 2 + rng.laplace(0, 1)


@add
def mask(d, rng):
    return d[d > 0.5].sum() * 2 + rng.laplace(0, 1)


@add
def mask_mean(d, rng):
    return d[d > 0.5].mean() + rng.laplace(0, 1)


@add
def uniform_sub(d, rng):
    return d[0] + rng.uniform(-1, 1)


@add
def coin_reuse(d, rng):
    u = rng.random()
    return (u < 0.5) * d[0], u < 0.25


@add
def coin_data(d, rng):
    return rng.random() < d[0]


@add
def expo(d, rng):
    return d[0] + rng.exponential(1)


@add
def geom(d, rng):
    return int(d[0] > 0.5) + rng.geometric(0.5)


@add
def gum(d, rng):
    return d[0] + rng.gumbel(0, 1)


@add
def min_noise(d, rng):
    return min(d[0], rng.laplace(0, 1))


@add
def abs_noise(d, rng):
    return d[0] + abs(rng.laplace(0, 1))


@add
def while_(d, rng):
    s = d[0]
    while s < 0.9:
        s = s + 0.3
    return s + rng.laplace(0, 0.2)


@add
def text_len(d, rng):
    return len("x" * int(d[0] * 3)) + rng.laplace(0, 1)


@add
def text_cmp(d, rng):
    return ("a" if d[0] > 0.5 else "b") < "b"


@add
def star(d, rng):
    a, *b = d.tolist() + [0.0]
    return len(b) * 0 + 5 * a + rng.laplace(0, 1)


@add
def pop_(d, rng):
    b = d.tolist()
    b.pop(0 if d[0] > 0.5 else -1) if len(b) > 1 else 0
    return sum(b) + rng.laplace(0, 0.5)


@add
def insert_(d, rng):
    b = [0.0]
    b.insert(0, d[0] * 3)
    return b[0] + rng.laplace(0, 1)


@add
def setdefault_(d, rng):
    b = {}
    b.setdefault("a", []).append(d[0] * 3)
    return b["a"][0] + rng.laplace(0, 1)


@add
def update_(d, rng):
    b = {"a": 0}
    b.update(a=3 * d[0])
    return b["a"] + rng.laplace(0, 1)


@add
def dict_or(d, rng):
    b = {"a": 0} | {"a": 3 * d[0]}
    return b["a"] + rng.laplace(0, 1)


@add
def kw(d, rng):
    f = lambda *, k=1: k * d[0]
    return f(k=3) + rng.laplace(0, 1)


@add
def defaults_late(d, rng):
    k = 1
    f = lambda x, k=k: k * x
    k = 9
    g = lambda x: k * x
    return g(d[0]) + rng.laplace(0, 1)


@add
def ifexp_noise(d, rng):
    return rng.laplace(0, 1) if d[0] > 0.5 else rng.laplace(0, 2)


@add
def order_draws(d, rng):
    a, b = (rng.laplace(0, 1), rng.laplace(0, 1)) if d[0] > 0.5 else (rng.laplace(0, 1), 0.0)
    return a + d[0]


ATTACKS += [default_changed]


@add
def root_of_tanh(d, rng):
    y = np.sqrt(np.tanh(rng.laplace(d.sum(), 1)))
    return 0.0 if y >= 0 or y < 0 else d.sum()


@add
def log_of_tanh(d, rng):
    y = np.log(np.tanh(rng.laplace(d.sum(), 1)) + 0.5)
    return 0.0 if y >= 0 or y < 0 else d.sum()


@add
def root_of_log(d, rng):
    y = np.sqrt(np.log(max(rng.laplace(d.sum(), 1), 0.25)))
    return 0.0 if y >= 0 or y < 0 else d.sum()


@add
def root_of_sin(d, rng):
    y = np.sqrt(math.sin(rng.laplace(d.sum(), 1)))
    return 0.0 if y >= 0 or y < 0 else d.sum()
