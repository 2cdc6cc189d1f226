"""What a ledger says was spent, whatever became of its file: never less than what was acknowledged, or a LedgerError.

The truth is counted apart from the ledger: so many Gaussian rounds of noise 4, whose epsilon mpmath finds from the
closed form of their profile.
"""

import multiprocessing
import shutil
import sqlite3
import time
import uuid
from contextlib import closing
from types import SimpleNamespace

import pytest
from mpmath import mp, mpf, ncdf

from dpcert.accounting.ledger import Ledger, LedgerError
from dpcert.accounting.ledger.store import NOTE, SqliteStore, _create
from dpcert.mechanisms import Gaussian

STEP, DELTA = Gaussian(4.0), 1e-5


def spent(rounds):
    """Of so many rounds, at DELTA: a number below it by less than 1e-12."""
    with mp.workdps(30):
        mu, low, high = mp.sqrt(rounds) / 4, mpf(0), mpf(50)
        while high - low > mpf("1e-12"):
            epsilon = (low + high) / 2
            over = ncdf(mu / 2 - epsilon / mu) - mp.e**epsilon * ncdf(-mu / 2 - epsilon / mu) > mpf(DELTA)
            low, high = (epsilon, high) if over else (low, epsilon)
        return low


def total(path, rounds):
    """The printed total of a ledger that acknowledged so many rounds is no less than they cost, both ways to ask."""
    ledger = Ledger(path)
    readings = ledger.epsilon(DELTA), ledger.running_epsilon(DELTA)
    return all(reading.upper >= spent(rounds) for reading in readings)


def write(path, events):
    ledger = Ledger(path)
    for _ in range(events):
        ledger.record(STEP)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.sqlite"
    write(path, 6)
    return path


