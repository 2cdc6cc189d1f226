"""The body of dpcert experiment mocha-*: MOCHA's Table 1 and Figures 1 to 3, with a table and a plot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from ..mechanisms import InputError
from ..presentation.output import print_json
from ..trainers.experiments.mocha.plots import draw
from ..trainers.experiments.mocha.private import private_cells, private_table
from ..trainers.experiments.mocha.studies import Cells, Study, figure1, figure2, figure3, run_cells, table1
from ..trainers.experiments.mocha.tables import Results, drop_table, error_table, time_table
from .experiment_options import Mocha

SHORTER = 50
"""By what --quick divides the figures' rounds."""

STUDIES: dict[str, tuple[Callable[[Study], Cells], Callable[[Results], str]]] = {
    "table1": (table1, error_table),
    "figure1": (figure1, time_table),
    "figure2": (figure2, time_table),
    "figure3": (figure3, drop_table),
    "private": (private_cells, private_table),
}


def run_study(name: str, asked: Mocha, as_json: bool) -> None:
    """Run, or resume, the study, and print its table."""
    named = name.removeprefix("mocha-")
    cells, table = STUDIES[named]
    seeds, shorter = (1, SHORTER) if asked.quick else (asked.seeds, 1)
    study = Study(asked.data, asked.split_file, asked.strength, seeds, asked.seed, shorter)
    folder = asked.out or Path(f"sweep-{named}")
    # Under the study's own name: the results of other data, or of another lambda, are not its.
    results = run_cells(cells(study), folder / study.key(named), _quietly if asked.quiet else _report)
    text = table(results)
    (folder / "table.md").write_text(text + "\n")
    plot = _plot(named, results, folder)
    if as_json:
        print_json({"sweep": named, "folder": str(folder), "table": text, "plot": plot, "cells": results})
    else:
        typer.echo(text)
        typer.echo(f"{len(results)} runs in {folder}")


def _plot(name: str, results: list[dict[str, object]], folder: Path) -> str | None:
    try:
        drawn = draw(name, results, folder)
    except InputError as problem:
        typer.echo(f"warning: no plots: {problem}", err=True)
        return None
    return None if drawn is None else str(drawn)


def _quietly(done: int, total: int, name: str) -> None:
    """Nothing."""


def _report(done: int, total: int, name: str) -> None:
    typer.echo(f"{done}/{total} {name}", err=True)
