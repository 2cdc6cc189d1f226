"""dpcert papers: every checkable statement of the source papers, with a status that is derived on the spot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import lacks
from ..presentation.output import complain, say, show
from ..presentation.progress import bar
from .options import Json

if TYPE_CHECKING:
    from ..proofs_checks.papers import Row
    from ..proofs_checks.papers.judging import Judged

ALL_JUDGED, EVIDENCE_FELL_SHORT = 0, 1
INSTALL = "pip install 'dpcert[papers,train]'"


def papers_command(
    paper: Annotated[
        str | None, typer.Option(metavar="KEY", help="One paper: pmtl, pmtl-jdp, dpfedmtl, mocha, ... Default: all.")
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="ID", help="One row, with its evidence.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="Also check the paper in this folder (docs/papers/adding.md says how to write one).",
        ),
    ] = None,
    quick: Annotated[bool, "Leave out the rows that take long."] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="Number of worker processes. Default: one per core.")
    ] = os.cpu_count() or 1,
    as_json: Json = False,
    pages: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the pages of the documentation into this folder.")
    ] = None,
) -> None:
    """A program decides each status: it checks the printed statement, and a repaired or spoilt one on which the same
    check has to give the opposite. A statement that is only tested on instances is never shown as true or false.

    Exit code: 0 every row has its status; 1 some row's evidence fell short; 2 bad input.
    """
    if pages is not None and (only or quick):
        raise InputError("--pages", str(pages), "no --only or --quick beside it: a page shows every row of its paper")
    rows = _rows(paper, only, folder, quick)
    for package in _absent():
        say(f"note: {package} is not installed: rows that need it will have no status ({INSTALL})", err=True)
    found = _judge_all(rows, folder, jobs)
    show(replace(found, in_full=only is not None), as_json)
    if pages is not None and not found.problems:
        from ..proofs_checks.papers.pages import write_pages

        write_pages(pages, found.judgements, folder)
    raise typer.Exit(EVIDENCE_FELL_SHORT if found.problems else ALL_JUDGED)


def _absent() -> list[str]:
    """Optional packages that rows need: told before the minutes that the other rows take."""
    return [package for package in ("z3", "torch") if find_spec(package) is None]


def _rows(paper: str | None, only: str | None, folder: Path | None, quick: bool) -> tuple[Row, ...]:
    """The rows asked for. Raises InputError for unknown names and where an optional package is absent."""
    try:
        from ..proofs_checks.papers import register

        rows = register(paper, only, folder)
    except ModuleNotFoundError as error:
        raise lacks("`dpcert papers`", str(error.name), "dpcert[papers,train]") from error
    if not quick:
        return rows
    long = [row.id for row in rows if row.cost != "quick"]
    if long:
        say(f"note: --quick leaves out {len(long)} rows that take long: {', '.join(long)}", err=True)
    return tuple(row for row in rows if row.cost == "quick")


def _judge_all(rows: Sequence[Row], folder: Path | None, jobs: int) -> Judged:
    from ..proofs_checks.papers.judging import judge_all

    with bar("checking") as progress:
        found = judge_all(rows, folder, jobs, progress)
    for _, reason in found.problems:
        complain(reason)
    return found
