"""Randomness that a mechanism takes from elsewhere than its argument: seeded, noticed, and put back.

`random`, `numpy.random` and torch have one generator each for the whole process. While trials run these are seeded from
the trials' seed, so that the same trials give the same outputs, and afterwards they are as they were. The operating
system's generator (os.urandom, `secrets`, numpy's generators without a seed, which all ask it) cannot be seeded: that
it was asked is noticed. What native code draws by itself is not seen here; audit.py sees that it does not repeat.
"""

from __future__ import annotations

import io
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np
from numpy.random import SeedSequence

SYSTEM = "the operating system's generator"

ONE_AT_A_TIME = threading.RLock()
"""The generators, and where prints go, are the process's: threads that each seed and put them back would take each
other's, and leave the last one's behind."""


def _of_a_new_process() -> None:
    """A copy of this process has its own generators, and no thread that would ever let go of them."""
    global ONE_AT_A_TIME
    ONE_AT_A_TIME = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, which copies no processes
    os.register_at_fork(after_in_child=_of_a_new_process)


@contextmanager
def controlled(seed: SeedSequence) -> Iterator[set[str]]:
    """Seeds the global generators and takes what is printed; yields names of those that were drawn from, at the end.

    In one thread of the process at a time.
    """
    with ONE_AT_A_TIME:
        yield from _controlled([int(word) for word in seed.generate_state(4)])


def _controlled(words: list[int]) -> Iterator[set[str]]:
    drawn: set[str] = set()
    put_back = [_python(words), _numpy(words), *_torch(words)]
    watched = _system(drawn)
    try:
        with redirect_stdout(_Discarded()):
            yield drawn
    finally:
        watched()
        drawn.update(name for finish in put_back if (name := finish()))


class _Discarded(io.TextIOBase):
    """Where mechanisms print to: thousands of calls would fill the screen."""

    def write(self, text: str) -> int:
        return len(text)


def _python(words: list[int]) -> Callable[[], str]:
    before = random.getstate()
    random.seed(words[0] | words[1] << 32)
    seeded = random.getstate()

    def finish() -> str:
        changed = random.getstate() != seeded
        random.setstate(before)
        return "random" if changed else ""

    return finish


def _numpy(words: list[int]) -> Callable[[], str]:
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(words)  # noqa: NPY002
    seeded = np.random.get_state()  # noqa: NPY002

    def finish() -> str:
        after = np.random.get_state()  # noqa: NPY002
        np.random.set_state(before)  # noqa: NPY002
        return "" if _same(seeded, after) else "numpy.random"

    return finish


def _same(first: Any, second: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def _torch(words: list[int]) -> list[Callable[[], str]]:
    """Where torch is loaded: it is not loaded for this. On the CPU, and on GPUs that are in use."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "default_generator"):
        return []
    generators = [torch.default_generator]
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        generators += list(torch.cuda.default_generators)
    before = [generator.get_state() for generator in generators]
    for generator in generators:
        generator.manual_seed(words[2] | (words[3] & 0x7FFFFFFF) << 32)
    seeded = [generator.get_state() for generator in generators]

    def finish() -> str:
        changed = any(
            not torch.equal(one, generator.get_state()) for one, generator in zip(seeded, generators, strict=True)
        )
        for state, generator in zip(before, generators, strict=True):
            generator.set_state(state)
        return "torch" if changed else ""

    return [finish]


def _system(drawn: set[str]) -> Callable[[], None]:
    """Notices calls of os.urandom from this thread; `secrets` and numpy's seeds come by random's own name for it."""
    here, real = threading.get_ident(), os.urandom

    def noticed(size: int, /) -> bytes:
        if threading.get_ident() == here:
            drawn.add(SYSTEM)
        return real(size)

    inside = random._urandom  # type: ignore[attr-defined]
    os.urandom = noticed
    random._urandom = noticed  # type: ignore[attr-defined]

    def put_back() -> None:
        os.urandom = real
        random._urandom = inside  # type: ignore[attr-defined]

    return put_back
