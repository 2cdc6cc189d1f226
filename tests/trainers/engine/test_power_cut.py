"""The power goes at any system call of a private run: what was shown is paid for, and the run goes on to the bit.

Personal models are in a file that is mapped into memory, whose writes are no system calls: this is private MOCHA, which
has none.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
import torch
from paid_runs import Shown, course, finish, mocha
from power_cut import cuts, laid_out, traced

ROUNDS, SEED = 3, 20261126
PROGRAM = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parents[2] / "oracles")!r})
import torch
from paid_runs import Shown, finish, mocha
torch.set_num_threads(1)
class Telling(Shown):
    def publish(self, pre_noise, noise, sensitivity):
        released = super().publish(pre_noise, noise, sensitivity)
        try:
            os.unlink(f"{{sys.argv[1]}}/acknowledged-{{len(self.seen)}}")
        except FileNotFoundError:
            pass
        return released
finish(mocha(sys.argv[1], Telling(), {ROUNDS}), {ROUNDS})
"""


def survives(tmp_path: Path, each: int, every: int) -> int:
    """Resume from every so-manieth disk; how many these were."""
    torch.set_num_threads(1)
    plain_board = Shown()
    plain = mocha(None, plain_board, ROUNDS)
    finish(plain, ROUNDS)
    (tmp_path / "run").mkdir()
    calls = traced(PROGRAM, tmp_path / "run", tmp_path)
    known: dict[tuple[tuple[str, bytes], ...], int] = {}
    for promised, content in cuts(calls, random.Random(SEED), each):
        key = tuple(sorted(content.items()))
        known[key] = max(promised, known.get(key, 0))
    tried = list(known.items())[::every]
    for number, (content, promised) in enumerate(tried):
        board = Shown(plain_board.seen[:promised])
        resumed = mocha(laid_out(dict(content), tmp_path / str(number)), board, ROUNDS)
        assert resumed.rounds <= promised <= resumed.spent
        finish(resumed, ROUNDS)
        assert course(resumed) == course(plain)
        assert board.different == ROUNDS
        shutil.rmtree(tmp_path / str(number))
    return len(tried)


needs_a_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or not os.path.exists("/proc/self/fd"), reason="needs Linux and a C compiler"
)


@needs_a_compiler
def test_what_was_shown_is_paid_for(tmp_path: Path) -> None:
    assert survives(tmp_path, each=1, every=30) >= 5


@pytest.mark.nightly
@needs_a_compiler
def test_what_was_shown_is_paid_for_after_every_call(tmp_path: Path) -> None:
    assert survives(tmp_path, each=3, every=1) > 200
