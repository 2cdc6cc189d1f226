"""Worker processes end with the process that started them, whatever ended it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

SCRIPT = """
from dpcert.mechanisms.workers import pool
if __name__ == "__main__":
    with pool(1, {context!r}) as workers:
        workers.submit(print, "works", flush=True).result()
        input()
"""


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_of_a_killed_process_end(context, tmp_path):
    """Their standard output ends only when all of them have ended."""
    (tmp_path / "script.py").write_text(SCRIPT.format(context=context))
    child = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "works\n"
    os.kill(child.pid, signal.SIGKILL)
    assert child.communicate(timeout=300) == ("", None)


INTERRUPTED = """
import os
import signal
from contextlib import nullcontext
from dpcert.mechanisms import workers
if {planted}:
    workers._held_interrupts = nullcontext
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background may ignore it
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))
with workers.pool(1, "fork") as started:
    started.submit(print, "works", flush=True).result()
"""


@pytest.mark.parametrize("planted", [False, True])
def test_ctrl_c_while_workers_are_forked_is_not_theirs(planted):
    """Python's own hooks after a fork would print a traceback each."""
    script = INTERRUPTED.format(planted=planted)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "works\n"
    assert ("KeyboardInterrupt" in done.stderr) is planted
