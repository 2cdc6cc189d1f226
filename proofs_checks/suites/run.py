"""Runs the audits of a manifest, several at once, each in a process of its own: a crash costs one row."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ...mechanisms.digits import rounded_down
from ...mechanisms.notebook import InNotebook
from ...version import __version__
from ..auditing.attack import attack
from ..auditing.calling import MechanismError, shortened
from .manifest import Entry, Manifest, read

REFUTED, NOT_REFUTED, NOTHING, FAILED = "refuted", "not refuted", "nothing checked", "failed"
Steps = Callable[[int, int | None, str], None]


@dataclass(frozen=True)
class Row:
    """One mechanism: the verdict, epsilon's lower bound at the claim's (smallest) delta, and a sentence on why.

    calls: of the pair that shows most. seconds: of all pairs.
    """

    name: str
    claim: str
    verdict: str
    bound: float
    calls: int
    seconds: float
    text: str
    warnings: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class SuiteResult(InNotebook):
    """alpha: the probability that any row refutes something true."""

    library: str
    version: str
    alpha: float
    rows: tuple[Row, ...]
    manifest: str = ""

    @property
    def refuted(self) -> bool:
        return any(row.verdict == REFUTED for row in self.rows)

    @property
    def all_checked(self) -> bool:
        """Whether every mechanism was compared on some pair."""
        return all(row.verdict in (REFUTED, NOT_REFUTED) for row in self.rows)

    def to_json(self) -> dict[str, object]:
        return {
            "manifest": self.manifest,
            "library": self.library,
            "version": self.version,
            "alpha": self.alpha,
            "mechanisms": [{key: value for key, value in asdict(row).items() if key != "key"} for row in self.rows],
        }

    def __str__(self) -> str:
        head = ("mechanism", "claim", "verdict", "epsilon at least", "calls per pair", "seconds")
        cells = [
            (row.name, row.claim, row.verdict, str(rounded_down(row.bound, 4)), str(row.calls), f"{row.seconds:.1f}")
            for row in self.rows
        ]
        widths = [max(len(line[column]) for line in [head, *cells]) for column in range(len(head))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in [head, *cells]
        ]
        notes = [f"{row.name}: {row.text}" for row in self.rows if row.text]
        notes += [f"warning: {told}" for row in self.rows for told in row.warnings]
        found = Counter(row.verdict for row in self.rows)
        total = ", ".join(f"{number} {verdict}" for verdict, number in found.items())
        title = f"{self.library} {self.version}: {total} (error probability of the whole table {self.alpha:g})"
        return "\n".join([title, *(line.rstrip() for line in lines), *notes])


def run_suite(
    manifest: Manifest,
    *,
    jobs: int = 1,
    kept: Path | None = None,
    only: Sequence[str] = (),
    progress: Steps | None = None,
) -> SuiteResult:
    """The rows of all mechanisms (of `only` these names), in the manifest's order.

    kept: a file of finished rows, one JSON line each: those of the same entry, version and error are not run again.
    Raises InputError for a library that is not installed. Ctrl-C leaves the finished rows in the file.
    """
    installed = manifest.installed
    entries = [entry for entry in manifest.entries if not only or entry.name in only]
    alpha = manifest.alpha / len(manifest.entries)
    keys = {entry.name: key_of(entry, installed, alpha) for entry in entries}
    rows = {row.name: row for row in _finished(kept) if row.key == keys.get(row.name)}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_in_a_process, manifest, entry): entry for entry in entries if entry.name not in rows}
        try:
            for job in as_completed(waiting):
                row = replace(job.result(), key=keys[waiting[job].name])
                rows[row.name] = row
                if row.verdict != FAILED:  # what failed is tried again: a library was not there, say
                    _keep(kept, row)
                if progress is not None:
                    progress(len(rows), len(entries), row.name)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return SuiteResult(manifest.library, installed, manifest.alpha, tuple(rows[entry.name] for entry in entries))


def key_of(entry: Entry, installed: str, alpha: float) -> str:
    """Another one wherever a row may come out otherwise."""
    return hashlib.sha256(f"{entry!r} {installed} {alpha!r} dpcert {__version__}".encode()).hexdigest()[:16]


def row_of(entry: Entry, alpha: float) -> Row:
    """The audit of one mechanism, here."""
    delta, started = min(entry.claimed.deltas), time.perf_counter()
    try:
        result = attack(
            entry.target(),
            entry.claimed,
            delta=delta,
            trials=entry.trials,
            alpha=alpha,
            max_seconds=entry.max_seconds,
            method=entry.method,
        )
    except MechanismError as problem:
        return Row(entry.name, entry.claimed.text, FAILED, 0.0, 0, 0.0, str(problem))
    text = result.unchecked
    if result.refuted and result.witness is not None:
        text = " ".join(filter(None, [result.witness.sentence, result.witness.once]))
    verdict = REFUTED if result.refuted else NOTHING if result.unchecked else NOT_REFUTED
    return Row(
        entry.name, entry.claimed.text, verdict, result.epsilon_lower(delta), result.trials,
        time.perf_counter() - started, text,
        result.warnings, result.generators, result.tried,
    )  # fmt: skip


def _in_a_process(manifest: Manifest, entry: Entry) -> Row:
    command = [sys.executable, "-m", __package__ + ".worker", str(manifest.file.resolve()), entry.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return _row(done.stdout.splitlines()[-1])
    said = shortened((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return Row(entry.name, entry.claimed.text, FAILED, 0.0, 0, 0.0, f"The process that ran it ended: {said}")


def in_this_process(file: str, name: str) -> str:
    """What a worker prints: the row as a JSON line."""
    manifest = read(Path(file))
    entry = next(entry for entry in manifest.entries if entry.name == name)
    return json.dumps(asdict(row_of(entry, manifest.alpha / len(manifest.entries))))


def _row(line: str) -> Row:
    told = json.loads(line)
    lists = {key: tuple(told[key]) for key in ("warnings", "generators", "tried")}
    return Row(**{**told, **lists})


def _finished(kept: Path | None) -> list[Row]:
    if kept is None or not kept.exists():
        return []
    rows = []
    for line in kept.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(_row(line))
        except (ValueError, TypeError, KeyError):  # cut off where a run was ended, or of another version
            continue
    return rows


def _keep(kept: Path | None, row: Row) -> None:
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
