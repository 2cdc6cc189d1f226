"""The power goes at any system call: every acknowledged event is there, and the ledger can be used."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

import pytest
from power_cut import Call, cuts, laid_out, traced

from dpcert.accounting.ledger import Ledger, LedgerError

needs_a_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or not Path("/proc/self/fd").exists(), reason="needs Linux and a C compiler"
)
EVENTS, SEED = 3, 20261126
PROGRAM = f"""
import os, sys
from dpcert.accounting.ledger import Ledger
from dpcert.mechanisms import Gaussian
ledger = Ledger(sys.argv[1] + "/ledger.sqlite", run_id="run")
for number in range(1, {EVENTS} + 1):
    ledger.record(Gaussian(4.0), f"round-{{number}}")
    try:
        os.unlink(f"{{sys.argv[1]}}/acknowledged-{{number}}")
    except FileNotFoundError:
        pass
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[Call]:
    folder = tmp_path_factory.mktemp("ledger")
    return traced(PROGRAM, folder, tmp_path_factory.mktemp("scratch"))


def events_after(content: dict[str, bytes]) -> int | None:
    """How many events the ledger has; None where it is refused."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = laid_out(content, Path(scratch) / "disk")
        try:
            return len(Ledger(folder / "ledger.sqlite"))
        except LedgerError:
            return None


def verdicts(calls: list[Call], each: int) -> list[tuple[int, int | None]]:
    """What was acknowledged, and what is there, for all cuts that differ."""
    coins, known, found = random.Random(SEED), {}, []
    for promised, content in cuts(calls, coins, each):
        key = tuple(sorted(content.items()))
        if key not in known:
            known[key] = events_after(content)
        found.append((promised, known[key]))
    return found


@needs_a_compiler
def test_what_was_acknowledged_is_there(calls: list[Call]) -> None:
    assert {call.what for call in calls} == {"create", "write", "truncate", "sync", "unlink", "rename", "link"} - {
        "truncate"
    }
    found = verdicts(calls, each=2)
    assert max(promised for promised, _ in found) == EVENTS
    for promised, there in found:
        assert there is not None
        assert promised <= there <= min(promised + 1, EVENTS)


@needs_a_compiler
def test_without_syncing_the_folder_an_acknowledged_event_is_lost(calls: list[Call]) -> None:
    """The plant: what 0.2.0 did (synchronous=FULL): the journal is back, and rolls the event back."""
    careless = [call for call in calls if not (call.what == "sync" and call.name == ".")]
    assert any(there is None or there < promised for promised, there in verdicts(careless, each=0))


@pytest.mark.nightly
@needs_a_compiler
def test_what_was_acknowledged_is_there_many_times(calls: list[Call]) -> None:
    assert all(there is not None and there >= promised for promised, there in verdicts(calls, each=60))
