"""Numbers that are clipped, squared, averaged or given Gaussian noise in ways that cost more than is claimed.

ATTACKS: (function, options of prove), as in attacks_on_records.py; also claims of mu, of delta and of many rounds.
"""

# ruff: noqa
from __future__ import annotations

import math
import numpy as np

ATTACKS = []
W = dict(low=-10, high=10)


def no(**o):
    def put(f):
        ATTACKS.append((f, o))
        return f

    return put


R = lambda rho=0.12, **o: no(rho=rho, **(W | o))


# clipping of numbers
@R(3.7)
def sign_lost(d, rng):
    return sum(g * min(1.0, 1.0 / max(-g, 1e-12)) for g in d) + rng.normal(0, 4.0)


@R(0.12)
def abs_of_other(d, rng):
    return sum(g * min(1.0, 1.0 / max(abs(g - 1.0), 1e-12)) for g in d) + rng.normal(0, 4.0)


@R(0.12)
def tight(d, rng):
    return sum(g / max(1.0, abs(g)) for g in d) + rng.normal(0, 4.0)


@R(0.12, low=None, high=None)
def tight_unbounded(d, rng):
    return sum(g / max(1.0, abs(g)) for g in d) + rng.normal(0, 4.0)


@R(50, low=None, high=None)
def unbounded_above(d, rng):
    return sum(g / max(1.0, g) for g in d) + rng.normal(0, 4.0)


@R(50, low=None, high=None)
def root_unbounded(d, rng):
    return sum(g / max(1.0, abs(g)) * max(1.0, abs(g)) for g in d) + rng.normal(0, 4.0)


@R(50, low=None, high=None)
def min_one_side(d, rng):
    return sum(min(g, 1.0) for g in d) + rng.normal(0, 4.0)


@R(50, low=None, high=None)
def square_unbounded(d, rng):
    return sum(g * g for g in d) + rng.normal(0, 4.0)


@R(0.12, low=None, high=None)
def sign_times_min(d, rng):
    return sum((1.0 if g > 0 else -1.0) * min(abs(g), 1.0) for g in d) + rng.normal(0, 4.0)


@R(0.12)
def nested(d, rng):
    return sum(g / max(1.0, abs(g)) / max(0.5, abs(g) * 0.0) for g in d) + rng.normal(0, 4.0)


@R(0.12)
def branch_both(d, rng):
    t = 0.0
    for g in d:
        if g > 1.0:
            g = g / g
        elif g < -2.0:
            g = g / -g
        t += g
    return t + rng.normal(0, 4.0)  # [-2, 1]: 3


@R(0.2)
def branch_size_kept(d, rng):
    t = 0.0
    for g in d:
        size = abs(g)
        if size > 2.0:
            g = g * (2.0 / size)
        t += g
    return t + rng.normal(0, 4.0)  # 4 -> .5


@R(0.4)
def quotient_of_sizes(d, rng):
    t = 0.0
    for g in d:
        size = abs(g)
        t += size * g / max(1.0, size)
    return t + rng.normal(0, 4.0)


@R(3)
def carried_size(d, rng):
    t, size = 0.0, 1.0
    for g in d:
        t += g / max(1.0, size)
        size = abs(g)
    return t + rng.normal(0, 4.0)


@R(0.12)
def near_zero(d, rng):
    t = 0.0
    for g in d:
        t += g / (0.5 + abs(g) * 0.25)
    return t + rng.normal(0, 4.0)


@R(1, low=-1, high=1)
def quotient_by_shift(d, rng):
    return sum(1.0 / (g + 1.01) for g in d) + rng.normal(0, 4.0)


@R(1, low=-1, high=1)
def quotient_by_size(d, rng):
    return sum(1.0 / (abs(g) + 0.01) for g in d) + rng.normal(0, 4.0)


@R(50)
def numpy_zero_division(d, rng):
    return (1.0 / np.abs(d)).sum() + rng.normal(0, 4.0)


@R(1)
def numpy_min_zero(d, rng):
    return (np.minimum(5.0, 1.0 / np.abs(d)) * 2.0).sum() + rng.normal(0, 4.0)  # [.2, 10]: 9.8


# squares
@R(8 / 18 * 0.9, low=-1, high=2)
def square(d, rng):
    return sum(g * g for g in d) + rng.normal(0, 3.0)


@R(8 / 18 * 0.9, low=-1, high=2)
def square_pow(d, rng):
    return (d**2).sum() + rng.normal(0, 3.0)


@R(8 / 18 * 0.9, low=-1, high=2)
def square_np(d, rng):
    return np.square(d).sum() + rng.normal(0, 3.0)


