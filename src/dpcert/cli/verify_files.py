"""Many claim files: which there are, and a verdict on each, in several processes and from what was kept."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..mechanisms import InputError
from ..mechanisms.tables.file import read_stream
from ..proofs_checks.certificates.certificate import told_apart
from ..proofs_checks.claims.claim import load_claim, parse_claim
from ..proofs_checks.verification import kept
from ..proofs_checks.verification.verdict import Verification
from ..proofs_checks.verification.verify import verify as verify_claim
from .output import complain
from .workers import pool

STDIN = "-"
"""The name under which a claim is read from standard input."""

Problems = list[tuple[str, InputError]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every claim. cache: the folder of verdicts that were reached before. rtol: of its interval."""

    certificates: Path | None = None
    with_audit: bool = False
    cache: Path | None = None
    rtol: float | None = None


def claim_files(named: list[Path]) -> list[Path]:
    """The files named, and those of folders and their folders, by name: all that end in .toml."""
    return list(_found(named))


def _found(named: list[Path]) -> Iterator[Path]:
    for path in named:
        if not os.path.isdir(path):  # False, and no error, for what cannot be a path: reading it says what is wrong
            yield path
            continue
        found = sorted(path.rglob("*.toml"))
        if not found:
            raise InputError("CLAIM.toml", str(path), "a folder with claim files (*.toml) in it")
        yield from found


def verify_files(paths: list[Path], asked: Asked, jobs: int = 1) -> tuple[list[Verification], Problems]:
    """The verdicts, in the order of the files, and what could not be judged; progress goes to stderr."""
    names = _certificate_names(paths)
    found: dict[int, Verification | InputError] = {}
    columns = (TextColumn("verifying"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(paths))
        alone = [number for number, path in enumerate(paths) if jobs == 1 or str(path) == STDIN]
        with pool(min(jobs, len(paths)) if len(alone) < len(paths) else 0) as executor:
            waiting = {
                executor.submit(verdict_on, path, asked, names.get(path)): number
                for number, path in enumerate(paths)
                if executor is not None and number not in alone
            }
            for number in alone:
                progress.update(task, description=paths[number].name)
                found[number] = verdict_on(paths[number], asked, names.get(paths[number]))
                progress.advance(task)
            for done in as_completed(waiting):
                path = paths[waiting[done]]
                found[waiting[done]] = _result(done, path)
                progress.update(task, description=path.name)
                progress.advance(task)
        progress.update(task, description="")
    results = [outcome for _, outcome in sorted(found.items()) if isinstance(outcome, Verification)]
    problems = [(str(paths[n]), outcome) for n, outcome in sorted(found.items()) if isinstance(outcome, InputError)]
    for file, reason in problems:
        complain(f"{file}: {reason}")
    return results, problems


def verdict_on(path: Path, asked: Asked, name: str | None) -> Verification | InputError:
    """The verdict on one file, or what is wrong with it. name: of its certificate, where its own would not do."""
    try:
        piped = str(path) == STDIN
        claim = parse_claim(read_stream(sys.stdin.buffer), file=STDIN) if piped else load_claim(path)
        place = None if piped else asked.cache
        if place is None:
            where: dict[str, Any] = {"certificates": asked.certificates, "certificate_name": name}
            return _finished(verify_claim(claim, rtol=asked.rtol, **where), asked)
        known = kept.key(path.read_bytes(), asked.rtol)
        found = kept.read(place, known, claim)
        if found is None:
            found = verify_claim(claim, rtol=asked.rtol)
            _keep(place, known, found)
        return found
    except InputError as problem:
        return problem
    except Exception as bug:  # of ours, or too little memory: it must not take the other claims' verdicts along
        return _unjudged(path, bug)


def _result(done: Future[Verification | InputError], path: Path) -> Verification | InputError:
    """What a worker found; a worker that was killed, for memory say, takes those along that were still waiting."""
    try:
        return done.result()
    except BrokenProcessPool as bug:
        return _unjudged(path, bug)


def _finished(found: Verification, asked: Asked) -> Verification:
    if not asked.with_audit:
        return found
    from ..proofs_checks.verification.implementation import audited

    return audited(found)


def _keep(place: Path, name: str, found: Verification) -> None:
    try:
        kept.write(place, name, found)
    except OSError as problem:
        raise InputError("--cache", str(place), f"a folder to write to ({problem})") from None


def _unjudged(path: Path, bug: Exception) -> InputError:
    """The error for a claim on which dpcert itself failed; the traceback goes to stderr, for a report."""
    traceback.print_exception(bug)
    reason = " ".join(f"{type(bug).__name__} {bug}".split())[:120]
    return InputError("file", str(path), f"a claim that dpcert can judge: it failed ({reason}); please report this")


def _certificate_names(paths: list[Path]) -> dict[Path, str]:
    """Names for the certificates of files of one name in several folders; all others name themselves."""
    folders: dict[str, set[Path]] = {}
    for path in paths:
        folders.setdefault(path.stem, set()).add(path.resolve())
    doubled = [path for path in paths if len(folders[path.stem]) > 1]
    return {path: f"{path.stem}-{told_apart(str(path.resolve()))}" for path in doubled}
