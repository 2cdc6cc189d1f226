"""The body of dpcert train --sweep: a grid of runs, a table and plots."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import count
from ..trainers.experiments.cell import Cell
from ..trainers.experiments.plots import draw
from ..trainers.experiments.presets import preset
from ..trainers.experiments.sweep import run_sweep
from ..trainers.experiments.table import as_markdown, method_of, summarise
from .output import jsonable, print_json
from .train_run import warnings_on_stderr

NOT_IN_SWEEPS = ("noise_std", "budget", "checkpoint", "local_steps", "sigma", "target_epsilon")

SET_BY_SWEEPS = {"head_layers": 1, "label_sets": "all", "aggregation_interval": 1}
"""Options that a sweep sets itself or has no cells for, and their defaults."""


def run_experiment(asked: SimpleNamespace) -> None:
    """Run, or resume, the named experiment, and print its table."""
    for option in NOT_IN_SWEEPS:
        if getattr(asked, option) is not None:
            raise InputError("--" + option.replace("_", "-"), getattr(asked, option), "nothing, with --sweep")
    for option, default in SET_BY_SWEEPS.items():
        if getattr(asked, option) != default:
            raise InputError("--" + option.replace("_", "-"), getattr(asked, option), "nothing, with --sweep")
    cells = preset(asked.sweep, _base(asked), range(count("--seeds", asked.seeds)))
    folder = asked.out or Path(f"sweep-{asked.sweep}")
    with warnings_on_stderr():
        results = run_sweep(cells, folder, report=None if asked.quiet else _report)
    rows = summarise(results)
    table = as_markdown(rows)
    (folder / "table.md").write_text(table + "\n")
    (folder / "results.json").write_text(json.dumps(jsonable(results), indent=1, allow_nan=False))
    plots = _plots(results, folder)
    if asked.as_json:
        print_json({"sweep": asked.sweep, "folder": str(folder), "rows": [asdict(row) for row in rows], "plots": plots})
    else:
        typer.echo(table)
        typer.echo(f"{len(results)} runs in {folder}")


def _base(asked: SimpleNamespace) -> Cell:
    return Cell(
        algorithm=asked.algorithm,
        data=asked.data,
        seed=0,
        model=asked.model,
        strength=asked.strength,
        alpha=asked.alpha,
        rounds=asked.rounds,
        cohort=asked.cohort or 100,
        sampling=asked.sampling,
        noise_multiplier=asked.noise_multiplier or 0.0,
        clip_norm=asked.clip_norm if asked.clip_norm is not None else 1.0,
        learning_rate=asked.learning_rate,
        local_epochs=asked.local_epochs,
        batch_size=asked.batch_size,
        delta=asked.delta,
        neighbouring=asked.neighbouring,
        finetune_strength=asked.finetune_strength,
        finetune_epochs=asked.finetune_epochs,
    )


def _plots(results: list[dict[str, Any]], folder: Path) -> list[str]:
    try:
        return [str(file) for file in draw(results, folder)]
    except InputError as problem:
        typer.echo(f"warning: no plots: {problem}", err=True)
        return []


def _report(done: int, total: int, result: dict[str, Any]) -> None:
    accuracy = result["test_accuracy"]
    shown = "-" if accuracy is None else f"{accuracy:.3f}"
    typer.echo(
        f"{done}/{total} {method_of(result)}, noise {result['noise_multiplier']:g}, seed {result['seed']}: {shown}",
        err=True,
    )
