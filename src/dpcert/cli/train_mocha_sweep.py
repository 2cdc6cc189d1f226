"""The body of dpcert train mocha --sweep: MOCHA's Table 1 and Figures 1 to 3, with a table and a plot."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import choice
from ..presentation.output import print_json
from ..trainers.experiments.mocha.plots import draw
from ..trainers.experiments.mocha.private import private_cells, private_table
from ..trainers.experiments.mocha.studies import Study, figure1, figure2, figure3, run_cells, table1
from ..trainers.experiments.mocha.tables import drop_table, error_table, time_table

TABLES = {
    "table1": error_table,
    "figure1": time_table,
    "figure2": time_table,
    "figure3": drop_table,
    "private": private_table,
}
SETTLED = (
    *("sigma_prime", "drop", "graph", "covariance", "rounds", "tolerance", "checkpoint"),
    *("clip_norm", "noise_multiplier", "noise_std", "sigma", "target_epsilon", "budget"),
)
"""Options that a study sets for itself, so that nobody believes theirs to have been used."""

SHORTER = 50
"""By what --quick divides the figures' rounds."""

CELLS = {"table1": table1, "figure1": figure1, "figure2": figure2, "figure3": figure3, "private": private_cells}


def run_study(asked: SimpleNamespace) -> None:
    """Run, or resume, the study, and print its table."""
    if asked.algorithm != "mocha":
        raise InputError("algorithm", asked.algorithm, "mocha, with --sweep")
    for option in SETTLED:
        if getattr(asked, option) is not None:
            raise InputError(
                "--" + option.replace("_", "-"), str(getattr(asked, option)), "none with --sweep, which sets its own"
            )
    if asked.loss != "hinge":
        raise InputError("--loss", asked.loss, "hinge with --sweep, as in the paper")
    if asked.sweep == "table1" and asked.split_file is not None:
        raise InputError("--split-file", str(asked.split_file), "none with table1: every seed has a split of its own")
    seeds, shorter = (1, SHORTER) if asked.quick else (asked.seeds, 1)
    study = Study(asked.data, asked.split_file, asked.strength, seeds, asked.seed or 0, shorter)
    cells = CELLS[choice("--sweep", asked.sweep, CELLS)](study)
    folder = asked.out or Path(f"sweep-{asked.sweep}")
    # Under the study's own name: the results of other data, or of another lambda, are not its.
    results = run_cells(cells, folder / study.key(asked.sweep), _quietly if asked.quiet else _report)
    table = TABLES[asked.sweep](results)
    (folder / "table.md").write_text(table + "\n")
    plot = _plot(asked.sweep, results, folder)
    if asked.as_json:
        print_json({"sweep": asked.sweep, "folder": str(folder), "table": table, "plot": plot, "cells": results})
    else:
        typer.echo(table)
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
