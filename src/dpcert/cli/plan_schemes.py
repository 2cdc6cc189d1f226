"""Which sampling scheme needs the least noise: `dpcert plan --schemes` and `dpcert calibrate --schemes`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..accounting.calibration.plan_schemes import SCHEMES, SchemeOption, SchemePlan, plan_schemes
from ..mechanisms import InputError
from ..mechanisms.validate import count
from ..presentation.output import show
from ..presentation.plots import draw_schemes
from ..presentation.progress import bar
from .setting import as_option, required


def compare_schemes(
    schemes: str,
    targets: Sequence[float],
    population: int | None,
    batch_size: int | None,
    epochs: float | None,
    delta: float | None,
    neighbouring: str | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """The table, the plot and the JSON of `plan_schemes`. Raises InputError, naming the option."""
    started = time.perf_counter()
    names = tuple(SCHEMES) if schemes == "all" else tuple(schemes.split(","))
    relation = neighbouring or "zero-out"
    asked: dict[str, Any] = {"population": population, "batch_size": batch_size, "epochs": epochs, "delta": delta}
    required(**asked)
    try:
        asked["epochs"] = count("epochs", epochs)
    except InputError as problem:
        raise as_option(problem) from None
    try:
        found = plan_schemes(**asked, target_epsilons=targets, schemes=names, neighbouring=relation)  # type: ignore[arg-type]
    except InputError as problem:
        raise as_option(problem) from None
    plan = SchemePlan(tuple(_watched(found, [f"{name}, epsilon {target:g}" for target in targets for name in names])))
    if plot is not None:
        draw_schemes(plan, plot)
    show(plan, as_json, **asked, neighbouring=relation, seconds=time.perf_counter() - started)


def _watched(found: Iterator[SchemeOption], works: Sequence[str]) -> Iterator[SchemeOption]:
    """The entries as they come, with a bar that names what is being searched for."""
    with bar("planning") as step:
        for done, work in enumerate(works):
            step(done, len(works), work)
            yield next(found)
