"""What a sweep leaves in its folder besides its cells, and the command that makes it again from runs.json.

python -m dpcert.trainers.experiments.report RUNS.json FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...mechanisms import InputError
from .cell import Cell
from .plots import draw
from .runs import Experiment, drawn, ran_on, read_runs, where, write_runs
from .sweep import Report, run_sweep
from .table import Row, as_markdown, grid, summarise


def write_report(results: Sequence[dict[str, Any]], folder: str | Path) -> list[Row]:
    """runs.json, table.md (a line for each row) and grid.md (as the guides show it); returns the rows."""
    place = Path(folder)
    rows = summarise(results)
    write_runs(results, place / "runs.json")
    (place / "table.md").write_text(as_markdown(rows) + "\n")
    (place / "grid.md").write_text(grid(rows) + "\n")
    return rows


def run_grid(
    name: str, cells: Iterable[Cell], folder: Path, report: Report = lambda *_: None, jobs: int = 1
) -> Experiment:
    """All cells, or those that the folder lacks; table and plots in the folder. report, jobs: as for `run_sweep`."""
    results = run_sweep(cells, folder, jobs=jobs, report=report)
    rows = write_report(results, folder)
    plots, missing = drawn(lambda: [str(file) for file in draw(results, folder)])
    told = {"rows": [asdict(row) for row in rows], "plots": plots or [], **ran_on(results)}
    counted = f"{len(results)} runs in {folder}, {where(results)}"
    return Experiment(name, folder, as_markdown(rows), counted, told, missing)


def main(arguments: list[str]) -> int:
    """Tables and plots of a runs.json into a folder."""
    if len(arguments) != 2:
        print("usage: python -m dpcert.trainers.experiments.report RUNS.json FOLDER", file=sys.stderr)
        return 2
    file, folder = arguments
    try:
        results = read_runs(file)
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_report(results, folder)
        draw(results, folder)
    except InputError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    print((Path(folder) / "grid.md").read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
