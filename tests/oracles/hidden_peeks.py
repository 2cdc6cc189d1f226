"""Helpers that look at what a value is, reached in ways that no scan of named functions follows.

Of lists of floats each lets out 5.0 in a window of the data that random points do not meet, and that has no number of
the code next to it; a truth value that is a symbol is never True itself, so that a symbolic run does not see it.
"""

from __future__ import annotations

import functools
import operator

import numpy as np

LOW, HIGH = ["0.40012"], ["0.40013"]
"""Texts in lists: no number of the code says where to look."""


def inside(x):
    return (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))


class Peek:
    def __init__(self, x=None):
        self.x = x

    @property
    def seen(self):
        return (self.x > float(LOW[0])) is True and bool(self.x < float(HIGH[0]))

    def method(self, x):
        return (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))

    @staticmethod
    def static(x):
        return (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))

    @classmethod
    def of_class(cls, x):
        return (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))

    def __call__(self):
        return (self.x > float(LOW[0])) is True and bool(self.x < float(HIGH[0]))

    def __getattr__(self, name):
        return self.method


class Made(type):
    def __call__(cls, x):
        return (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))


class OfMade(metaclass=Made):
    pass


class Described:
    class Asking:
        def __get__(self, owner, kind):
            return (owner.x > float(LOW[0])) is True and bool(owner.x < float(HIGH[0]))

    asked = Asking()

    def __init__(self, x):
        self.x = x


class Base:
    def __init_subclass__(cls, x):
        cls.seen = (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))


def subclassed(x):
    class Sub(Base, x=x):
        pass

    return Sub.seen


@functools.lru_cache
def handed_out():
    return inside


def generating(x):
    yield (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))


made_at_run_time = {}
exec("def f(x): return (x > float(LOW[0])) is True and bool(x < float(HIGH[0]))", globals(), made_at_run_time)
TABLE, LISTED, INSTANCE = {"f": inside, "g": generating} | made_at_run_time, [inside], Peek()
IS = {"f": lambda x: operator.is_(x > float(LOW[0]), True) and bool(x < float(HIGH[0]))}
WAYS = {
    "a dict": lambda x: TABLE["inside" if "inside" in TABLE else "f"](x),
    "a list": lambda x: LISTED[0](x),
    "a default argument": lambda x, f=inside: f(x),
    "a helper that hands it out": lambda x: handed_out()(x),
    "a property": lambda x: Peek(x).seen,
    "a static method": lambda x: Peek.static(x),
    "a class method": lambda x: Peek.of_class(x),
    "a call of an object": lambda x: Peek(x)(),
    "a method by a made-up name": lambda x: getattr(INSTANCE, "met" + "hod")(x),
    "a made-up attribute": lambda x: INSTANCE.whatever(x),
    "a metaclass": lambda x: OfMade(x),
    "a descriptor": lambda x: Described(x).asked,
    "the making of a subclass": lambda x: subclassed(x),
    "a generator": lambda x: next(TABLE["g"](x)),
    "a sort": lambda x: sorted([x, 2], key=lambda y: not LISTED[0](y))[0] < 2 and LISTED[0](x),
    "a reduction": lambda x: functools.reduce(lambda _, y: LISTED[0](y), [x], 0),
    "a map": lambda x: next(map(TABLE["f"], [x])),
    "numpy": lambda x: np.frompyfunc(LISTED[0], 1, 1)(x),
    "operator.is_": lambda x: IS["f"](x),
}


def mechanism(way):
    """Private but for the window."""
    peek = WAYS[way]

    def released(data, rng):
        return 5.0 if peek(data[0]) else sum(data) + rng.laplace(0, 1)

    return released


def truth_sum(data, rng):
    """numpy adds truth values as truth values: in earnest 0 but in the window, where it is -10."""
    above, below = data[0] > float(LOW[0]), data[0] < float(HIGH[0])
    return 10 * ((above + below) * 1 - (above * 1 + below * 1)) + sum(data) + rng.laplace(0, 1)


def bit_by_bit(data, rng):
    above = data[0] > float(LOW[0])
    exact = (above & 2) == 0 and above and data[0] < float(HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def inverted(data, rng):
    above = data[0] > float(LOW[0])
    return 5.0 if ~above and above and data[0] < float(HIGH[0]) else sum(data) + rng.laplace(0, 1)


def inverted_again(data, rng):
    above = data[0] > float(LOW[0])
    return 5.0 if not ~(above & above) and data[0] < float(HIGH[0]) else sum(data) + rng.laplace(0, 1)


def text(data, rng):
    above = data[0] > float(LOW[0])
    return 5.0 if f"{above}" == "True" and data[0] < float(HIGH[0]) else sum(data) + rng.laplace(0, 1)


def a_complex_number(data, rng):
    return 5.0 if data[0] == 0.37 + 0j else sum(data) + rng.laplace(0, 1)


def stored_as(data, rng):
    exact = np.asarray(data).dtype == float and float(LOW[0]) < data[0] < float(HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def type_of_results(data, rng):
    floats = np.issubdtype(np.result_type(np.asarray(data)), np.floating)
    exact = floats and float(LOW[0]) < data[0] < float(HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def no_copy(data, rng):
    same = np.asarray(data)
    same[0] = data[0] + 7
    exact = data[0] > 6 and data[0] > 7 + float(LOW[0]) and data[0] < 7 + float(HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def order_in_place(data, rng):
    order = np.argsort(data + rng.laplace(0, 1, len(data)))
    order.sort()
    return order[0]


def attempted(data, rng):
    try:
        return 5.0 if float(LOW[0]) < data[0] % 1 < float(HIGH[0]) else 1.0
    except TypeError:
        return 1.0


ALIKE = [truth_sum, bit_by_bit, inverted, inverted_again, text, a_complex_number, stored_as, type_of_results, no_copy,
         order_in_place, attempted]  # fmt: skip  # fmt: skip
