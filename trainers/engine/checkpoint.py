"""A run's state on disk: killed at any moment it resumes to the bit, and never forgets privacy that was spent.

Order of a round: (1) `spend` appends the round and a digest of its release to the journal and forces it to disk;
(2) the release is published; (3) `commit` writes the new state to a temporary file, forces it to disk and renames it,
which is the moment at which the round counts as done; (4) changed personal vectors are copied from the state's own
redo log into the file that holds them all.

A round that was recorded as spent but not committed runs again with the same random streams. If the new release has
the recorded digest it is the same release, published once more at no cost. If not (another device, other arithmetic),
the same noise on two different sums would reveal their difference: the round then runs with fresh streams, and is
recorded, and charged, again.

The folder holds the seed and the personal models: it is readable by its owner only, and as secret as the data.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...accounting.ledger.store import synced
from ...mechanisms import InputError
from .processes import Processes

Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.floating]]


@dataclass(frozen=True, slots=True)
class Spent:
    """One release: its round, which attempt at the round it was, and the release's digest."""

    round: int
    attempt: int
    digest: str


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """After `rounds` rounds. arrays: the shared state and whatever else is an array; notes: JSON."""

    rounds: int
    arrays: dict[str, npt.NDArray[Any]]
    notes: dict[str, Any]


def digest_of(*arrays: npt.NDArray[Any]) -> str:
    """A digest of a release."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class Checkpoint:
    """The folder of one run. identity: a description of the run; the folder of another run is refused."""

    def __init__(self, folder: str | Path, identity: str, seed: int | None, processes: Processes) -> None:
        self.folder = Path(folder)
        self.processes = processes
        self.personal_file = self.folder / "personal.bin"
        self._journal = self.folder / "spent.jsonl"
        self.seed = self._open(identity, seed)
        self.spent = self._read_journal()

    def _open(self, identity: str, seed: int | None) -> int:
        """Check that the folder is this run's, or a new one; the run's seed."""
        self._about = self.folder / "run.json"
        self._identity = identity
        known = self._about.exists()
        if not known and self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise InputError("checkpoint", str(self.folder), "an empty folder or one of this run")
        self.processes.barrier()
        if not known:
            return self.processes.agree_on_seed(seed)
        try:
            about = json.loads(self._about.read_text())
            stored, known_seed = about["identity"], int(about["seed"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("checkpoint", str(self._about), "a readable run.json") from error
        if stored != identity or (seed is not None and seed != known_seed):
            raise InputError("checkpoint", str(self.folder), "the folder of this run: it belongs to another one")
        return known_seed

    def create(self) -> None:
        """Make the folder of a new run."""
        if self.processes.rank == 0 and not self._about.exists():
            try:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise InputError("checkpoint", str(self.folder), f"a folder that can be made ({error})") from error
            _replace(self._about, json.dumps({"identity": self._identity, "seed": str(self.seed)}).encode())
        self.processes.barrier()

    def _read_journal(self) -> list[Spent]:
        """All releases so far. A last line without its end was never forced to disk, so its release never happened."""
        if not self._journal.exists():
            return []
        content = self._journal.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        try:
            entries = [Spent(**json.loads(line)) for line in whole.splitlines()]
        except (ValueError, TypeError) as error:
            raise InputError("checkpoint", str(self._journal), "a readable journal") from error
        self.processes.barrier()
        if len(whole) < len(content) and self.processes.rank == 0:
            with self._journal.open("r+b") as handle:
                handle.truncate(len(whole))
                os.fsync(handle.fileno())
        return entries

    def spend(self, entry: Spent) -> None:
        """Record a release, on disk, before it is published."""
        if self.processes.rank == 0:
            line = json.dumps({"round": entry.round, "attempt": entry.attempt, "digest": entry.digest})
            with self._journal.open("ab") as handle:
                handle.write(line.encode() + b"\n")
                handle.flush()
                os.fsync(handle.fileno())
            synced(self.folder)
        self.spent.append(entry)
        self.processes.barrier()

    def commit(self, state: State, rows: list[Rows]) -> None:
        """The round is done: the state, with this process's changed personal vectors beside it."""
        _write_arrays(self._rows_file(state.rounds, self.processes.rank), _stacked(rows))
        self.processes.barrier()
        if self.processes.rank == 0:
            notes = json.dumps({**state.notes, "processes": self.processes.size}).encode()
            arrays = {"notes": np.frombuffer(notes, dtype=np.uint8), **state.arrays}
            _write_arrays(self._state_file(state.rounds), arrays)
        self.processes.barrier()

    def settle(self, rounds: int) -> None:
        """After the personal vectors of round `rounds` are safely in their file: older states may go."""
        self.processes.barrier()
        if self.processes.rank == 0:
            for file in [*self.folder.glob("rows-*.npz"), *self.folder.glob("state-*.npz")]:
                if _number(file) < rounds:
                    file.unlink()

    def load(self) -> tuple[State | None, list[Rows]]:
        """The last committed state and the personal vectors to copy again; (None, []) for a new run."""
        files = sorted(self.folder.glob("state-*.npz"), key=_number)
        if not files:
            return None, []
        rounds = _number(files[-1])
        arrays = _read_arrays(files[-1])
        notes = json.loads(arrays.pop("notes").tobytes())
        rows = [_read_arrays(self._rows_file(rounds, rank)) for rank in range(notes["processes"])]
        return State(rounds, arrays, notes), [(part["clients"], part["vectors"]) for part in rows if len(part)]

    def _state_file(self, rounds: int) -> Path:
        return self.folder / f"state-{rounds:08d}.npz"

    def _rows_file(self, rounds: int, rank: int) -> Path:
        return self.folder / f"rows-{rounds:08d}-{rank}.npz"


def _number(file: Path) -> int:
    return int(file.name.split("-")[1].split(".")[0])


def _stacked(rows: list[Rows]) -> dict[str, npt.NDArray[Any]]:
    if not rows:
        return {}
    return {
        "clients": np.concatenate([clients for clients, _ in rows]),
        "vectors": np.concatenate([vectors for _, vectors in rows]),
    }


def _read_arrays(file: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError("checkpoint", str(file), f"a readable file ({error})") from error


def _write_arrays(file: Path, arrays: dict[str, npt.NDArray[Any]]) -> None:
    temporary = file.with_suffix(".tmp")
    with temporary.open("wb") as handle:
        np.savez(handle, **arrays)  # type: ignore[arg-type]
        handle.flush()
        os.fsync(handle.fileno())
    temporary.replace(file)
    synced(file.parent)


def _replace(file: Path, content: bytes) -> None:
    temporary = file.with_suffix(".tmp")
    with temporary.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    temporary.replace(file)
    synced(file.parent)
