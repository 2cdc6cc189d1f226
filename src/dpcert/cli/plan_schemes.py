"""dpcert plan --schemes: which sampling scheme needs the least noise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ..accounting.plan_schemes import SCHEMES, SchemeOption, plan_schemes
from ..mechanisms import InputError
from ..mechanisms.digits import as_given, rounded_down, rounded_up
from ..presentation.drawing import saved
from ..presentation.output import output_console, print_json
from .setting import as_option, required


def compare_schemes(
    schemes: str,
    targets: Sequence[float],
    population: int | None,
    batch_size: int | None,
    epochs: int | None,
    delta: float | None,
    neighbouring: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """The table, the plot and the JSON of `plan_schemes`. Raises InputError, naming the option."""
    started = time.perf_counter()
    names = tuple(SCHEMES) if schemes == "all" else tuple(schemes.split(","))
    relation = neighbouring or "zero-out"
    asked: dict[str, Any] = {
        "population": population,
        "batch_size": batch_size,
        "epochs": epochs,
        "delta": delta,
    }
    required(**asked)
    try:
        found = plan_schemes(**asked, target_epsilons=targets, schemes=names, neighbouring=relation)  # type: ignore[arg-type]
    except InputError as problem:
        raise as_option(problem) from None
    console, total = Console(stderr=True), len(names) * len(targets)
    entries = list(track(found, "planning", total=total, console=console, transient=True))
    if plot is not None:
        _draw(entries, plot)
    if as_json:
        rows = [_row(entry) for entry in entries]
        print_json(asked | {"neighbouring": relation, "options": rows, "seconds": time.perf_counter() - started})
        return
    _print(entries, names, targets)


def _row(entry: SchemeOption) -> dict[str, Any]:
    found = entry.calibration
    return {
        "scheme": entry.scheme,
        "target_epsilon": entry.target_epsilon,
        "noise_multiplier": None if found is None else found.value,
        "noise_multiplier_lower": entry.needed,
        "epsilon_lower": None if found is None else found.epsilon.lower,
        "epsilon_upper": None if found is None else found.epsilon.upper,
        "certified": found is not None and found.epsilon.certified,
        "reason": entry.reason,
    }


def _cell(entry: SchemeOption) -> str:
    if entry.calibration is None or entry.needed is None:
        return "-"
    least, most = rounded_down(entry.needed, 4), rounded_up(entry.calibration.value, 4)
    apart = entry.calibration.value > 1.01 * entry.needed
    return f"{most}  (at least {least})" if apart else most


def _print(entries: list[SchemeOption], names: Sequence[str], targets: Sequence[float]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("scheme")
    for target in targets:
        table.add_column(f"epsilon {as_given(target)}", justify="right")
    cells = {(entry.scheme, entry.target_epsilon): entry for entry in entries}
    for name in names:
        table.add_row(name, *(_cell(cells[name, target]) for target in targets))
    output_console().print(table)
    typer.echo("noise multiplier that meets the target for certain; in brackets: with less it misses it for certain")
    for entry in entries:
        if entry.reason and entry.target_epsilon == targets[0]:
            typer.echo(f"{entry.scheme}: {entry.reason}")
    for target in targets:
        _say_best([entry for entry in entries if entry.target_epsilon == target and entry.calibration], target)


def _say_best(entries: list[SchemeOption], target: float) -> None:
    """Which scheme needs the least noise, if that is certain."""
    best = min(entries, key=_noise, default=None)
    if best is None:
        return
    known = all(_noise(best) <= (entry.needed or 0.0) for entry in entries if entry is not best)
    words = "needs the least noise" if known else "needs the least noise of what is proved"
    typer.echo(f"epsilon {as_given(target)}: {best.scheme} {words}")


def _noise(entry: SchemeOption) -> float:
    return float("inf") if entry.calibration is None else entry.calibration.value


def _draw(entries: list[SchemeOption], path: Path) -> None:
    """Noise against the target, a line a scheme; shaded down to what is needed at least."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name in dict.fromkeys(entry.scheme for entry in entries):
        line = sorted((e for e in entries if e.scheme == name and e.calibration), key=lambda e: e.target_epsilon)
        across = [entry.target_epsilon for entry in line]
        (drawn,) = axes.loglog(across, [_noise(entry) for entry in line], marker="o", label=name)
        low = [entry.needed or 0.0 for entry in line]
        axes.fill_between(across, low, [_noise(entry) for entry in line], color=drawn.get_color(), alpha=0.2)
    axes.set_xlabel("target epsilon")
    axes.set_ylabel("noise multiplier; shaded: where nobody knows")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    saved(figure, path)
