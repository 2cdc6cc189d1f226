"""A limit of CPU time on a peer's answer."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooSlow(BaseException):
    """Not an Exception, so that no peer's own handler swallows it."""


@contextmanager
def cpu_limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # CPU time, so that a busy machine does not hide a defect.
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
