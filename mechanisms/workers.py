"""Worker processes of a command."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children
from threading import Thread


def cores() -> int:
    """How many processes run at once on this machine, as far as this one may use it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, in place of an exception that may come in the middle of a pool's own work; pressed
    again it is one."""
    pressed = False

    def note(signal_number: int, frame: object) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, former)

    former = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, former)


@contextmanager
def pool(
    workers: int, context: str | None = None, start: Callable[[], object] = bool
) -> Iterator[ProcessPoolExecutor | None]:
    """Worker processes, which leave Ctrl-C to this one, and end with it: what they still run is not wanted any more.

    context: "spawn" where the work uses CUDA, which does not survive a fork. start: what each of them does first.
    """
    if workers == 0:
        yield None
        return
    others, pipe = set(active_children()), getattr(signal, "SIGPIPE", None)  # Windows has none
    # Ended workers leave closed pipes, which the executor sees; their signal must not end this process.
    former = signal.signal(pipe, signal.SIG_IGN) if pipe else None
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context(context), _begin, (start,))
    try:
        with _held_interrupts():  # by those that are forked, too, until each ignores them
            executor.submit(bool)
        yield executor
    finally:
        for child in set(active_children()) - others:
            child.terminate()
        executor.shutdown()  # which waits for the executor's own thread: that must not write into closed pipes later
        if pipe:
            signal.signal(pipe, former)


@contextmanager
def _held_interrupts() -> Iterator[None]:
    """Ctrl-C comes afterwards, where the system can hold signals back (Windows cannot)."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if former is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _begin(start: Callable[[], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_parent, daemon=True).start()
    start()


def _end_with_parent() -> None:
    """A parent that is killed tells nobody, and the executor's workers would wait for its next task for ever."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
