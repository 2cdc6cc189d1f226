"""dpcert papers: every checkable statement of the source papers, with a status that is derived on the spot."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..mechanisms import InputError
from ..presentation.output import complain, print_json
from .options import Json

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..proofs_checks.papers import Judgement, Row

ALL_JUDGED, EVIDENCE_FELL_SHORT = 0, 1
SHARED_KINDS, MOST_TOGETHER = "dpcert.proofs_checks.papers.kinds", 8
"""Rows of the shared kinds have nothing in common but their check: so many are judged at one go."""
COSTS = {"quick": 1, "full": 6}
"""About what a row costs beside another, where it is not of the shared kinds."""
INSTALL = "pip install 'dpcert[papers,train]'"


def papers_command(
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="KEY", help="pmtl, pmtl-jdp, dpfedmtl, mocha...; all without it.")
    ] = None,
    only: Annotated[str | None, typer.Option("--only", metavar="ID", help="One row, with its evidence.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Also the paper in this folder: docs/papers/adding.md."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the rows that take long.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Processes that check rows side by side; all cores without it.")
    ] = os.cpu_count() or 1,
    as_json: Json = False,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="DIR", help="Also write the readers' pages there, all or --paper's."),
    ] = None,
) -> None:
    """Re-derive the status of each statement of the source papers: proofs, counterexamples, audits, runs.

    Nobody typed a status in: a row's function passes or fails the printed statement, and the other way round
    the repaired or a spoilt one. What is only tested on instances is not said to hold or to be false.

    Exit code: 0 every row has its status; 1 some row's evidence fell short; 2 bad input.
    """
    if pages is not None and (only or quick):
        raise InputError("--pages", str(pages), "no --only or --quick beside it: a page shows every row of its paper")
    rows = _rows(paper, only, folder, quick)
    for package in _absent():
        typer.echo(f"note: {package} is not installed: rows that need it will have no status ({INSTALL})", err=True)
    judgements, problems = _judge_all(rows, folder, jobs)
    if as_json:
        print_json(_document(judgements, problems))
    elif only is not None:
        from ..presentation.papers import print_evidence

        for judgement in judgements:
            print_evidence(judgement)
    else:
        from ..presentation.papers import print_table

        print_table(judgements, problems)
    if pages is not None and not problems:
        from ..proofs_checks.papers.pages import write_pages

        write_pages(pages, judgements, folder)
    raise typer.Exit(EVIDENCE_FELL_SHORT if problems else ALL_JUDGED)


def _absent() -> list[str]:
    """Optional packages that rows need: told before the minutes that the other rows take."""
    return [package for package in ("z3", "torch") if find_spec(package) is None]


def _rows(paper: str | None, only: str | None, folder: Path | None, quick: bool) -> tuple[Row, ...]:
    """The rows asked for. Raises InputError for unknown names and where an optional package is absent."""
    try:
        from ..proofs_checks.papers import register

        rows = register(paper, only, folder)
    except ModuleNotFoundError as error:
        raise InputError("papers", f"{error.name} is not installed", INSTALL) from error
    if not quick:
        return rows
    long = [row.id for row in rows if row.cost != "quick"]
    if long:
        typer.echo(f"note: --quick leaves out {len(long)} rows that take long: {', '.join(long)}", err=True)
    return tuple(row for row in rows if row.cost == "quick")


def _judge_all(rows: Sequence[Row], folder: Path | None, jobs: int) -> tuple[list[Judgement], list[tuple[str, str]]]:
    judgements: list[Judgement] = []
    problems: list[tuple[str, str]] = []
    columns = (
        TextColumn("checking"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(rows))
        for row, outcome in zip(rows, _outcomes(rows, folder, min(jobs, len(rows))), strict=True):
            progress.update(task, description=row.id, advance=1)
            if isinstance(outcome, str):
                problems.append((row.id, outcome))
            else:
                judgements.append(outcome)
        progress.update(task, description="")
    for _, reason in problems:
        complain(reason)
    return judgements, problems


def _outcomes(rows: Sequence[Row], folder: Path | None, jobs: int) -> Iterator[Judgement | str]:
    """The rows' judgements, or why there is none, in the rows' order."""
    if jobs <= 1:
        yield from (_outcome(row.id, folder) for row in rows)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

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
    from ..proofs_checks.papers import EvidenceError, judge, register

    (row,) = register(only=name, extra=folder)
    try:
        return judge(row)
    except EvidenceError as problem:
        return str(problem)
    except ModuleNotFoundError as problem:
        return f"{row.id}: {problem.name} is not installed: pip install 'dpcert[papers,train]'"


def _document(judgements: list[Judgement], problems: list[tuple[str, str]]) -> dict[str, Any]:
    from ..proofs_checks.papers import Kind, Status

    printed = [judgement for judgement in judgements if judgement.row.kind is Kind.PRINTED]
    counts = {str(status): sum(j.status is status for j in printed) for status in Status}
    return {
        "rows": [judgement.to_json() for judgement in judgements],
        "counts": counts,
        "own_rows": len(judgements) - len(printed),
        "without_status": [{"id": name, "reason": reason} for name, reason in problems],
        "seconds": sum(judgement.seconds for judgement in judgements),
    }
