"""Mechanisms that tell symbols from numbers, or remember, by way of numpy, of Python, of exceptions or of memory.

Each puts out 1 but in a window of the data that random points do not meet and that has no number of the code next to it
(or after a million calls): where it is run on symbols, it seems always to put out 1.
"""

from __future__ import annotations

import contextvars
import itertools
import struct
import types
import zlib

import numpy as np

LOW, HIGH = ["0.40012"], ["0.40013"]
LATE = 10**6
KIND = "{x.__class__.__name__}"


def inside(x):
    return bool(x > float(LOW[0])) and bool(x < float(HIGH[0]))


def memory_as_hex(data, rng):
    """Pointers do not end as numbers between 0 and 1 do."""
    return 5.0 if data.data.hex()[14:16] == "3f" and inside(data[0]) else 1


def memory_as_numbers(data, rng):
    return 5.0 if inside(np.frombuffer(data)[0]) else 1


def memory_by_struct(data, rng):
    return 5.0 if inside(struct.unpack_from("d", data)[0]) else 1


def memory_summed(data, rng):
    return 5.0 if zlib.crc32(data) == zlib.crc32(struct.pack("d", float("0.37"))) else 1


def memory_as_bytes(data, rng):
    return 5.0 if bytes(data)[7] == 63 and inside(data[0]) else 1


def memory_as_text(data, rng):
    return 5.0 if str(data, "latin1")[7] == "?" and inside(data[0]) else 1


def memory_joined(data, rng):
    return 5.0 if b"".join([data])[7] == 63 and inside(data[0]) else 1


def memory_of_another(data, rng):
    return 5.0 if inside(np.ndarray(1, float, data)[0]) else 1


def scalar(data, rng):
    return 5.0 if np.isscalar(data[0] > float(LOW[0])) and inside(data[0]) else 1


def filled(data, rng):
    return 5.0 if np.ma.default_fill_value(data) == 1e20 and inside(data[0]) else 1


def numpys_state(data, rng):
    size = np.getbufsize()
    np.setbufsize(size + 16)
    return data[0] if size > 16 * LATE else 1


def attribute_in_a_text(data, rng):
    return 5.0 if KIND.format(x=data[0]) == "float64" and inside(data[0]) else 1


class Raising:
    def __init__(self, x):
        self.x = x

    @property
    def text(self):
        return self.x.hex()


class Falling(Raising):
    def __getattr__(self, name):
        return ""


class Long(Raising):
    def __init__(self, x):
        self.x = x
        self.seen = []

    def __len__(self):
        self.seen.append(self.x.hex())
        return 1

    def __iter__(self):
        return iter([1])


class Dying(Raising):
    def __init__(self, x, seen):
        self.x = x
        self.seen = seen

    def __del__(self):
        self.seen.append(self.x.hex())


def attribute_after_a_property(data, rng):
    return 5.0 if Falling(data[0]).text != "" and inside(data[0]) else 1


def attribute_or_not(data, rng):
    return 5.0 if hasattr(Raising(data[0]), "text") and inside(data[0]) else 1


def attribute_by_default(data, rng):
    return 5.0 if getattr(Raising(data[0]), "text", "") != "" and inside(data[0]) else 1


def length_for_a_list(data, rng):
    asked = Long(data[0])
    list(asked)
    return 5.0 if asked.seen and inside(data[0]) else 1


def end_of_an_object(data, rng):
    seen = []
    dying = Dying(data[0], seen)
    del dying
    return 5.0 if seen and inside(data[0]) else 1


variable: contextvars.ContextVar[int] = contextvars.ContextVar("calls", default=0)
space = types.SimpleNamespace(calls=[0], unwritable=lambda: 0)
large = [[0], *[0] * 1000]
counting = map(lambda i: i, itertools.count())  # of which there is no pickle


def context(data, rng):
    calls = variable.get()
    variable.set(calls + 1)
    return data[0] if calls > LATE else 1


def namespace(data, rng):
    space.calls[0] += 1
    return data[0] if space.calls[0] > LATE else 1


def deep_in_a_large_list(data, rng):
    large[0][0] += 1
    return data[0] if large[0][0] > LATE else 1


def iterator(data, rng):
    return data[0] if next(counting) > LATE else 1


TELLS = [
    memory_as_hex,
    memory_as_numbers,
    memory_by_struct,
    memory_summed,
    memory_as_bytes,
    memory_as_text,
    memory_joined,
    memory_of_another,
    scalar,
    filled,
    numpys_state,
    attribute_in_a_text,
    attribute_after_a_property,
    attribute_or_not,
    attribute_by_default,
    length_for_a_list,
    context,
    namespace,
    deep_in_a_large_list,
    iterator,
]
