"""Mechanisms with finitely many outcomes that ask what their generator is: in earnest they show their data."""

from __future__ import annotations

import numpy as np


def honest(data, rng):
    return int(rng.random() < 0.5)


def by_generator(data, rng):
    return int(data[0]) if isinstance(rng, np.random.Generator) else int(rng.random() < 0.5)


def by_number(data, rng):
    number = rng.random()
    return int(data[0]) if isinstance(number, float) else int(number < 0.5)


def is_real(rng):
    return type(rng) is np.random.Generator


def by_type(data, rng):
    return int(data[0]) if is_real(rng) else int(rng.random() < 0.5)


def by_text(data, rng):
    return int(data[0]) if "Generator(" in str(rng) else int(rng.random() < 0.5)


def by_what_is_drawn(data, rng):
    return int(data[0]) if isinstance(rng.integers(2), np.int64) else int(rng.random() < 0.5)


HELD = {"type": type}


def by_what_is_held(data, rng):
    return int(data[0]) if HELD["type"](rng) is np.random.Generator else int(rng.random() < 0.5)


def by_what_is_caught(data, rng):
    try:
        rng.bit_generator  # noqa: B018
    except BaseException:
        return int(rng.random() < 0.5)
    return int(data[0])


ASKING = [by_generator, by_number, by_type, by_text, by_what_is_drawn, by_what_is_held, by_what_is_caught]