@R(0.4, low=-1, high=2)
def shifted_square(d, rng):
    return ((d - 1.0) ** 2).sum() + rng.normal(0, 3.0)  # 0..4


@R(0.4, low=-1, high=2)
def square_minus(d, rng):
    return sum(g * g - 2.0 * g for g in d) + rng.normal(0, 3.0)  # -1 .. 3 : 4 -> .888


@R(3, low=-1, high=2)
def cube(d, rng):
    return sum(g * g * g for g in d) + rng.normal(0, 3.0)  # -1..8: 81/18=4.5


@R(3, low=-1, high=2)
def cube_pow(d, rng):
    return sum(g**3 for g in d) + rng.normal(0, 3.0)


@R(1.9, low=-2, high=2)
def size_times_tight(d, rng):
    return sum(g * abs(g) for g in d) + rng.normal(0, 4.0)


@R(0.4)
def square_of_sum(d, rng):
    return d.sum() ** 2 + rng.normal(0, 4.0)


def state_square(d, rng):
    t = 0.0
    for g in d:
        t = t * t + g
    return t + rng.normal(0, 4.0)


@R(0.12, low=-1, high=1)
def products(d, rng):
    return sum(2.0 * g * h for g, h in zip(d, d)) + rng.normal(0, 2.0)


@R(0.2, low=-1, high=1)
def neighbouring_products(d, rng):
    t, last = 0.0, 1.0
    for g in d:
        t += g * last
        last = g
    return t + rng.normal(0, 4.0)  # 1st: 2, then 2 more: 4^2/32 = .5


@R(0.4, low=-1, high=1)
def variance(d, rng):
    return d.var() * 8.0 + rng.normal(0, 2.0)


@no(rho=50, low=None, high=None)
def norm_of_numbers(d, rng):
    return np.linalg.norm(d) * 2.0 + rng.normal(0, 0.01)


# means by noisy counts
M = dict(relation="add-remove")


@no(rho=0.02, **M)
def mean_noisy(d, rng):
    s, n = d.sum() + rng.normal(0, 4.0), len(d) + rng.normal(0, 4.0)
    return s / max(1.0, n)  # 2/32


@no(rho=50, **M)
def mean_raw_sum(d, rng):
    return d.sum() / max(1.0, len(d) + rng.normal(0, 4.0))


@no(rho=50, **M)
def mean_raw_count(d, rng):
    return (d.sum() + rng.normal(0, 4.0)) / max(1, len(d))


@no(rho=50, **M)
def mean_shared_noise(d, rng):
    z = rng.normal(0, 4.0)
    return (d.sum() + z) / max(1.0, len(d) + z), d.sum() + z, len(d) + z


@no(rho=50, **M)
def mean_np(d, rng):
    return d.mean() + rng.normal(0, 4.0)


@no(rho=50, **M)
def mean_branch(d, rng):
    n = len(d) + rng.normal(0, 4.0)
    if n < 1:
        return d.sum()
    return (d.sum() + rng.normal(0, 4.0)) / n


@no(rho=50, **M)
def mean_branch_on_count(d, rng):
    n = len(d) + rng.normal(0, 4.0)
    if len(d) < 2:
        return 0.0
    return (d.sum() + rng.normal(0, 4.0)) / n


@no(rho=0.06, **M)
def mean_two_uses(d, rng):
    n = len(d) + rng.normal(0, 4.0)
    s = d.sum() + rng.normal(0, 2.0)
    return s / max(n, 1.0), n


# Gaussian noise that decides
G = dict()


@no(rho=0.03)
def raw_when_positive(d, rng):
    z = rng.normal(0, 4.0)
    return d.sum() if d.sum() + z > 0 else z


@no(rho=50)
def minus_in_branch(d, rng):
    z = rng.normal(0, 4.0)
    return d.sum() + z if z > 0 else d.sum() - z


@no(rho=50)
def minus_by_sum(d, rng):
    z = rng.normal(0, 4.0)
    return d.sum() + z if d.sum() + z > 0 else d.sum() - z


@no(rho=50)
def decided_raw(d, rng):
    z = rng.normal(0, 4.0)
    return z if d.sum() + z > 0 else -1.0


@no(
    rho=0.03,
)
def second_noise_in_branch(d, rng):
    z = rng.normal(0, 4.0)
    if d.sum() + z > 0:
        return d.sum() + rng.normal(0, 4.0)
    return 0.0  # 2/32


@no(rho=50)
def other_scale_in_branch(d, rng):
    z = rng.normal(0, 4.0)
    if z > 0:
        return d.sum() + rng.normal(0, 4.0)
    return d.sum()


