"""Two threads that run trials of one process: the second begins while the first is at work, if nothing keeps it."""

from __future__ import annotations

import os
import random
import sys
import threading
from contextlib import nullcontext
from typing import Any

import pytest
from numpy.random import SeedSequence

from dpcert.proofs_checks.auditing import global_generators
from dpcert.proofs_checks.auditing.global_generators import controlled


class Telling:
    """The guard, which tells when somebody has to wait for it."""

    def __init__(self, guard: Any, waits: threading.Event) -> None:
        self.guard, self.waits = guard, waits

    def __enter__(self) -> None:
        if not self.guard.acquire(blocking=False):
            self.waits.set()
            self.guard.acquire()

    def __exit__(self, *problem: object) -> None:
        self.guard.release()


def drawn_by_two_threads(monkeypatch: pytest.MonkeyPatch, guarded: bool = True) -> tuple[list[float], bool]:
    """(what the first thread drew, before and after the second one came; whether all is as it was when both ended)."""
    before = random.getstate(), sys.stdout, os.urandom
    drawn: list[float] = []
    began, went_on = threading.Event(), threading.Event()
    guard = Telling(global_generators.ONE_AT_A_TIME, went_on) if guarded else nullcontext()
    monkeypatch.setattr(global_generators, "ONE_AT_A_TIME", guard)

    def first() -> None:
        with controlled(SeedSequence(1)):
            drawn.append(random.random())
            began.set()
            went_on.wait()  # the second one has drawn, or waits
            drawn.append(random.random())

    def second() -> None:
        began.wait()
        with controlled(SeedSequence(2)):
            random.random()
            went_on.set()
            one.join()

    one, other = threading.Thread(target=first), threading.Thread(target=second)
    one.start()
    other.start()
    one.join()
    other.join()
    return drawn, (random.getstate(), sys.stdout, os.urandom) == before
