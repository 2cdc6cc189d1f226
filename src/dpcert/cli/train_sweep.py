"""The body of dpcert train --sweep: a grid of runs, a table and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..mechanisms import InputError
from ..mechanisms.validate import choice, count
from ..presentation.output import print_json
from ..trainers.experiments import fair
from ..trainers.experiments.cell import Cell
from ..trainers.experiments.plots import draw
from ..trainers.experiments.presets import PRESETS
from ..trainers.experiments.report import write_report
from ..trainers.experiments.runs import write_runs
from ..trainers.experiments.sweep import run_sweep
from ..trainers.experiments.table import method_of
from .train_options import DEFAULTS, ROUNDS
from .train_run import warnings_on_stderr

NOT_IN_SWEEPS = {
    **dict.fromkeys(("noise_std", "budget", "checkpoint", "local_steps", "sigma", "target_epsilon", "shards")),
    "finetune": None,
    "max_cohort": None,
    "head_layers": 1,
    "label_sets": "all",
    "aggregation_interval": 1,
    "clipping": "flat",
    "device": "auto",
    "dtype": "float32",
    "solver": "auto",
    "chunk": None,
    "noise_source": "auto",
    "evaluate_every": 0,
    "evaluate_clients": None,
    "schedule": "constant",
}
"""Options that a sweep sets itself or has no cells for, and their defaults."""

TUNED = ("strength", "clip_norm", "learning_rate", "rounds", "noise_multiplier")
"""What --sweep fair chooses among."""

DPFEDMTL = ("dpfedmtl", "dpfedmtl-rounds")
OWN_NOISE = ("privacy-utility", "combinations", "pp-sgd", *DPFEDMTL)
"""Sweeps over amounts of noise of their own."""

QUICK_ROUNDS = 10
"""With --quick, which has one seed, in every sweep but fair."""

Report = Callable[[int, int, dict[str, Any]], None]


def run_experiment(asked: SimpleNamespace) -> None:
    """Run, or resume, the named experiment, and print its table."""
    for option, default in NOT_IN_SWEEPS.items():
        if getattr(asked, option) != default:
            raise InputError("--" + option.replace("_", "-"), getattr(asked, option), "nothing, with --sweep")
    if asked.sweep in OWN_NOISE and asked.noise_multiplier is not None:
        raise InputError("--noise-multiplier", asked.noise_multiplier, f"nothing: {asked.sweep} has a range of its own")
    if asked.sweep == "combinations" and asked.clip_norm is not None:
        raise InputError("--clip-norm", asked.clip_norm, "nothing: combinations has clip norms of its own")
    choice("--sweep", asked.sweep, (*PRESETS, "fair"))
    family = "dpfedmtl" if asked.sweep in DPFEDMTL else "pmtl"
    if asked.algorithm != family:
        raise InputError("algorithm", asked.algorithm, f"{family}: --sweep {asked.sweep} runs that family's methods")
    first = 0 if asked.seed is None else count("--seed", asked.seed, least=0)
    seeds = range(first, first + count("--seeds", asked.seeds))
    folder = asked.out or Path(f"sweep-{asked.sweep}")
    if asked.sweep == "fair":
        return _fair(asked, seeds, folder)
    base = _base(asked)
    if asked.quick:
        base, seeds = replace(base, rounds=min(base.rounds, QUICK_ROUNDS)), seeds[:1]
    cells = PRESETS[asked.sweep](base, seeds, ())
    with warnings_on_stderr(), _progress(asked) as report:
        results = run_sweep(cells, folder, report=report)
    rows = write_report(results, folder)
    plots = _plots(results, folder)
    if asked.as_json:
        print_json({"sweep": asked.sweep, "folder": str(folder), "rows": [asdict(row) for row in rows], "plots": plots})
    else:
        typer.echo((folder / "table.md").read_text(), nl=False)
        typer.echo(f"{len(results)} runs in {folder}")


def _fair(asked: SimpleNamespace, seeds: range, folder: Path) -> None:
    for option in TUNED:
        default = ROUNDS if option == "rounds" else DEFAULTS[option]
        if getattr(asked, option) != default:
            name = "--lambda" if option == "strength" else "--" + option.replace("_", "-")
            raise InputError(name, getattr(asked, option), "nothing: --sweep fair chooses it on validation data")
    plan = fair.QUICK if asked.quick else fair.FULL
    with warnings_on_stderr(), _progress(asked) as report:
        results = fair.compare(replace(_base(asked), seed=seeds[0]), plan, seeds, folder, report)
    table = fair.as_markdown(results)
    (folder / "table.md").write_text(table + "\n")
    write_runs(results, folder / "runs.json")
    if asked.as_json:
        print_json({"sweep": "fair", "folder": str(folder), "table": table, "runs": results})
    else:
        typer.echo(table)
        typer.echo(f"{len(results)} runs, and their trials, in {folder}")


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
        neighbouring=asked.neighbouring or "replace-one",
        finetune_strength=asked.finetune_strength,
        finetune_epochs=asked.finetune_epochs,
    )


def _plots(results: list[dict[str, Any]], folder: Path) -> list[str]:
    try:
        return [str(file) for file in draw(results, folder)]
    except InputError as problem:
        typer.echo(f"warning: no plots: {problem}", err=True)
        return []


@contextmanager
def _progress(asked: SimpleNamespace) -> Iterator[Report | None]:
    """A bar on stderr with the runs done, and a line for each."""
    if asked.quiet:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(asked.sweep)

        def report(done: int, total: int, result: dict[str, Any]) -> None:
            bar.console.print(f"{done}/{total} {_line(result)}", highlight=False, markup=False, soft_wrap=True)
            bar.update(task, completed=done, total=total)

        yield report


def _line(result: dict[str, Any]) -> str:
    accuracy = result["test_accuracy"]
    shown = "-" if accuracy is None else f"{accuracy:.3f}"
    return f"{method_of(result)}, noise {result['noise_multiplier']:g}, seed {result['seed']}: {shown}"
