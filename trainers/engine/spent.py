"""What a run has spent, in the ledger's store: every release, on disk, before anybody sees it.

An event's id is the round and the attempt at it, its text the release's digest; what a release costs follows from the
run's settings (privacy.py). The store is a hash chain that survives power cuts and notices what was cut, changed or put
back (accounting/ledger/store.py); a saved state names the last release that it was made after (`Mark`), so that a
record which lacks one is noticed too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...accounting.ledger.store import GENESIS, LedgerError, MemoryStore, SqliteStore, Store, chained
from ...mechanisms import InputError
from .processes import Processes

OLD = "spent.jsonl"
"""Where 0.2.0 kept it: one JSON object for each release, a line each."""


def digest_of(*arrays: npt.NDArray[Any]) -> str:
    """A digest of a release."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Spent:
    """One release: its round, which attempt at the round it was, and the release's digest."""

    round: int
    attempt: int
    digest: str


class Mark(NamedTuple):
    """A place in a record: so many releases, and the hash of the last of them."""

    releases: int
    head: str


class SpentRecord:
    """The releases of a run, in order. Raises InputError, naming the file, for a store that cannot be trusted.

    Only the first of several processes writes. A run without a checkpoint keeps its record in memory.
    """

    def __init__(self, store: Store, processes: Processes, file: Path | None = None) -> None:
        self._store, self._processes, self._file = store, processes, file
        self.entries: list[Spent] = []
        self._heads = [GENESIS]
        self._latest: dict[int, Spent] = {}
        try:
            for event in store.since(0):
                self._take(_entry(event.event_id, event.mechanism))
        except (LedgerError, ValueError) as problem:
            raise self._refused(problem) from problem

    @classmethod
    def in_memory(cls) -> SpentRecord:
        """A new record, for a run that nothing resumes."""
        return cls(MemoryStore(), Processes())

    @classmethod
    def at(cls, file: Path, processes: Processes) -> SpentRecord:
        """The record in a file, which is made if it is not there."""
        try:
            store = SqliteStore(file)
        except LedgerError as problem:
            raise InputError("checkpoint", str(file), f"a whole record of what was spent ({problem})") from problem
        return cls(store, processes, file)

    @property
    def mark(self) -> Mark:
        """Where the record is now."""
        return Mark(len(self.entries), self._heads[-1])

    def holds(self, mark: Mark) -> bool:
        """Whether everything up to the mark is in the record."""
        return mark.releases < len(self._heads) and self._heads[mark.releases] == mark.head

    def latest(self, round_index: int) -> Spent | None:
        """The last attempt at a round that was paid for."""
        return self._latest.get(round_index)

    def spend(self, entry: Spent) -> None:
        """Record a release, durably, before it is published. Raises InputError where another run writes here, too."""
        self._record(entry)
        self._processes.barrier()

    def extend(self, entries: list[Spent]) -> None:
        """Record those of another record of the same run that are not here yet; by the first process alone."""
        for entry in entries[len(self.entries) :]:
            self._record(entry)

    def _record(self, entry: Spent) -> None:
        if self._processes.rank == 0:
            try:
                self._store.append(f"{entry.round}/{entry.attempt}", entry.digest, after=self._heads[-1])
            except LedgerError as problem:
                raise self._refused(problem) from problem
        self._take(entry)

    def _take(self, entry: Spent) -> None:
        """Count a release; its hash follows from it, so that no process has to read what another one wrote."""
        self._heads.append(chained(self._heads[-1], f"{entry.round}/{entry.attempt}", entry.digest))
        self.entries.append(entry)
        self._latest[entry.round] = entry

    def _refused(self, problem: Exception) -> InputError:
        return InputError("checkpoint", str(self._file), f"a whole record of what was spent ({problem})")


def entries_of_0_2_0(old: Path) -> list[Spent]:
    """Its releases. A last line without its end was never forced to disk, so that its release never happened."""
    content = old.read_bytes()
    try:
        return list(_lines(content[: content.rfind(b"\n") + 1]))
    except (ValueError, TypeError) as error:
        raise InputError("checkpoint", str(old), "a readable journal") from error


def _lines(whole: bytes) -> Iterator[Spent]:
    for line in whole.splitlines():
        yield Spent(**json.loads(line))


def _entry(name: str, digest: str) -> Spent:
    round_index, attempt = map(int, name.split("/"))
    return Spent(round_index, attempt, digest)
