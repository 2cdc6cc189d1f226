"""The bodies of those dpcert experiment commands that train nothing: sizes of data sets, and trade-off curves."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..mechanisms import InputError
from ..presentation.output import print_json, say
from ..trainers.data import load_federation
from ..trainers.experiments.dpfedmtl import figure3
from ..trainers.experiments.dpfedmtl.statistics import PRINTED, Statistics, table
from ..trainers.experiments.mocha.sizes import size_table, sizes_of
from ..trainers.experiments.sweep import run_cells
from .experiment_mocha import reported
from .experiment_options import Curves, DataAlone


def show_statistics(name: str, asked: DataAlone, as_json: bool) -> None:
    """The table, of the data asked for beside the paper's."""
    if name == "mocha-sizes":
        sizes = sizes_of(asked.data, asked.split_file, asked.seed)
        return _shown(name, size_table(sizes), [asdict(row) for row in sizes], as_json)
    found = Statistics.of(asked.data, load_federation(asked.data, seed=asked.seed))
    rows = [row.to_json() for row in (*PRINTED, found)]
    return _shown(name, table([found]), rows, as_json)


def _shown(name: str, text: str, rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"experiment": name, "table": text, "rows": rows})
    else:
        say(text)


def run_curves(name: str, asked: Curves, as_json: bool) -> None:
    """Compute, or resume, the curves; print the table and draw the figure."""
    folder = asked.out or Path(f"sweep-{name}")
    plan = figure3.QUICK if asked.quick else figure3.FULL
    results = run_cells(figure3.curves(plan), folder, reported(asked.quiet))
    text = figure3.table(results)
    (folder / "table.md").write_text(text + "\n")
    plot = None
    try:
        plot = str(figure3.draw(results, folder))
    except InputError as problem:
        say(f"warning: no plots: {problem}", err=True)
    if as_json:
        print_json({"sweep": name, "folder": str(folder), "table": text, "plot": plot, "cells": results})
    else:
        say(text)
        say(f"{len(results)} curves in {folder}")