@no(rho=0.03)
def two_scales(d, rng):
    if rng.normal(0, 4.0) > 0:
        return d.sum() + rng.normal(0, 4.0)
    return d.sum() + rng.normal(0, 0.5)


@no(rho=50)
def swapped_noise(d, rng):
    a, b = rng.normal(0, 4.0), rng.normal(0, 4.0)
    return (d.sum() + a, b) if a > b else (b, d.sum() + a, a)


@no(rho=0.03)
def larger_of_two(d, rng):
    a, b = d.sum() + rng.normal(0, 4.0), d.sum() + rng.normal(0, 4.0)
    return max(a, b), min(a, b)


@no(rho=50)
def absolute_noise(d, rng):
    return d.sum() + abs(rng.normal(0, 4.0))


@no(rho=50)
def clipped_noise(d, rng):
    return d.sum() + min(4.0, max(-4.0, rng.normal(0, 4.0)))


@no(rho=50)
def squared_noise(d, rng):
    z = rng.normal(0, 4.0)
    return d.sum() + z * z


@no(rho=50)
def redrawn(d, rng):
    z = rng.normal(0, 4.0)
    while d.sum() + z < 0:
        z = rng.normal(0, 4.0)
    return d.sum() + z


@no(rho=0.4, relation="answers", entries=3)
def gaussian_svt(d, rng):
    t = rng.normal(0, 2.0)
    for i, x in enumerate(d):
        if x + rng.normal(0, 0.25) > t:
            return i
    return -1


@no(rho=50, relation="answers")
def gaussian_svt_no_noise(d, rng):
    t = rng.normal(0, 2.0)
    return [bool(x > t) for x in d]


@no(rho=50)
def noisy_break(d, rng):
    t = 0.0
    for x in d:
        t += x
        if rng.normal(0, 1.0) > 5:
            return t
    return t + rng.normal(0, 4.0)


@no(rho=0.03)
def every_step_until(d, rng):
    t, out = 0.0, []
    for x in d:
        t = t + x
        y = t + rng.normal(0, 4.0)
        out.append(y)
        if y > 1:
            break
    return out


@no(rho=0.03)
def scale_by_former(d, rng):
    z = 0.0
    for x in d:
        s = 4.0 if z < 0 else 1.0
        z = x + rng.normal(0, s)
    return z  # the first has scale 1: 1/2


@no(rho=0.1, relation="add-remove")
def scale_by_state(d, rng):
    s, out = 4.0, []
    for x in d:
        out.append(x + rng.normal(0, s))
        s = 1.0 if s == 4.0 else 4.0
    return out


# Gaussian and Laplace, delta
@no(epsilon=0.5, delta=1e-5)
def both(d, rng):
    return d.sum() + rng.normal(0, 4.0), d.sum() + rng.laplace(0, 4.0)


@no(epsilon=1, delta=1e-5)
def gaussian_little(d, rng):
    return d.sum() + rng.normal(0, 3.0)


@no(epsilon=20, delta=1e-5)
def laplace_or_gaussian(d, rng):
    if rng.random() < 0.5:
        return d.sum() + rng.laplace(0, 4.0)
    return d.sum() + rng.normal(0, 0.01)


@no(mu=20.0)
def laplace_mu(d, rng):
    return d.sum() + rng.laplace(0, 4.0)


@no(mu=0.24)
def gaussian_mu(d, rng):
    return d.sum() + rng.normal(0, 4.0)


@no(mu=20.0)
def coin_mu(d, rng):
    return int(d[0] > 0.5) if rng.random() < 0.75 else int(d[0] <= 0.5)


@no(mu=20.0)
def gaussian_and_laplace_mu(d, rng):
    return d.sum() + rng.normal(0, 4.0), d.sum() + rng.laplace(0, 4.0)


@no(rho=20.0)
def gaussian_and_laplace_rho(d, rng):
    return d.sum() + rng.normal(0, 4.0), d.sum() + rng.laplace(0, 4.0)


@no(rho=0.02)
def hidden_laplace(d, rng):
    return d.sum() + rng.normal(0, 4.0) + rng.laplace(0, 4.0)


@no(epsilon=1.0, delta=1e-5, rounds=1000, sampling_rate=0.01, relation="add-remove")
def step(d, rng):
    return d.sum() + rng.normal(0, 1.1)


@no(epsilon=1.0, delta=1e-5, rounds=1000, sampling_rate=0.01, relation="add-remove")
def step_mean(d, rng):
    return d.mean() + rng.normal(0, 1.1)


@no(epsilon=5.0, delta=1e-5, rounds=1000, sampling_rate=0.01, relation="add-remove")
def step_raises(d, rng):
    if len(d) < 2:
        raise ValueError("few")
    return d.sum() + rng.normal(0, 1.1)


