"""A run's state on disk: killed at any moment it resumes to the bit, and never forgets privacy that was spent.

`commit` writes the new state to a temporary file, forces it to disk and renames it, which is the moment at which the
round counts as done; then changed personal vectors are copied from the state's own redo log into the file that holds
them all. What was spent is recorded before (spent.py, paid_round.py), and every state says after which releases it was
made: a folder whose record lacks one of them is refused, and rounds that are recorded beyond the state are told.

The folder holds the seed and the personal models: it is readable by its owner only, and as secret as the data.
"""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ...accounting.ledger.store import synced
from ...mechanisms import InputError
from .processes import Processes
from .spent import OLD, Mark, SpentRecord, entries_of_0_2_0

ABOUT, RECORD = "run.json", "spent.sqlite"
BEGUN = (RECORD, "run.tmp")
"""How the names begin of what `create` may have made when it was cut short."""

Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.floating]]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """After `rounds` rounds. arrays: the shared state and whatever else is an array; notes: JSON."""

    rounds: int
    arrays: dict[str, npt.NDArray[Any]]
    notes: dict[str, Any]


class LostRounds(UserWarning):
    """A checkpoint's state is older than its record of what was spent."""


class Checkpoint:
    """The folder of one run. identity: a description of the run; the folder of another run is refused.

    releases_in: whether a round releases anything. record: what was spent; a new run's is in memory until `create`.
    Raises InputError, naming the file, for a folder that is another run's, or from which something is missing that
    privacy rests on. Warns, by LostRounds, where rounds that were paid for are to be run again.
    """

    def __init__(
        self,
        folder: str | Path,
        identity: str,
        seed: int | None,
        processes: Processes,
        releases_in: Callable[[int], bool],
    ) -> None:
        self.folder = Path(folder)
        self.processes = processes
        self.personal_file = self.folder / "personal.bin"
        self._about, self._spent, self._old = (self.folder / name for name in (ABOUT, RECORD, OLD))
        self._identity = identity
        known = self._about.exists()
        if not known and not self._is_new():
            raise InputError("checkpoint", str(self.folder), "an empty folder or one of this run")
        about = self._described(seed) if known else {}
        self.record = self._recorded("spent" in about) if known else SpentRecord.in_memory()
        self._saved = self._read_state() if known else (None, [])
        if known:
            self._require_paid(self._saved[0], releases_in)
        self.processes.barrier()
        self.seed = int(about["seed"]) if known else self.processes.agree_on_seed(seed)

    def _is_new(self) -> bool:
        """Whether nothing was ever released from here: `create` makes the record first, and what describes the run
        last."""
        if not self.folder.exists():
            return True
        if not self.folder.is_dir() or any(not file.name.startswith(BEGUN) for file in self.folder.iterdir()):
            return False
        return not self._spent.exists() or not SpentRecord.at(self._spent, self.processes).entries

    def _described(self, seed: int | None) -> dict[str, str]:
        """What run.json says: the run's identity and seed, and where what was spent is recorded."""
        try:
            about: dict[str, str] = json.loads(self._about.read_text())
            stored, known_seed = about["identity"], int(about["seed"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("checkpoint", str(self._about), f"a readable {ABOUT}") from error
        if stored != self._identity or (seed is not None and seed != known_seed):
            raise InputError("checkpoint", str(self.folder), "the folder of this run: it belongs to another one")
        return about

    def _recorded(self, is_told: bool) -> SpentRecord:
        """What was spent. is_told: whether run.json tells of a record; in a folder of 0.2.0 it does not."""
        kept = SpentRecord.at(self._spent, self.processes) if self._spent.exists() else None
        if is_told and kept is None:
            raise self._lacks(f"{RECORD} is missing")
        if not self._old.exists():
            return kept or SpentRecord.in_memory()
        record = SpentRecord.in_memory()
        record.extend(entries_of_0_2_0(self._old))
        if kept is None or record.holds(kept.mark):  # `create` was cut short, if it was begun at all
            return record
        if kept.holds(record.mark):
            return kept
        raise self._lacks(f"{OLD} and {RECORD} contradict each other")

    def _require_paid(self, state: State | None, releases_in: Callable[[int], bool]) -> None:
        """Whether the record has everything that the state was made after; what it has beyond that is told."""
        done = 0 if state is None else state.rounds
        mark = None if state is None else state.notes.get("spent")
        unpaid = [number for number in range(done) if releases_in(number) and self.record.latest(number) is None]
        if unpaid:
            raise self._lacks(f"{RECORD} lacks the release of round {unpaid[0]}, after which the state was saved")
        if mark is not None and not self.record.holds(Mark(*mark)):
            raise self._lacks(f"{RECORD} lacks releases after which the state was saved")
        beyond = {entry.round for entry in self.record.entries if entry.round > done}
        if beyond and self.processes.rank == 0:
            text = (
                f"{self.folder} has lost its state after {done} rounds; releases up to round {max(beyond)} were paid "
                "for. These rounds run again: a release that comes out the same costs nothing, any other is charged"
            )
            warnings.warn(text, LostRounds, stacklevel=2)

    def _lacks(self, problem: str) -> InputError:
        expected = f"everything that this run has spent; {problem}. Put the right file back, or begin in a new folder"
        return InputError("checkpoint", str(self.folder), expected)

    def create(self) -> None:
        """Make the folder of a new run; move the record of one of 0.2.0 to where it is kept now."""
        self.processes.barrier()
        if self.processes.rank == 0:
            try:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise InputError("checkpoint", str(self.folder), f"a folder that can be made ({error})") from error
            there = SpentRecord.at(self._spent, self.processes)
            there.extend(self.record.entries)
            self.record = there
            about = {"identity": self._identity, "seed": str(self.seed), "spent": RECORD}
            if not self._about.exists() or self._old.exists():
                replaced(self._about, lambda handle: handle.write(json.dumps(about).encode()))
            self._old.unlink(missing_ok=True)
            synced(self.folder)
            synced(self.folder.parent)
        self.processes.barrier()

    def commit(self, state: State, rows: list[Rows]) -> None:
        """The round is done: the state, with this process's changed personal vectors beside it."""
        _write_arrays(self._rows_file(state.rounds, self.processes.rank), _stacked(rows))
        self.processes.barrier()
        if self.processes.rank == 0:
            personal = self.personal_file.stat().st_size if self.personal_file.exists() else 0
            beside = {"processes": self.processes.size, "spent": self.record.mark, "personal": personal}
            notes = json.dumps(state.notes | beside).encode()
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
        """The last committed state and the personal vectors to copy again; (None, []) for a new run. Once."""
        saved, self._saved = self._saved, (None, [])
        return saved

    def _read_state(self) -> tuple[State | None, list[Rows]]:
        files = sorted(self.folder.glob("state-*.npz"), key=_number)
        if not files:
            return None, []
        rounds = _number(files[-1])
        arrays = _read_arrays(files[-1])
        notes = json.loads(arrays.pop("notes").tobytes())
        rows = [_read_arrays(self._rows_file(rounds, rank)) for rank in range(notes["processes"])]
        least = notes.get("personal", 0)
        if least and (not self.personal_file.exists() or self.personal_file.stat().st_size < least):
            raise InputError("checkpoint", str(self.personal_file), "all personal models: the file is missing or cut")
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
    replaced(file, lambda handle: np.savez(handle, **arrays))  # type: ignore[arg-type]


def replaced(file: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file whole, on disk, or not at all."""
    temporary = file.with_suffix(".tmp")
    with temporary.open("wb") as handle:
        write(handle)
        handle.flush()
        os.fsync(handle.fileno())
    temporary.replace(file)
    synced(file.parent)
