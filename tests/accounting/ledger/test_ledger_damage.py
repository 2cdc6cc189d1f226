"""A ledger file with any bytes changed is either refused with a LedgerError or still says exactly what it said."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing

import pytest
from cases import many

from dpcert.accounting.ledger.ledger import Ledger
from dpcert.accounting.ledger.store import LedgerError, SqliteStore
from dpcert.mechanisms import Gaussian, Poisson

EVENTS = 30


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    for number in range(EVENTS):
        ledger.record(Poisson(Gaussian(2.0 + number % 3), 0.1), f"round-{number}")
    return path


def _changed(content: bytes, coins: random.Random) -> bytes:
    """One bit, sixteen bytes or a whole page of it."""
    length = coins.choice((0, 16, 4096))
    start = coins.randrange(len(content))
    if length == 0:
        return content[:start] + bytes([content[start] ^ 1 << coins.randrange(8)]) + content[start + 1 :]
    if length == 16:
        return content[:start] + coins.randbytes(16) + content[start + 16 :]
    start -= start % 4096
    return content[:start] + bytes(4096) + content[start + 4096 :]


def test_changed_bytes_are_refused_or_change_nothing(recorded, tmp_path):
    head, content, coins = Ledger(recorded).head, recorded.read_bytes(), random.Random(20261122)
    refused, tried = 0, many(300)
    for number in range(tried):
        path = tmp_path / f"changed-{number}.sqlite"
        path.write_bytes(_changed(content, coins))
        try:
            assert Ledger(path).head == head
        except LedgerError:
            refused += 1
    assert tried / 3 <= refused < tried


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE head SET head = NULL",
        "UPDATE head SET count = NULL",
        "DELETE FROM head",
        "UPDATE events SET mechanism = x'00ff' WHERE sequence = 3",
        "CREATE TRIGGER forget AFTER INSERT ON events BEGIN DELETE FROM events WHERE sequence = 1; END",
        "CREATE VIEW x AS SELECT 1",
    ],
)
def test_odd_contents_are_refused(recorded, damage):
    with closing(sqlite3.connect(recorded)) as connection, connection:
        connection.execute(damage)
    with pytest.raises(LedgerError):
        Ledger(recorded)


def _index_lost(path) -> None:
    """The index of event ids emptied behind SQLite's back: its root page becomes a leaf without cells."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    start = (page - 1) * size
    content[start : start + size] = bytes([10, 0, 0, 0, 0, *divmod(size, 256), 0]) + bytes(size - 8)
    path.write_bytes(content)


def test_a_lost_index_is_refused(recorded):
    _index_lost(recorded)
    with pytest.raises(LedgerError, match="damaged"):
        Ledger(recorded)


def test_unseen_a_lost_index_would_count_a_retry_twice(recorded, monkeypatch):
    """The planted fault: without the check of the whole file a retried event is recorded again."""
    monkeypatch.setattr(SqliteStore, "_check", lambda self, connection: None)
    _index_lost(recorded)
    assert SqliteStore(recorded).append("round-3", "another") is not None


def test_a_ledger_replaced_under_its_reader_is_noticed(recorded, tmp_path):
    """Rolled back to a copy that then went another way: what was seen is not what is there."""
    copy = tmp_path / "copy.sqlite"
    reader = Ledger(recorded)
    shutil.copy(recorded, copy)
    reader.record(Gaussian(1.0), "here")
    other = Ledger(copy)
    other.record(Gaussian(5.0), "there")
    other.record(Gaussian(5.0), "there again")
    shutil.copy(copy, recorded)
    with pytest.raises(LedgerError, match="replaced"):
        reader.run()
