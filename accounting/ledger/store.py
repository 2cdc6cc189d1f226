"""Where a ledger's events are kept: in memory, or in one SQLite file that survives crashes and shows tampering.

Each event's hash covers the previous event's, so that a changed, removed or reordered event is detected;
the number of events and the last hash are kept in the same transaction as the event, so that a ledger with
its last events cut off is detected too. An older copy of the file, whole in itself, is detected by the head that is
noted beside it after every event (NOTE). Somebody who puts both files back, or rewrites them consistently, is detected
only by comparing the head with one noted elsewhere (`Ledger.head`).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from ...mechanisms import InputError

SCHEMA_VERSION = 1
GENESIS = "0" * 64
NOTE = ".head"
"""Ending of the file beside a ledger that says how many events it had, and the last one's hash. Written without haste
after the event is safe: it may lag behind the ledger, and is never ahead of one that has lost nothing."""


class LedgerError(RuntimeError):
    """The ledger cannot be trusted or used; the message says what is wrong and with which event.

    >>> issubclass(LedgerError, Exception)
    True
    """


class Overtaken(LedgerError):
    """Another writer recorded an event first: look again before deciding.

    >>> issubclass(Overtaken, LedgerError)  # whoever catches the ledger's errors catches it
    True
    """


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded release: a unique id, the canonical JSON of the mechanism, and the chained hash."""

    event_id: str
    mechanism: str
    hash: str


def chained(previous: str, event_id: str, mechanism: str) -> str:
    """The hash of an event, over the previous event's hash, its id and its mechanism."""
    parts = (previous, event_id, mechanism)
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


@runtime_checkable
class Store(Protocol):
    """Where events live. `append` returns only when the event is as durable as the store promises."""

    def append(self, event_id: str, mechanism: str, after: str | None = None) -> Event | None:
        """Record the event and return it; None when the same event is already there.

        after: record it only if the last event so far has this hash; else raise Overtaken, and record nothing.
        """

    def since(self, count: int) -> Iterator[Event]:
        """The events after the first `count`, in order; LedgerError when the chain is broken."""


_ONE_AT_A_TIME = threading.Lock()
"""Threads that append to a store in memory; one for all of them, so that a store can be pickled."""


