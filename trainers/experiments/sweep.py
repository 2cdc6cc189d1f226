"""Runs a grid of cells into a folder. Every finished cell is kept; an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ...mechanisms import InputError
from ..data import Federation, load_federation
from .cell import Cell, Trained, result_of, train_cell

Cells = dict[str, Callable[[], dict[str, Any]]]
"""What there is to compute, by the name under which its result is kept."""


def run_sweep(
    cells: Iterable[Cell],
    folder: str | Path,
    *,
    report: Callable[[int, int, dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """All cells' results in order. report(done, all, result) is called after each.

    Raises InputError for a result file that is not readable, before any cell runs.
    """
    files = {cell: Path(folder) / "cells" / f"{cell.key}.json" for cell in cells}
    (Path(folder) / "cells").mkdir(parents=True, exist_ok=True)
    results = {cell: read_result(file) for cell, file in files.items() if file.exists()}
    workshop = _Workshop()
    for done, (cell, file) in enumerate(files.items(), start=1):
        if cell not in results:
            results[cell] = result_of(cell, workshop.train(cell))
            write_result(file, results[cell])
        if report:
            report(done, len(files), results[cell])
    return [results[cell] for cell in files]


def run_cells(
    cells: Cells, folder: str | Path, report: Callable[[int, int, str], None] = lambda *_: None
) -> list[dict[str, Any]]:
    """All results in order, from the folder where they are there. report(done, all, name) after each."""
    place = Path(folder) / "cells"
    place.mkdir(parents=True, exist_ok=True)
    results = []
    for done, (name, compute) in enumerate(cells.items(), start=1):
        file = place / f"{name}.json"
        if not file.exists():
            write_result(file, {"cell": name, **compute()})
        results.append(read_result(file))
        report(done, len(cells), name)
    return results


class _Workshop:
    """Keeps the last federation and the last trained model: neighbouring cells often share them."""

    def __init__(self) -> None:
        self._source: tuple[str, int] | None = None
        self._federation: Federation | None = None
        self._cell: Cell | None = None
        self._trained: Trained | None = None

    def train(self, cell: Cell) -> Trained:
        if self._federation is None or self._source != (cell.data, cell.seed):
            self._source = (cell.data, cell.seed)
            self._federation = load_federation(cell.data, seed=cell.seed)
        if self._trained is None or self._cell != cell.training:
            self._cell, self._trained = cell.training, train_cell(cell, self._federation)
        return self._trained


def read_result(file: Path) -> dict[str, Any]:
    """A finished cell's result. Raises InputError for a file that is not readable."""
    try:
        result = json.loads(file.read_text())
    except ValueError as error:
        raise InputError(file.name, "damaged", "a result (delete the file to compute it again)") from error
    if not isinstance(result, dict):
        raise InputError(file.name, type(result).__name__, "a result (delete the file to compute it again)")
    return result


def write_result(file: Path, result: dict[str, Any]) -> None:
    """Keep a finished cell's result: whole, or not at all."""
    temporary = file.with_suffix(".tmp")
    with temporary.open("w") as handle:
        json.dump(result, handle, indent=1)
        handle.flush()
        os.fsync(handle.fileno())
    temporary.replace(file)
