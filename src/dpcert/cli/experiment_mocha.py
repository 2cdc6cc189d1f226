"""The body of dpcert experiment mocha-*: MOCHA's Tables 1 and 4 and Figures 1 to 3, with a table and a plot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..mechanisms import InputError
from ..presentation.output import print_json, say
from ..trainers.experiments.mocha.plots import draw
from ..trainers.experiments.mocha.private import private_cells, private_table
from ..trainers.experiments.mocha.studies import Study, figure1, figure2, figure3, table1, table4
from ..trainers.experiments.mocha.tables import Results, drop_table, error_table, time_table
from ..trainers.experiments.sweep import Cells, run_cells
from .experiment_options import Mocha

SHORTER = 50
"""By what --quick divides the figures' rounds."""

STUDIES: dict[str, tuple[Callable[[Study], Cells], Callable[[Results], str]]] = {
    "table1": (table1, error_table),
    "table4": (table4, error_table),
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
    results = run_cells(cells(study), folder / study.key(named), reported(asked.quiet))
    text = table(results)
    (folder / "table.md").write_text(text + "\n")
    plot = _plot(named, results, folder)
    if as_json:
        print_json({"sweep": named, "folder": str(folder), "table": text, "plot": plot, "cells": results})
    else:
        say(text)
        say(f"{len(results)} runs in {folder}")


def _plot(name: str, results: list[dict[str, object]], folder: Path) -> str | None:
    try:
        drawn = draw(name, results, folder)
    except InputError as problem:
        say(f"warning: no plots: {problem}", err=True)
        return None
    return None if drawn is None else str(drawn)


def reported(quiet: bool) -> Callable[[int, int, str], None]:
    """A line on stderr for each finished cell, or nothing."""

    def report(done: int, total: int, name: str) -> None:
        if not quiet:
            say(f"{done}/{total} {name}", err=True)

    return report