class MemoryStore:
    """Events in a list, for those who need no durability.

    >>> from dpcert.accounting.ledger import Ledger
    >>> from dpcert.mechanisms import Gaussian
    >>> Ledger(MemoryStore()).record(Gaussian(4.0), event_id="round-1")
    True
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._by_id: dict[str, str] = {}

    def append(self, event_id: str, mechanism: str, after: str | None = None) -> Event | None:
        with _ONE_AT_A_TIME:
            if _already(self._by_id.get(event_id), event_id, mechanism):
                return None
            previous = self._events[-1].hash if self._events else GENESIS
            _check_after(previous, after)
            event = Event(event_id, mechanism, chained(previous, event_id, mechanism))
            self._by_id[event_id] = mechanism
            self._events.append(event)
            return event

    def since(self, count: int) -> Iterator[Event]:
        return iter(self._events[count:])


def _already(recorded: str | None, event_id: str, mechanism: str) -> bool:
    """Whether the id is taken by the very same event (a retry); LedgerError when by another."""
    if recorded is not None and recorded != mechanism:
        raise LedgerError(f"event id {event_id!r} is taken by another event: {recorded}, not {mechanism}")
    return recorded is not None


def _check_after(head: str, after: str | None) -> None:
    if after is not None and head != after:
        raise Overtaken("another event was recorded in the meantime")


class SqliteStore:
    """Events in one SQLite file: one transaction an event, synced before `append` returns, and then in that file.

    No write-ahead log: a copy of the file misses nothing that was acknowledged, and there is no second file to lose.
    What was acknowledged survives a power cut: SQLite's journal is gone from the folder, too, before `append` returns.
    Several processes may write; each sees all earlier events. Raises LedgerError for a file that is no ledger, of
    another schema version, truncated, edited, older than its note, or older than this object has seen it.

    path: of the SQLite file; it is created where it does not exist.

    >>> import tempfile
    >>> from dpcert.accounting.ledger import Ledger
    >>> from dpcert.mechanisms import Gaussian
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ledger(SqliteStore(folder + "/ledger.sqlite")).record(Gaussian(4.0), event_id="round-1")
    True
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._there = self.path.absolute()  # the same file from whatever folder the process goes on in
        real = self.path.resolve()  # one note, whichever link a writer goes by
        self._note = real.with_name(real.name + NOTE)
        self._seen = (0, GENESIS)
        if self.path.is_dir():
            raise InputError("path", str(path), "a file, not a directory")
        with self._errors():
            if not self.path.exists():
                _create(self.path)
            with self._connect() as connection:
                with suppress(sqlite3.OperationalError):  # a ledger of 0.1.0, in use just now: next time
                    connection.execute("PRAGMA journal_mode=DELETE")
                self._check(connection)

    def append(self, event_id: str, mechanism: str, after: str | None = None) -> Event | None:
        with self._errors(), self._connect() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            self._not_older(connection)
            row = connection.execute("SELECT mechanism FROM events WHERE event_id = ?", (event_id,)).fetchone()
            if _already(row[0] if row else None, event_id, mechanism):
                return None
            count, head = connection.execute("SELECT count, head FROM head").fetchone()
            _check_after(head, after)
            event = Event(event_id, mechanism, chained(head, event_id, mechanism))
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", (count + 1, event_id, mechanism, event.hash))
            connection.execute("UPDATE head SET count = ?, head = ?", (count + 1, event.hash))
        self._seen = (count + 1, event.hash)
        self._noted(*self._seen)
        return event

    def since(self, count: int) -> Iterator[Event]:
        with self._errors(), self._connect() as connection:
            connection.execute("BEGIN")  # One snapshot for head and events.
            self._not_older(connection)
            total, head = connection.execute("SELECT count, head FROM head").fetchone()
            rows = connection.execute(
                "SELECT sequence, event_id, mechanism, hash FROM events WHERE sequence >= ? ORDER BY sequence", (count,)
            ).fetchall()
            self._seen = (total, head)
        yield from _verified(rows, count, total, head)

    def _check(self, connection: sqlite3.Connection) -> None:
        damage = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if damage != "ok":  # an index that misses an event would let a retried round count twice
            raise LedgerError(f"{self.path} is damaged: {' '.join(str(damage).split())}")
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type != 'index'")}
        if not there:
            raise LedgerError(f"{self.path} is empty: cut off? Remove it to begin a new ledger")
        if there != {"events", "head"}:
            raise LedgerError(f"{self.path} is a database, but no dpcert ledger: it has {sorted(map(str, there))}")
        rows = connection.execute("SELECT schema_version FROM head").fetchall()
        if rows != [(SCHEMA_VERSION,)]:
            raise LedgerError(f"{self.path}: schema version {rows}, this dpcert reads {SCHEMA_VERSION}")

    def _noted(self, count: int, head: str) -> None:
        """Say beside the ledger what it holds now; where that fails the older note stays, which is true as well."""
        draft = self._note.with_name(f"{self._note.name}.{uuid.uuid4().hex}")
        with suppress(OSError):
            with draft.open("x", encoding="utf-8") as written:
                written.write(f"{count} {head}\n")
                written.flush()
                os.fsync(written.fileno())
            draft.replace(self._note)
            synced(self._note.parent)

    def _not_older(self, connection: sqlite3.Connection) -> None:
        """LedgerError where the ledger misses what was noted beside it, or what was seen in it before."""
        if self._note.exists():
            count, _, head = self._note.read_text("utf-8").strip().partition(" ")
            if not _holds(connection, count, head):
                raise LedgerError(
                    f"{self.path} was replaced by an older copy, or cut: it does not have event {count}, noted in "
                    f"{self._note.name}. Put the right file back; to go on without what is missing, remove the note"
                )
        if self._seen[0] and not _holds(connection, *self._seen):
            raise LedgerError(
                f"{self.path} was replaced by an older copy, or cut, while it was in use: it does not have event "
                f"{self._seen[0]} any more. Put the right file back"
            )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        there = f"{self._there.as_uri()}?mode=rw"  # a ledger that is lost is not begun anew
        with closing(sqlite3.connect(there, uri=True, timeout=60, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=EXTRA")
            yield connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError, UnicodeDecodeError) as error:  # the last: in names and in messages
            raise LedgerError(f"{self.path}: {error}") from error


def _holds(connection: sqlite3.Connection, count: object, head: str) -> bool:
    return bool(connection.execute("SELECT hash FROM events WHERE sequence = ?", (count,)).fetchone() == (head,))


def _create(path: Path) -> None:
    """A new ledger, there as a whole or not at all: an empty file is never taken for a ledger without events.

    Where several processes create the same ledger, the first wins and the others use its.
    """
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            connection.execute(
                "CREATE TABLE events (sequence INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE,"
                " mechanism TEXT NOT NULL, hash TEXT NOT NULL)"
            )
            connection.execute("CREATE TABLE head (schema_version INTEGER, count INTEGER, head TEXT)")
            connection.execute("INSERT INTO head VALUES (?, 0, ?)", (SCHEMA_VERSION, GENESIS))
            connection.execute("COMMIT")
        with suppress(FileExistsError):
            os.link(draft, path)
        synced(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def synced(folder: Path) -> None:
    """Make the names of a folder's files as durable as their contents, where the system can: Windows cannot."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _verified(rows: list[tuple[int, str, str, str]], count: int, total: int, head: str) -> Iterator[Event]:
    """The events after the first `count`, each checked against its predecessor; `rows` starts at event `count`."""
    if count and not rows:
        raise LedgerError(f"the ledger was replaced: event {count} is not in it any more")
    previous = GENESIS
    for expected, (sequence, event_id, mechanism, found) in enumerate(rows, start=max(count, 1)):
        if sequence != expected:
            raise LedgerError(f"event {expected} is missing from the ledger")
        if sequence > count or count == 0:
            if found != chained(previous, event_id, mechanism):
                raise LedgerError(f"event {sequence} ({event_id}) was changed after it was recorded")
            yield Event(event_id, mechanism, found)
        previous = found
    if (rows[-1][0] if rows else 0) != total or previous != head:
        raise LedgerError(f"the ledger says {total} events ending in {str(head)[:12]}, but other ones are there")
