"""Worker processes of a command."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children

SETTLED = 0.1
"""Seconds in which a pool forgets what was cancelled; it complains of workers that end with cancelled work."""


def cores() -> int:
    """How many processes run at once on this machine, as far as this one may use it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def pool(workers: int) -> Iterator[ProcessPoolExecutor | None]:
    """Worker processes, which leave Ctrl-C to this one, and end with it: what they still run is not wanted any more."""
    if workers == 0:
        yield None
        return
    others, pipe = set(active_children()), getattr(signal, "SIGPIPE", None)  # Windows has none
    # Ended workers leave closed pipes, which the executor sees; their signal must not end this process.
    former = signal.signal(pipe, signal.SIG_IGN) if pipe else None
    executor = ProcessPoolExecutor(workers, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        time.sleep(SETTLED)
        for child in set(active_children()) - others:
            child.terminate()
        executor.shutdown()
        if pipe:
            signal.signal(pipe, former)
