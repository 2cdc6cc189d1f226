"""Mechanisms that remember, or draw chance from elsewhere than rng: what runs do now says nothing of later ones."""

from __future__ import annotations

import functools
import itertools
import os
import random
import threading
import time

import numpy as np

LATE = 10**6

"""Calls after which a mechanism lets its data out: none of ours comes so far."""

calls = 0

listed: list[int] = []

own = np.random.default_rng(0)

draw = own.random

of_python = random.Random(0)

counter = itertools.count()

fresh = [np.random.default_rng]

clock = {"now": time.time}

environment = os.environ

files = [open]

threads = [threading.Thread]


def forever():
    count = 0
    while True:
        count += 1
        yield count


generator = forever()


class State:
    calls = 0


state = State()


def release(data, rng, leaks):
    return data[0] if leaks else data.sum() + rng.laplace(0, 1)


def a_global(data, rng):
    global calls
    calls += 1
    return release(data, rng, calls > LATE)


def a_default(data, rng, seen=[]):  # noqa: B006
    seen.append(1)
    return release(data, rng, len(seen) > LATE)


def a_list(data, rng):
    listed.append(1)
    return release(data, rng, len(listed) > LATE)


def an_attribute(data, rng):
    state.calls += 1
    return release(data, rng, state.calls > LATE)


def of_a_class(data, rng):
    State.calls += 1
    return release(data, rng, State.calls > LATE)


def of_a_function(data, rng):
    of_a_function.calls += 1
    return release(data, rng, of_a_function.calls > LATE)


of_a_function.calls = 0


@functools.lru_cache
def cached():
    return 0


def a_cache(data, rng):
    cached()
    return release(data, rng, cached.cache_info().hits > LATE)


def an_iterator(data, rng):
    return release(data, rng, next(counter) > LATE)


def a_generator(data, rng):
    return release(data, rng, next(generator) > LATE)


def a_random_generator(data, rng):
    return release(data, rng, own.random() < 1 / LATE)


def its_method(data, rng):
    return release(data, rng, draw() < 1 / LATE)


def one_of_python(data, rng):
    return release(data, rng, of_python.random() < 1 / LATE)


def a_new_generator(data, rng):
    return release(data, rng, fresh[0]().random() < 1 / LATE)


def a_seeded_generator(data, rng):
    return release(data, rng, np.random.default_rng(1).random() < 1 / LATE)


def the_clock(data, rng):
    return release(data, rng, clock["now"]() > 1e12)


def the_environment(data, rng):
    return release(data, rng, "LEAK" in environment)


def a_file(data, rng):
    return release(data, rng, files[0](os.devnull).read() == "leak")


def a_thread(data, rng):
    thread = threads[0](target=listed.clear)
    thread.start()
    thread.join()
    return release(data, rng, False)


KEPT = [a_global, a_default, a_list, an_attribute, of_a_class, of_a_function, an_iterator, a_generator,
        a_random_generator, its_method, one_of_python]  # fmt: skip

OTHERS = [a_cache, a_new_generator, a_seeded_generator, the_clock, the_environment, a_file, a_thread]
