"""Many rows judged, in several processes, and the register that comes of it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ...mechanisms.notebook import InNotebook
from ...mechanisms.text_table import NARROW, rendered, text_table, width
from ...mechanisms.validate import lacks
from .judge import EvidenceError, Judgement, judge
from .register import register
from .row import Kind, Row, Status

if TYPE_CHECKING:
    from rich.text import Text

SHARED_KINDS, MOST_TOGETHER = "dpcert.proofs_checks.papers.kinds", 8
"""Rows of the shared kinds have nothing in common but their check: so many are judged at one go."""
COSTS = {"quick": 1, "full": 6}
"""About what a row costs beside another, where it is not of the shared kinds."""


@dataclass(frozen=True, slots=True)
class Judged(InNotebook):
    """The rows that have a status, and of the others (id, why there is none). in_full: each row with its evidence."""

    judgements: tuple[Judgement, ...]
    problems: tuple[tuple[str, str], ...]
    in_full: bool = False

    @property
    def _printed(self) -> list[Judgement]:
        return [judgement for judgement in self.judgements if judgement.row.kind is Kind.PRINTED]

    @property
    def _seconds(self) -> float:
        return sum(judgement.seconds for judgement in self.judgements)

    def _counts(self) -> dict[str, int]:
        return {str(status): sum(j.status is status for j in self._printed) for status in Status}

    def __str__(self) -> str:
        """One row, or block, per statement, then a line that counts; nothing where no row has a status."""
        if not self.judgements:
            return ""
        if self.in_full:
            return "\n\n".join(map(str, self.judgements))
        printed, own = self._printed, len(self.judgements) - len(self._printed)
        parts = [f"{count} {status}" for status, count in self._counts().items() if count]
        parts += [f"{own} rows of ours"] if own else []
        parts += [f"{len(self.problems)} without a status (see the errors)"] if self.problems else []
        counted = f"{len(printed)} statements: {'; '.join(parts)}; {self._seconds:.1f} s of computation"
        if width() < NARROW:
            return "\n\n".join([*map(_block, self.judgements), rendered(counted)])
        return f"{text_table(_COLUMNS, [_row(judged) for judged in self.judgements])}\n{counted}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        printed, counts = self._printed, self._counts()
        return {
            "rows": [judgement.to_json() for judgement in self.judgements],
            "counts": counts,
            "own_rows": len(self.judgements) - len(printed),
            "without_status": [{"id": name, "reason": reason} for name, reason in self.problems],
            "seconds": self._seconds,
        }


_COLUMNS: tuple[dict[str, Any], ...] = (
    {"header": "id", "no_wrap": True},
    {"header": "statement", "ratio": 5},
    {"header": "status", "width": 14},
    {"header": "why", "ratio": 4},
    {"header": "evidence", "width": 14},
    {"header": "s", "justify": "right"},
)


STYLES = {
    Status.HOLDS: "bold green",
    Status.FALSE: "bold red",
    Status.UNBROKEN: "green",
    Status.BROKEN: "red",
    Status.OPEN: "bold magenta",
    Status.READ: "yellow",
}


def _row(judged: Judgement) -> tuple[str | Text, ...]:
    from rich.text import Text

    status = Text(str(judged.status), STYLES[judged.status]) + Text(" (vacuous)" if judged.vacuous else "")
    why = judged.why + (f" Instead: {judged.instead}" if judged.instead else "")
    return judged.row.id, judged.row.readings[0].text, status, why, judged.evidence, f"{judged.seconds:.1f}"


def _block(judged: Judgement) -> str:
    """The row of a narrow terminal: a line with the status and what it rests on, and below it the sentences, whole."""
    from rich.text import Text

    name, statement, status, why, evidence, seconds = _row(judged)
    first = Text.assemble((str(name), "bold"), "  ", status, f"; {evidence}; {seconds} s")
    sentences = (line for text in (statement, why) for line in wrap(str(text), width() - 2))
    return rendered(first, *(Text(f"  {line}") for line in sentences))


def judge_all(rows: Sequence[Row], folder: Path | None, jobs: int, progress: Callable[[int, int, str], None]) -> Judged:
    """Every row, in `jobs` processes. folder: of a paper beside those of the package. progress: as rows are done."""
    judgements: list[Judgement] = []
    problems: list[tuple[str, str]] = []
    for done, (row, outcome) in enumerate(zip(rows, _outcomes(rows, folder, min(jobs, len(rows))), strict=True), 1):
        progress(done, len(rows), row.id)
        if isinstance(outcome, str):
            problems.append((row.id, outcome))
        else:
            judgements.append(outcome)
    return Judged(tuple(judgements), tuple(problems))


def _outcomes(rows: Sequence[Row], folder: Path | None, jobs: int) -> Iterator[Judgement | str]:
    """The rows' judgements, or why there is none, in the rows' order."""
    if jobs <= 1:
        yield from (_outcome(row.id, folder) for row in rows)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core a process
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        pending: dict[str, Future[dict[str, Judgement | str]]] = {}
        for group in _groups(rows):
            together = pool.submit(_outcomes_together, group, folder)
            pending |= dict.fromkeys(group, together)
        yield from (pending[row.id].result()[row.id] for row in rows)


def _groups(rows: Sequence[Row]) -> list[list[str]]:
    """Checks of one module share measurements, so that one process judges their rows; the long ones begin first."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.function.partition(":")[0], []).append(row)
    shared = groups.pop(SHARED_KINDS, [])
    pieces = [shared[k : k + MOST_TOGETHER] for k in range(0, len(shared), MOST_TOGETHER)]
    by_length = sorted(groups.values(), key=lambda group: sum(COSTS[row.cost] for row in group), reverse=True)
    return [[row.id for row in group] for group in (*by_length, *pieces)]


def _outcomes_together(names: Sequence[str], folder: Path | None) -> dict[str, Judgement | str]:
    return {name: _outcome(name, folder) for name in names}


def _outcome(name: str, folder: Path | None) -> Judgement | str:
    """Judge one row, in whatever process."""
    (row,) = register(only=name, extra=folder)
    try:
        return judge(row)
    except EvidenceError as problem:
        return str(problem)
    except ModuleNotFoundError as problem:
        return f"{row.id}: {lacks('This row', str(problem.name), 'dpcert[papers,train]')}"