@no(epsilon=5.0, delta=1e-5, rounds=1000, sampling_rate=0.01, relation="add-remove")
def step_of_first(d, rng):
    return d[0] + rng.normal(0, 1.1)


@no(epsilon=5.0, delta=1e-5, rounds=1000, sampling_rate=0.01)
def step_replace(d, rng):
    return d.sum() + rng.normal(0, 1.1)


@no(epsilon=3.0, delta=1e-5, rounds=10)
def rounds_replace(d, rng):
    return d.sum() + rng.normal(0, 4.0)


SEEN = []


@no(epsilon=50.0, delta=1e-5, rounds=10)
def keeps(d, rng):
    SEEN.append(1.0)
    return d.sum() + rng.normal(0, 4.0) / len(SEEN)


TABLE = {"n": 0}


@no(epsilon=50.0, delta=1e-5, rounds=10)
def keeps_dict(d, rng):
    TABLE["n"] = TABLE["n"] + 1
    return d.sum() + rng.normal(0, 4.0)


def attr(d, rng):
    attr.n = 1
    return d.sum() + rng.normal(0, 4.0)


ATTACKS.append((attr, dict(epsilon=50.0, delta=1e-5, rounds=10)))


@no(epsilon=0.9, delta=1e-5, rounds=3)
def laplace_rounds(d, rng):
    return d.sum() + rng.laplace(0, 2.0)


@no(epsilon=50.0, delta=1e-5, rounds=10)
def seeds(d, rng):
    return d.sum() + np.random.default_rng(0).normal(0, 4.0)


# what a test says, and where it is used
@no(rho=0.12, **W)
def sign_of_another(d, rng):
    t, last = 0.0, 1.0
    for g in d:
        if last > 0:
            t += g / max(1.0, g)
        else:
            t += g / max(1.0, -g)
        last = g
    return t + rng.normal(0, 4.0)


@no(rho=0.12, **W)
def test_forgotten(d, rng):
    t = 0.0
    for g in d:
        size = g if g > 0 else 1.0
        t += g / max(1.0, size)
    return t + rng.normal(0, 4.0)


@no(rho=0.12, **W)
def test_of_state(d, rng):
    t = 0.0
    for g in d:
        if t > 3:
            t += g
        else:
            t += g / max(1.0, abs(g))
    return t + rng.normal(0, 4.0)


@no(rho=0.12, **W)
def test_of_noise(d, rng):
    t, z = 0.0, rng.normal(0, 4.0)
    for g in d:
        if z > 12:
            t += g
        else:
            t += g / max(1.0, abs(g))
    return t + rng.normal(0, 4.0)


@no(rho=0.2, **W)
def bound_by_test(d, rng):
    t = 0.0
    for g in d:
        if abs(g) < 5:
            t += g * abs(g)
        else:
            t += g / abs(g)
    return t + rng.normal(0, 4.0)  # 50


@no(rho=1.1, **W)
def bound_by_two_tests(d, rng):
    t = 0.0
    for g in d:
        if g < 3 and g > 0:
            t += g * max(g, 1.0)
    return t + rng.normal(0, 6.0)  # 9: 81/72=1.125


def square_of_state(d, rng):
    t = 0.0
    for g in d:
        t = t + g
    return t * t / 4.0 + rng.normal(0, 4.0)  # N=2: t^2/4 in [0,1]; grows with N


@no(rho=0.12, low=-1, high=1)
def noisy_state_square(d, rng):
    t = rng.normal(0, 4.0)
    for g in d:
        t = t + g
    return t, t * t + d[0]


@no(rho=0.12, low=-1, high=1)
def square_then_test(d, rng):
    t = 0.0
    for g in d:
        if g * g > 0.25:
            t += 2.0 * g * g
        else:
            t -= 2.0 * g * g + 2.0
    return t + rng.normal(0, 4.0)  # -2.5 .. 2


@no(rho=0.12, low=-1, high=1)
def minus_square(d, rng):
    return sum(g - 2.0 * g * g for g in d) + rng.normal(0, 4.0)  # -3 .. .125: 9.77/32


def scalar_growing(d, rng):
    t = 0.0
    for g in d:
        t = t + t + g * g
    return t + rng.normal(0, 4.0)


def scalar_counts(d, rng):
    t, k = 0.0, 0
    for g in d:
        if g * g > 0.25:
            k += 1
        t += g * k
    return t + rng.normal(0, 4.0)


GROWING = [state_square, square_of_state, scalar_growing, scalar_counts, square_of_sum, every_step_until, test_of_state]
