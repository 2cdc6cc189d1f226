"""MOCHA's experiments by name: the grid of cells, the table and the plot of each, in a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..found import Experiment, drawn
from ..sweep import Cells, run_cells
from .plots import draw
from .private import private_cells, private_table
from .studies import Study, figure1, figure2, figure3, table1, table4
from .tables import Results, drop_table, error_table, time_table

STUDIES: dict[str, tuple[Callable[[Study], Cells], Callable[[Results], str]]] = {
    "table1": (table1, error_table),
    "table4": (table4, error_table),
    "figure1": (figure1, time_table),
    "figure2": (figure2, time_table),
    "figure3": (figure3, drop_table),
    "private": (private_cells, private_table),
}


def run_study(
    name: str, study: Study, folder: Path, report: Callable[[int, int, str], None] = lambda *_: None
) -> Experiment:
    """One of STUDIES, or what the folder lacks of it. report(done, all, name) after each cell."""
    cells, table = STUDIES[name]
    # Under the study's own name: the results of other data, or of another lambda, are not its.
    results = run_cells(cells(study), folder / study.key(name), report)
    text = table(results)
    (folder / "table.md").write_text(text + "\n")
    plot, missing = drawn(lambda: draw(name, results, folder))
    told = {"table": text, "plot": None if plot is None else str(plot), "cells": results}
    return Experiment(name, folder, text, f"{len(results)} runs in {folder}", told, missing)
