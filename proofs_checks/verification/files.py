"""Many claim files: which there are, and a verdict on each, in several processes and from what was kept."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...accounting.cohorts.bracket_store import kept_in
from ...mechanisms import InputError
from ...mechanisms.paths import files_below
from ...mechanisms.tables.file import read_stream
from ...mechanisms.workers import noted_interrupts, pool
from ..certificates.certificate import told_apart
from ..claims.claim import load_claim, parse_claim
from . import kept
from .verdict import Verification
from .verdicts import NotJudged, Verdicts
from .verify import verify as verify_claim

STDIN = "-"
"""The name under which a claim is read from standard input."""

_LOOK_UP = 0.1
"""How often Ctrl-C is looked for, in seconds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every claim. cache: the folder of verdicts that were reached before, and of brackets of hidden
    cohorts beside them. rtol: of its interval."""

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
        found = sorted(files_below("CLAIM.toml", path, (".toml",)))
        if not found:
            raise InputError("CLAIM.toml", str(path), "a folder with claim files (*.toml) in it")
        yield from found


def verify_files(
    paths: list[Path], asked: Asked, jobs: int = 1, progress: Callable[[int, int, str], None] | None = None
) -> Verdicts:
    """The verdicts, in the order of the files, and what could not be judged.

    jobs: processes. progress: called with how many files are done, of how many, and the name of the last one.
    """
    names = _certificate_names(paths)
    found: dict[int, Verification | InputError] = {}
    alone = [number for number, path in enumerate(paths) if jobs == 1 or str(path) == STDIN]

    def tell(number: int) -> None:
        if progress is not None:
            progress(len(found), len(paths), paths[number].name)

    workers = pool(min(jobs, len(paths)) if len(alone) < len(paths) else 0)
    cohorts = kept_in(None if asked.cache is None else asked.cache / "cohorts")
    with cohorts, workers as executor, suppress(KeyboardInterrupt):  # what is known is told; what is not, too
        for number in alone:
            tell(number)
            found[number] = verdict_on(paths[number], asked, names.get(paths[number]))
        if executor is not None:
            others = {number: path for number, path in enumerate(paths) if number not in alone}
            submitted = {number: (path, asked, names.get(path)) for number, path in others.items()}
            for number, done in _in_processes(executor, submitted):
                found[number] = _result(done, paths[number])
                tell(number)
    for number in set(range(len(paths))) - set(found):
        told = f"{paths[number]} was not judged: it was interrupted before."
        found[number] = NotJudged("file", str(paths[number]), "to be judged", told)
    outcomes = [(str(paths[number]), outcome) for number, outcome in sorted(found.items())]
    return Verdicts(
        tuple(outcome for _, outcome in outcomes if isinstance(outcome, Verification)),
        tuple((file, outcome) for file, outcome in outcomes if isinstance(outcome, InputError)),
    )


def _in_processes(
    executor: Executor, claims: Mapping[int, tuple[Path, Asked, str | None]]
) -> Iterator[tuple[int, Future[Verification | InputError]]]:
    """Those that are done, as they come, until all are or Ctrl-C is pressed."""
    with noted_interrupts() as pressed:
        pending = {executor.submit(verdict_on, *about): number for number, about in claims.items()}
        while pending and not pressed():
            for done in wait(pending, timeout=_LOOK_UP, return_when=FIRST_COMPLETED).done:
                yield pending.pop(done), done


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
    except Exception as bug:  # BrokenProcessPool, or a verdict that did not come back: the others have theirs
        return _unjudged(path, bug)


def _finished(found: Verification, asked: Asked) -> Verification:
    if not asked.with_audit:
        return found
    from .implementation import audited

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


def _whole(path: Path) -> str:
    """The path from the root; as it is named where it cannot be a path, which reading it says."""
    try:
        return str(path.resolve())
    except (ValueError, OSError):
        return str(path)


def _certificate_names(paths: list[Path]) -> dict[Path, str]:
    """Names for the certificates of files of one name in several folders; all others name themselves."""
    folders: dict[str, set[str]] = {}
    for path in paths:
        folders.setdefault(path.stem, set()).add(_whole(path))
    doubled = [path for path in paths if len(folders[path.stem]) > 1]
    return {path: f"{path.stem}-{told_apart(_whole(path))}" for path in doubled}
