"""The ledger counts every acknowledged event exactly once, survives being killed, and shows tampering."""

from __future__ import annotations

import os
import random
import select
import signal
import sqlite3

import pytest

from dpcert.accounting.ledger.ledger import Ledger
from dpcert.accounting.ledger.store import NOTE, Event, LedgerError, MemoryStore, SqliteStore, chained
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, Sequence
from dpcert.mechanisms.serialise import to_json

STEP = Poisson(Gaussian(1.0), 0.01)


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    return Ledger(MemoryStore() if request.param == "memory" else tmp_path / "ledger.sqlite")


def test_equal_steps_are_one_entry(ledger):
    ledger.record(STEP)
    ledger.record(Repeat(STEP, 4))
    ledger.record(Sequence((STEP, Gaussian(2.0))))
    assert ledger.run() == Sequence((Repeat(STEP, 6), Repeat(Gaussian(2.0), 1)))
    assert len(ledger) == 3


def test_a_retried_event_is_counted_once(ledger):
    assert ledger.record(STEP, "round-1")
    assert not ledger.record(STEP, "round-1", retry=True)
    assert len(ledger) == 1
    for retry in (False, True):
        with pytest.raises(LedgerError, match="round-1"):
            ledger.record(Gaussian(1.0), "round-1", retry=retry)
    assert len(ledger) == 1
    assert ledger.record(STEP, "round-2", retry=True)  # it had not been recorded


def test_a_repeated_id_is_refused_unless_it_is_said_to_be_a_retry(ledger):
    ledger.record(STEP, "round-1")
    with pytest.raises(LedgerError, match="retry=True"):
        ledger.record(STEP, "round-1")
    assert len(ledger) == 1


def released_by(start_of_script, path, releases=3):
    """What a training script does with the ids of docs/ledger.md: as many releases as rounds, whatever was before."""
    ledger = start_of_script(path)
    for round_number in range(releases):
        ledger.record(Gaussian(4.0), event_id=f"round-{round_number}")
    return ledger


def test_a_script_that_is_started_again_is_counted_again(tmp_path):
    path = tmp_path / "ledger.sqlite"
    once = released_by(Ledger, path).epsilon(1e-5)
    twice = released_by(Ledger, path)
    assert len(twice) == 6
    assert twice.run() == Sequence((Repeat(Gaussian(4.0), 6),))
    assert twice.epsilon(1e-5).lower > once.upper


def test_ids_without_a_run_would_be_swallowed_no_longer(tmp_path):
    """The fault as planted: one run id for all starts, as ids were before. It is refused instead of swallowed."""
    path = tmp_path / "ledger.sqlite"
    released_by(lambda path: Ledger(path, run_id="always"), path)
    with pytest.raises(LedgerError, match="round-0"):
        released_by(lambda path: Ledger(path, run_id="always"), path)
    assert len(Ledger(path)) == 3


def test_a_run_is_gone_on_with_where_the_caller_says_so(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path, run_id="training-7").record(STEP, "round-0")
    resumed = Ledger(path, run_id="training-7")
    assert [resumed.record(STEP, f"round-{number}", retry=True) for number in range(3)] == [False, True, True]
    assert len(resumed) == 3
    assert [event.event_id for event in resumed.events()] == [f"training-7/round-{number}" for number in range(3)]


def test_ledgers_from_before_there_were_runs_are_read_and_added_to(tmp_path):
    path = tmp_path / "ledger.sqlite"
    old = SqliteStore(path)
    for number in range(3):
        assert old.append(f"round-{number}", to_json(STEP)) is not None
    ledger = Ledger(path)
    assert ledger.run() == Sequence((Repeat(STEP, 3),))
    assert ledger.record(STEP, "round-0")
    assert len(ledger) == 4


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: Ledger(run_id="a/b"), "run_id"),
        (lambda: Ledger(run_id=""), "run_id"),
        (lambda: Ledger(run_id=7), "run_id"),
        (lambda: Ledger().record(STEP, ""), "event_id"),
        (lambda: Ledger().record(STEP, retry=True), "event_id"),
    ],
)
def test_ids_that_are_none(call, field):
    with pytest.raises(InputError, match=field):
        call()


def test_an_empty_ledger_costs_nothing(ledger):
    assert ledger.run() is None
    assert ledger.epsilon(1e-5).upper == 0.0


def test_reading_changes_nothing(ledger):
    ledger.record(STEP)
    before = (ledger.head, len(ledger), list(ledger.events()))
    ledger.run()
    assert (ledger.head, len(ledger), list(ledger.events())) == before


