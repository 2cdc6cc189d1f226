"""Files and folders in, findings and unreadable files out: one bad file does not stop the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...mechanisms import InputError
from ...mechanisms.notebook import InNotebook
from ...mechanisms.paths import content, files_below
from .notebook import notebook
from .rule import Finding, Rule
from .rules import RULES, findings
from .script import Script

SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
"""Folders of other people's code, beside those whose names begin with a dot."""


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file, or a notebook's cell, that could not be read as Python, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report(InNotebook):
    """What was looked at, what was found, and what could not be read."""

    files: int
    findings: tuple[Finding, ...]
    bad: tuple[BadFile, ...]

    @property
    def slips(self) -> tuple[Finding, ...]:
        """The findings that are no notes."""
        return tuple(finding for finding in self.findings if finding.level == "warning")

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])

    @property
    def summary(self) -> str:
        """How much was found, and in how many files."""
        slips = len(self.slips)
        notes = f"; notes: {len(self.findings) - slips}" if len(self.findings) > slips else ""
        unread = f", {len(self.bad)} not read" if self.bad else ""
        return f"findings: {slips}{notes}; files: {self.files}{unread}"

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "files": self.files,
            "findings": [finding.to_json() for finding in self.findings],
            "bad_input": [{"path": file.path, "reason": file.reason} for file in self.bad],
        }


def lint(paths: Iterable[str | os.PathLike[str]], rules: Sequence[Rule] = RULES) -> Report:
    """Look for the known slips in these files, and in every *.py and *.ipynb file of these folders.

    Nothing is executed. What could not be read is in `bad`: a path that does not exist, a file that is not Python or no
    notebook, a notebook's cell that is not Python, a folder without any of them, what may not be read, a pipe.
    """
    seen: set[Path] = set()
    found: list[Finding] = []
    bad: list[BadFile] = []
    unread: list[InputError] = []
    for path in (file for given in paths for file in _scripts(Path(given), unread)):
        if path in seen:
            continue
        seen.add(path)
        try:
            read = notebook if path.suffix == ".ipynb" else Script
            script = read(str(path), content("path", path))
            found += findings(script, rules)
            bad += [BadFile(str(path), f"{path}: {sentence}") for sentence in script.unread]
        except InputError as problem:
            bad.append(BadFile(str(path), str(problem)))
    bad += [BadFile(str(problem.value), str(problem)) for problem in unread]
    return Report(len(seen), tuple(found), tuple(bad))


def _scripts(path: Path, unread: list[InputError]) -> Iterator[Path]:
    """The path itself unless it is a folder; a folder's scripts, and which of its folders could not be read. A folder
    without any is said to be one: nothing was looked at."""
    if not os.path.isdir(path):  # False, and no error, where one may not look
        yield path
        return
    before, found = len(unread), list(files_below("path", path, (".py", ".ipynb"), _is_own, unread.append))
    if not found and len(unread) == before:
        unread.append(InputError("path", str(path), "a folder with scripts (*.py) or notebooks (*.ipynb) in it"))
    yield from found


def _is_own(name: str) -> bool:
    return name not in SKIPPED and not name.startswith(".")