def test_the_total_is_that_of_all_rounds_and_no_more(path):
    assert total(path, 6)
    assert Ledger(path).epsilon(DELTA).upper <= spent(6) * (1 + 1e-6)
    assert not total(path, 7)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_two_writers_at_once(path):
    writers = [multiprocessing.get_context("fork").Process(target=write, args=(path, 15)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(Ledger(path)) == 36
    assert total(path, 36)


def taking_turns(path):
    """What the first of two writers says after six more rounds of both."""
    writers = Ledger(path), Ledger(path)
    for turn in range(6):
        writers[turn % 2].record(STEP)
    return writers[0].epsilon(DELTA).upper


def test_a_writer_who_does_not_look_at_the_others_is_caught(path, monkeypatch):
    """The plant."""
    assert taking_turns(path) >= spent(12)
    look = Ledger._refresh
    monkeypatch.setattr(Ledger, "_refresh", lambda self: self._known if self._known.events else look(self))
    assert taking_turns(path) < spent(18)


def test_a_restart_goes_on(path):
    open_before = Ledger(path)
    write(path, 3)
    assert total(path, 9)
    assert open_before.epsilon(DELTA) == Ledger(path).epsilon(DELTA)


def script(path, **run):
    """A training loop that names its rounds, and cannot tell whether a crash came before or after the last one."""
    ledger = Ledger(path, **run)
    for number in range(4):
        ledger.record(STEP, f"round-{number}", retry=True)


def test_a_script_that_is_started_again_adds_to_the_total(path):
    """Planted: both times it is the same run, and the rounds of the second are taken for repetitions."""
    script(path)
    script(path)
    assert total(path, 14)
    script(path, run_id="run")
    script(path, run_id="run")
    assert not total(path, 22)


def test_a_copy_of_the_file_alone_misses_nothing(path, tmp_path):
    """Also while somebody else has it open, whom a write-ahead log would wait for."""
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT 1")
        write(path, 2)
        shutil.copy(path, tmp_path / "copy.sqlite")
    assert total(tmp_path / "copy.sqlite", 8)


def test_a_copy_without_the_log_of_an_old_ledger_would_miss_some(path, tmp_path):
    """The plant: what is acknowledged is in a second file."""
    holder = with_a_log(path)
    shutil.copy(path, tmp_path / "copy.sqlite")
    holder.close()
    assert not total(tmp_path / "copy.sqlite", 10)


def older_copy_put_back(path):
    shutil.copy(path, path.with_suffix(".old"))
    write(path, 4)
    shutil.copy(path.with_suffix(".old"), path)


@pytest.mark.parametrize("goes_on", [False, True])
def test_an_older_copy_that_is_put_back_is_refused(path, goes_on):
    shutil.copy(path, path.with_suffix(".old"))
    before = Ledger(path)
    write(path, 4)
    assert len(before) == 10
    shutil.copy(path.with_suffix(".old"), path)
    with pytest.raises(LedgerError, match="older copy"):
        Ledger(path)
    if goes_on:
        with pytest.raises(LedgerError):
            before.epsilon(DELTA)


def writes_on_after_an_older_copy(path, keeps_note):
    """What a writer, who has the file open, records after an older copy was put back: nothing, or a LedgerError."""
    writer, note = Ledger(path), path.with_name(path.name + NOTE)
    shutil.copy(path, path.with_suffix(".old"))
    for _ in range(4):
        writer.record(Gaussian(5.0))
    shutil.copy(path.with_suffix(".old"), path)
    if not keeps_note:
        note.unlink()
    return writer.record(Gaussian(5.0))


@pytest.mark.parametrize("keeps_note", [True, False])
def test_a_writer_notices_an_older_copy_that_is_put_back(path, keeps_note):
    """It recorded, said so, and noted the older copy's number of events as the right one."""
    with pytest.raises(LedgerError, match="older copy"):
        writes_on_after_an_older_copy(path, keeps_note)
    if keeps_note:
        with pytest.raises(LedgerError, match="older copy"):
            Ledger(path)


def test_without_looking_before_it_writes_it_would_go_on(path, monkeypatch):
    """The plant."""
    monkeypatch.setattr(SqliteStore, "_not_older", lambda *_: None)
    assert writes_on_after_an_older_copy(path, keeps_note=True)
    monkeypatch.undo()
    assert not total(path, 10)


def test_a_symbolic_link_s_writer_notes_beside_the_file(path, tmp_path):
    """Once its note was beside the link, and who opened the file itself believed an older copy."""
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    shutil.copy(path, path.with_suffix(".old"))
    write(link, 4)
    shutil.copy(path.with_suffix(".old"), path)
    for name in (path, link):
        with pytest.raises(LedgerError, match="older copy"):
            Ledger(name)


def test_an_empty_ledger_put_back_is_noticed_by_who_has_it_open(path):
    before = Ledger(path)
    for file in (path, path.with_name(path.name + NOTE)):
        file.unlink()
    _create(path)
    with pytest.raises(LedgerError, match="replaced"):
        before.epsilon(DELTA)


def test_without_the_note_an_older_copy_would_be_believed(path, monkeypatch):
    """The plant."""
    monkeypatch.setattr(SqliteStore, "_not_older", lambda *_: None)
    older_copy_put_back(path)
    assert not total(path, 10)


def with_a_log(path):
    """A ledger of 0.1.0: in the mode with a write-ahead log, as whoever has it open keeps it there."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    holder = sqlite3.connect(path)
    holder.execute("SELECT * FROM head").fetchall()
    write(path, 4)
    return holder


def cut_log(path, folder, share):
    """A copy of such a ledger, of whose log only a share is there."""
    holder = with_a_log(path)
    log = path.with_name(path.name + "-wal")
    content = log.read_bytes()
    cut = folder / "cut" / path.name
    cut.parent.mkdir()
    for file in (path, path.with_name(path.name + NOTE)):
        shutil.copy(file, cut.with_name(file.name))
    cut.with_name(log.name).write_bytes(content[: int(share * len(content))])
    holder.close()
    return cut


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.95])
def test_a_cut_log_of_an_old_ledger_is_refused(path, tmp_path, share):
    cut = cut_log(path, tmp_path, share)
    with pytest.raises(LedgerError, match="cut"):
        Ledger(cut)
    assert total(path, 10)


def test_without_the_note_a_cut_log_would_be_believed(path, tmp_path, monkeypatch):
    """The plant."""
    monkeypatch.setattr(SqliteStore, "_not_older", lambda *_: None)
    assert not total(cut_log(path, tmp_path, 0.3), 10)


def test_a_whole_log_of_an_old_ledger_is_read_and_is_the_last(path):
    with_a_log(path).close()
    assert total(path, 10)
    write(path, 1)
    assert not path.with_name(path.name + "-wal").exists()
    assert total(path, 11)


def test_a_clock_that_is_set_back_changes_nothing(path, monkeypatch):
    """Planted: releases are named by the time, and one of the same name is a repetition."""
    for name in ("time", "time_ns", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: 0)
    write(path, 2)
    assert total(path, 8)
    monkeypatch.setattr(uuid, "uuid4", lambda: SimpleNamespace(hex=str(time.time())))
    with pytest.raises(LedgerError, match="recorded already"):
        write(path, 2)
    assert not total(path, 10)


def test_a_note_that_lags_behind_or_is_missing_is_no_fault(path):
    note = path.with_name(path.name + NOTE)
    lagging = note.read_text("utf-8")
    write(path, 2)
    note.write_text(lagging, "utf-8")
    assert total(path, 8)
    note.unlink()
    assert total(path, 8)


def test_a_note_of_another_ledger_is_refused(path, tmp_path):
    write(tmp_path / "other.sqlite", 3)
    shutil.copy(tmp_path / f"other.sqlite{NOTE}", path.with_name(path.name + NOTE))
    with pytest.raises(LedgerError, match="noted"):
        Ledger(path)