def test_reopened_ledger_is_the_same(tmp_path):
    path = tmp_path / "ledger.sqlite"
    first = Ledger(path)
    for rounds in range(1, 20):
        first.record(Repeat(STEP, rounds))
    again = Ledger(path)
    assert again.run() == first.run()
    assert again.head == first.head


def test_two_writers_see_each_other(tmp_path):
    one, two = Ledger(tmp_path / "shared.sqlite"), Ledger(tmp_path / "shared.sqlite")
    for turn in range(10):
        (one, two)[turn % 2].record(STEP)
    assert len(one) == len(two) == 10
    assert one.head == two.head


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET mechanism = replace(mechanism, '1.0', '9.0') WHERE sequence = 3",
        "DELETE FROM events WHERE sequence = 3",
        "DELETE FROM events WHERE sequence = 5",
        "DELETE FROM events",
        "UPDATE head SET count = 4",
        "UPDATE head SET head = 'x'",
        "UPDATE head SET schema_version = 99",
        "DROP TABLE head",
        "UPDATE events SET sequence = sequence + 10",
        "UPDATE events SET event_id = 'other' WHERE sequence = 2",
    ],
)
def test_every_edit_is_refused(tmp_path, damage):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    for _ in range(5):
        ledger.record(STEP)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(damage)
    connection.close()
    with pytest.raises(LedgerError):
        Ledger(path)


def test_a_rewritten_chain_is_shown_by_the_noted_head(tmp_path):
    """The known limit: a consistent rewrite of ledger and note passes, and only the head noted elsewhere differs."""
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.record(STEP, "a")
    noted = ledger.head
    quieter = to_json(Gaussian(100.0))
    forged = chained("0" * 64, next(ledger.events()).event_id, quieter)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE events SET hash = ?, mechanism = ?", (forged, quieter))
        connection.execute("UPDATE head SET head = ?", (forged,))
    connection.close()
    with pytest.raises(LedgerError, match="noted"):
        Ledger(path)
    path.with_name(path.name + NOTE).unlink()
    assert Ledger(path).head != noted


@pytest.mark.parametrize("cut", [0.0, 0.001, 0.3, 0.6, 0.99])
def test_truncated_files_are_refused(tmp_path, cut):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    for _ in range(200):
        ledger.record(STEP)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(LedgerError):
        Ledger(path)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("this is no database, however long it may be " * 100)
    with pytest.raises(LedgerError, match="text"):
        Ledger(tmp_path / "text")
    with pytest.raises(InputError, match="directory"):
        Ledger(tmp_path)
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    with connection:
        connection.execute("CREATE TABLE something (x)")
    connection.close()
    with pytest.raises(LedgerError, match="no dpcert ledger"):
        Ledger(tmp_path / "other.sqlite")


def _record_until_killed(path, acknowledged: int) -> None:
    """In a child process: record events for ever, acknowledging each on a pipe after `record` returned."""
    ledger = Ledger(path)
    while True:
        ledger.record(STEP)
        os.write(acknowledged, b".")


def _killed_run(path, after: int, started: bool) -> int:
    """Kill a recording process after so many steps of ours since its fork, or its first acknowledgement (`started`).

    Returns how many events it had acknowledged.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            _record_until_killed(path, write)
        finally:
            os._exit(1)
    os.close(write)
    if started:
        select.select([read], [], [])
    for _ in range(after):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    acknowledged = 0
    while chunk := os.read(read, 65536):
        acknowledged += len(chunk)
    os.close(read)
    return acknowledged


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_kill_at_any_moment_never_undercounts(tmp_path):
    """40 real kills at random moments, one ledger: every acknowledged event is there, at most one more a kill."""
    path = tmp_path / "ledger.sqlite"
    moments = random.Random(20261121)
    acknowledged = 0
    for kills in range(1, 41):
        acknowledged += _killed_run(path, moments.randrange(500_000), started=kills % 2 == 0)
        if kills % 20 == 0:
            assert acknowledged <= len(Ledger(path)) <= acknowledged + kills
    assert acknowledged >= 20  # one for each kill that waited for it; how many more is the machine's speed


def test_the_kill_test_can_fail(tmp_path):
    """A store that acknowledges before it commits is caught by the same count."""

    class Careless(SqliteStore):
        def append(self, event_id, mechanism):
            return Event(event_id, mechanism, "never written")

    ledger = Ledger(Careless(tmp_path / "ledger.sqlite"))
    ledger.record(STEP)
    acknowledged = 1
    assert not acknowledged <= len(Ledger(tmp_path / "ledger.sqlite"))
