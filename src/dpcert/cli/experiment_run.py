"""The body of dpcert experiment for federated training: a grid of runs, a table and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..mechanisms import InputError
from ..mechanisms.validate import count, positive
from ..presentation.output import print_json
from ..trainers.experiments import fair
from ..trainers.experiments.cell import Cell
from ..trainers.experiments.plots import draw
from ..trainers.experiments.presets import PRESETS
from ..trainers.experiments.report import write_report
from ..trainers.experiments.runs import ran_on, write_runs
from ..trainers.experiments.sweep import run_sweep
from ..trainers.experiments.table import method_of
from .declared import numbers
from .experiment_options import Federated
from .train_run import warnings_on_stderr

QUICK_ROUNDS = 10
"""With --quick, which has one seed, in every experiment but fair."""

Report = Callable[[int, int, dict[str, Any]], None]


def run_experiment(name: str, asked: Federated, as_json: bool) -> None:
    """Run, or resume, the named experiment, and print its table."""
    torch.set_num_threads(count("--threads", asked.threads))
    first = count("--seed", asked.seed, least=0)
    seeds = range(first, first + count("--seeds", asked.seeds))
    folder, base = asked.out or Path(f"sweep-{name}"), _base(name, asked)
    if name == "fair":
        return _fair(asked, base, seeds, folder, as_json)
    if asked.quick:
        base, seeds = replace(base, rounds=min(base.rounds, QUICK_ROUNDS)), seeds[:1]
    cells = PRESETS[name](base, seeds, _epsilons(asked.epsilons))
    with warnings_on_stderr(), _progress(name, asked.quiet) as report:
        results = run_sweep(cells, folder, report=report)
    rows = write_report(results, folder)
    plots = _plots(results, folder)
    if as_json:
        told = {"rows": [asdict(row) for row in rows], "plots": plots, **ran_on(results)}
        print_json({"sweep": name, "folder": str(folder), **told})
    else:
        typer.echo((folder / "table.md").read_text(), nl=False)
        typer.echo(f"{len(results)} runs in {folder}, {_where(results)}")


def _fair(asked: Federated, base: Cell, seeds: range, folder: Path, as_json: bool) -> None:
    plan, epsilons = fair.QUICK if asked.quick else fair.FULL, _epsilons(asked.epsilons)
    if epsilons:
        plan = replace(plan, targets=(*epsilons, None))
    with warnings_on_stderr(), _progress("fair", asked.quiet) as report:
        results = fair.compare(replace(base, seed=seeds[0]), plan, seeds, folder, report)
    table = fair.as_markdown(results)
    (folder / "table.md").write_text(table + "\n")
    write_runs(results, folder / "runs.json")
    if as_json:
        print_json({"sweep": "fair", "folder": str(folder), "table": table, "runs": results, **ran_on(results)})
    else:
        typer.echo(table)
        typer.echo(f"{len(results)} runs, and their trials, in {folder}, {_where(results)}")


def _where(results: Sequence[dict[str, Any]]) -> str:
    used = {name: ", ".join(values) for name, values in ran_on(results).items()}
    return f"on {used['device']} in {used['dtype']}; solver: {used['solver']}"


def _epsilons(text: str | None) -> list[float]:
    return [positive("--epsilons", epsilon) for epsilon in (numbers("--epsilons", text) if text else ())]


def _base(name: str, asked: Federated) -> Cell:
    """What the runs have in common: the options that a cell has, too."""
    family = "dpfedmtl" if name.startswith("dpfedmtl") else "pmtl"
    shared = {field.name: getattr(asked, field.name) for field in fields(Cell) if hasattr(asked, field.name)}
    own = {"seed": 0, "noise_multiplier": asked.noise_multiplier or 0.0}
    model = asked.model or ("mlp" if family == "dpfedmtl" else "logistic")
    return Cell(**shared | own | {"algorithm": family, "model": model})


def _plots(results: list[dict[str, Any]], folder: Path) -> list[str]:
    try:
        return [str(file) for file in draw(results, folder)]
    except InputError as problem:
        typer.echo(f"warning: no plots: {problem}", err=True)
        return []


@contextmanager
def _progress(name: str, quiet: bool) -> Iterator[Report | None]:
    """A bar on stderr with the runs done, and a line for each."""
    if quiet:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name)

        def report(done: int, total: int, result: dict[str, Any]) -> None:
            bar.console.print(f"{done}/{total} {_line(result)}", highlight=False, markup=False, soft_wrap=True)
            bar.update(task, completed=done, total=total)

        yield report


def _line(result: dict[str, Any]) -> str:
    accuracy = result["test_accuracy"]
    shown = "-" if accuracy is None else f"{accuracy:.3f}"
    return f"{method_of(result)}, noise {result['noise_multiplier']:g}, seed {result['seed']}: {shown}"
