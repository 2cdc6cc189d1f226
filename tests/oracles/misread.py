"""Functions that leak where the language would mean something else than Python does, if it were careless: rarely (noise
above 1000), from the 42nd entry on, or where a number is none.

LATE: private for a few entries. NEVER: for none. NOT_A_NUMBER: where what is computed of a released value is nan or
infinite. CAREFUL: private, since what is computed has a value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Odd:
    """Equal to everything."""

    a: float = 0.0

    def __eq__(self, other):
        return True


@dataclass
class Larger:
    """Its attributes are a thousand times as large as they are set."""

    a: float = 0.0

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 1000 * value)


def set_otherwise(data, rng):
    held = Larger(0.0)
    held.a = data.sum()
    return held.a + rng.laplace(0, 1)


def appended_is_a_list(data, rng):
    out = []
    for i, x in enumerate(data):
        if i > 40 and isinstance(out, list):
            out.append(x)
        else:
            out.append(x + rng.laplace(0, 1))
    return out


def odd_equality(data, rng):
    out = []
    for i, x in enumerate(data):
        if i > 40 and Odd() == 3:
            out.append(x)
        else:
            out.append(x + rng.laplace(0, 1))
    return out


def views_late(data, rng):
    out = []
    for i, x in enumerate(data):
        b = {"a": 0.0}
        r = b.values()
        if i > 40:
            b["a"] = x
        out.append(list(r))
        out.append(x + rng.laplace(0, 1))
    return out


def reversed_late(data, rng):
    out = []
    for i, x in enumerate(data):
        b = [0.0, 0.0]
        r = reversed(b)
        if i > 40:
            b[0] = x
        out.append(list(r))
        out.append(x + rng.laplace(0, 1))
    return out


def like_late(data, rng):
    out = []
    for i, x in enumerate(data):
        a = np.zeros_like(np.zeros((2, 2)).T)
        if i > 40:
            a[0, 0] = x
        r = a.ravel()
        r[:] = 0
        out.append(a.tolist())
        out.append(x + rng.laplace(0, 1))
    return out


def late_text(data, rng):
    out = []
    for i, x in enumerate(data):
        y = x + rng.laplace(0, 1)
        t = f"{y:.0f}"
        if i > 40 and t != "0":
            out.append(y)
        elif i > 40:
            out.append(x)
        else:
            out.append(y)
    return out


def text_is(data, rng):
    total = data.sum() + rng.laplace(0, 1)
    t = f"{total:.0f}"
    if total > 1000:
        return data[0] if isinstance(t, str) else 0.0
    return 0.0


def text_eq(data, rng):
    total = data.sum() + rng.laplace(0, 1)
    t = f"{total:.0f}"
    if total > 1000:
        return 0.0 if t == "5000" else 1.0
    return 0.0


def lazily_reversed(data, rng):
    noise = rng.laplace(0, 1)
    b = [0.0, 0.0]
    r = reversed(b)
    if noise > 1000:
        b[0] = data[0]
    return data.sum() + noise, list(r)


def dict_views(data, rng):
    noise = rng.laplace(0, 1)
    b = {"a": 0.0}
    r = b.values()
    if noise > 1000:
        b["a"] = data[0]
    return data.sum() + noise, list(r)


def ravelled(data, rng):
    noise = rng.laplace(0, 1)
    m = np.zeros((2, 2))
    if noise > 1000:
        m[0, 0] = data[0]
    a = np.array(m.T)
    r = a.ravel()
    r[:] = 0
    return data.sum() + noise, a


def like(data, rng):
    noise = rng.laplace(0, 1)
    m = np.zeros((2, 2))
    a = np.zeros_like(m.T)
    if noise > 1000:
        a[0, 0] = data[0]
    r = a.ravel()
    r[:] = 0
    return data.sum() + noise, a


def weight_equals(data, rng):
    out = []
    for i, x in enumerate(data):
        y = x + rng.laplace(0, 1)
        out.append(x if i > 40 and math.exp(x) == 1.0 else y)
    return out


def nan_of_log(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    if np.isnan(np.log(noisy)):
        return data[0]
    return 1.0


def nan_of_sqrt(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    y = np.sqrt(noisy)
    if y == y:
        return 1.0
    return data[0]


def nan_of_sqrt_in_between(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    y = np.sqrt(noisy)
    if y > 5:
        return 1.0
    if y <= 5:
        return 2.0
    return data[0]


def nan_of_power(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    y = noisy**0.5
    if np.isnan(y):
        return data[0]
    return 1.0


def inf_of_exp(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    if not np.isfinite(np.exp(1000 * noisy)):
        return data[0]
    return 1.0


def inf_of_quotient(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    y = 1 / np.floor(noisy)
    if np.isfinite(y):
        return 1.0
    return data[0]


def nan_of_quotient(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    f = np.floor(noisy)
    y = f / f
    if y == y:
        return 1.0
    return data[0]


def nan_in_max(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    y = max(0.0, np.sqrt(noisy))
    z = max(np.sqrt(noisy), 0.0)
    return 1.0 if y == z else data[0]


def nan_in_argmax(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    w = np.argmax([9.0, np.sqrt(noisy)])
    if w == 1 and noisy < 0:
        return data[0]
    return 1.0


def nan_clip(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    y = np.clip(np.sqrt(noisy), 0, 1)
    if y < 2:
        return 1.0
    return data[0]


def weight_of_noise(data, rng):
    noisy = data.sum() + rng.laplace(0, 1)
    if np.exp(np.floor(noisy)) == 1.0:
        return data[0]
    return 1.0


LATE = [appended_is_a_list, odd_equality, views_late, reversed_late, like_late, late_text, weight_equals]
NEVER = [text_is, text_eq, lazily_reversed, dict_views, ravelled, like, set_otherwise]
NOT_A_NUMBER = [
    nan_of_log, nan_of_sqrt, nan_of_sqrt_in_between, nan_of_power, inf_of_exp, inf_of_quotient, nan_of_quotient,
    nan_in_max, nan_in_argmax, nan_clip, weight_of_noise,
]  # fmt: skip


def logit(data, rng):
    p = data.mean() + rng.laplace(0, 1 / len(data))
    p = min(max(p, 0.01), 0.99)
    return math.log(p / (1 - p))


def z_score(data, rng):
    n = len(data)
    mean = data.mean() + rng.laplace(0, 2 / n)
    second = (data * data).mean() + rng.laplace(0, 2 / n)
    sd = np.sqrt(np.maximum(second - mean * mean, 1e-6))
    return mean / sd


def rms(data, rng):
    total = np.square(data).sum() + rng.laplace(0, 1)
    return math.sqrt(abs(total) / len(data))


def noisy_std(data, rng):
    n = len(data)
    s = data.sum() + rng.laplace(0, 2)
    q = (data**2).sum() + rng.laplace(0, 2)
    return math.sqrt(max(q / n - (s / n) ** 2, 0.0))


def mean_rounded_count(data, rng):
    total = np.clip(data, 0, 1).sum() + rng.laplace(0, 2)
    count = max(1, round(len(data) + rng.laplace(0, 2)))
    return total / count


CAREFUL = [(logit, {}), (z_score, {}), (rms, {}), (noisy_std, {}), (mean_rounded_count, {"relation": "add-remove"})]
