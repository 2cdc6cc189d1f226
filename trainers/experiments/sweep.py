"""Runs a grid of cells into a folder. Every finished cell is kept; an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import as_completed
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from ...mechanisms import InputError
from ...mechanisms.workers import pool
from ..data import Federation, load_federation
from ..data.federation import hold_out
from ..engine.checkpoint import replaced
from .cell import Cell, result_of, run_settings, train_cell, trainer_of, tuning_of

Report = Callable[[int, int, dict[str, Any]], None]
"""Called with how many are done, of how many, and the last one's result."""

Reported = Callable[[int, int, str], None]
"""Called with how many are done, of how many, and the name of the last."""

Cells = dict[str, Callable[[], dict[str, Any]]]
"""What there is to compute, by the name under which its result is kept."""


def run_sweep(
    cells: Iterable[Cell],
    folder: str | Path,
    *,
    jobs: int = 1,
    kept: str = "cells",
    validation: float = 0.0,
    report: Report = lambda *_: None,
) -> list[dict[str, Any]]:
    """All cells' results in order, kept in this part of the folder.

    report(done, all, result) for each, first for those that were there.
    jobs: how many processes run at once, on one GPU too (a small model's round leaves it idle for most of the time).
    validation: the share of each client's training samples that scores are computed on, in place of the test samples.
    Raises InputError before any runs: for a result file that is not readable, a cell's value that is out of
    range, and what keeps the first cell of each algorithm, its heads and its way to state noise from training.
    """
    cells = list(cells)
    files = {cell: Path(folder) / kept / f"{cell.key}.json" for cell in cells}
    results = {cell: read_result(file) for cell, file in files.items() if file.exists()}
    missing = {cell: file for cell, file in files.items() if cell not in results}
    _check(missing, validation)
    for done, result in enumerate(results.values(), start=1):
        report(done, len(files), result)
    for cell, result in _computed(missing, jobs, validation):
        results[cell] = result
        report(len(results), len(files), result)
    return [results[cell] for cell in cells]


def _check(cells: Iterable[Cell], validation: float) -> None:
    """Raise InputError for a cell's value that is out of range, and for one of each kind that cannot be trained."""
    _federation.cache_clear()  # the data may have been written anew since another sweep of this process
    kinds: dict[tuple[str, int, bool], Cell] = {}
    for cell in cells:
        run_settings(cell, cell.cohort)  # no data are loaded yet: the cohort stands for the population
        tuning_of(cell)
        kinds.setdefault((cell.algorithm, cell.head_layers, cell.target_epsilon > 0), cell)
    for cell in kinds.values():
        trainer_of(replace(cell, device="cpu", solver="auto"), _federation(cell.data, cell.seed, validation))


def _computed(files: dict[Cell, Path], jobs: int, validation: float) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Each with its result, as it ends; those that share a training are trained once, by one process."""
    groups: dict[Cell, dict[Cell, Path]] = {}
    for cell, file in files.items():
        groups.setdefault(cell.training, {})[cell] = file
    with pool(jobs if jobs > 1 else 0, "spawn", partial(torch.set_num_threads, torch.get_num_threads())) as workers:
        if workers is None:
            yield from chain.from_iterable(_trained_together(group, validation) for group in groups.values())
            return
        for future in as_completed([workers.submit(_trained_together, group, validation) for group in groups.values()]):
            yield from future.result()


def _trained_together(files: dict[Cell, Path], validation: float) -> list[tuple[Cell, dict[str, Any]]]:
    """Cells that differ in their fine-tuning alone; each result is kept at once."""
    first = next(iter(files))
    trained, results = train_cell(first, _federation(first.data, first.seed, validation)), []
    for cell, file in files.items():
        results.append((cell, result_of(cell, trained)))
        write_result(file, results[-1][1])
    return results


@lru_cache(maxsize=1)
def _federation(data: str, seed: int, validation: float) -> Federation:
    """Of the last data and seed: neighbouring cells often share them."""
    federation = load_federation(data, seed=seed)
    return hold_out(federation, validation, seed) if validation else federation


def run_cells(cells: Cells, folder: str | Path, report: Reported = lambda *_: None) -> list[dict[str, Any]]:
    """All results in order, from the folder where they are there."""
    results = []
    for done, (name, compute) in enumerate(cells.items(), start=1):
        file = Path(folder) / "cells" / f"{name}.json"
        if not file.exists():
            write_result(file, {"cell": name, **compute()})
        results.append(read_result(file))
        report(done, len(cells), name)
    return results


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
    """Keep a finished cell's result: whole, or not at all. Its folder is there from the first result on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    replaced(file, lambda handle: handle.write(json.dumps(result, indent=1).encode()))
