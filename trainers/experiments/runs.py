"""A sweep's results: as what the command prints, and as one small file from which tables and plots are made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ...mechanisms import InputError
from ...mechanisms.notebook import InNotebook

LEFT_OUT = ("data", "seconds", "train_accuracy", "train_loss")
"""Of a result: where the data lay, and what no table or plot shows."""


def ran_on(results: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """The devices, number formats and solvers that the results name; those of earlier versions name no solver."""
    return {
        name: sorted({str(result[name]) for result in results if name in result})
        for name in ("device", "dtype", "solver")
    }


def where(results: Sequence[dict[str, Any]]) -> str:
    """The same in words."""
    used = {name: ", ".join(values) for name, values in ran_on(results).items()}
    return f"on {used['device']} in {used['dtype']}; solver: {used['solver']}"


def write_runs(results: Sequence[dict[str, Any]], file: str | Path) -> None:
    """What all results share, once, and one line for each result."""
    kept = [{name: _finite(value) for name, value in result.items() if name not in LEFT_OUT} for result in results]
    for result in kept:
        if len(result["history"]) < 2:
            del result["history"]
    shared = {name: value for name, value in kept[0].items() if all(other.get(name) == value for other in kept)}
    lines = [
        json.dumps({name: value for name, value in result.items() if name not in shared}, allow_nan=False)
        for result in kept
    ]
    text = f'{{"shared": {json.dumps(shared)},\n"runs": [\n' + ",\n".join(lines) + "\n]}\n"
    Path(file).write_text(text)


def read_runs(file: str | Path) -> list[dict[str, Any]]:
    """The results that write_runs wrote, without what it leaves out. Raises InputError for any other file."""
    try:
        document = json.loads(Path(file).read_text())
        shared = document["shared"]
        runs = [{**shared, **run} for run in document["runs"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("runs", str(file), "a runs.json that a sweep wrote") from error
    for run in runs:
        run.setdefault("history", [])
    return [{name: _number(value) for name, value in run.items()} for run in runs]


def _finite(value: Any) -> Any:
    """JSON has no infinity: it is the string "inf"."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return "inf" if value == float("inf") else value


def _number(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _number(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_number(inner) for inner in value]
    return float("inf") if value == "inf" else value


Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class Experiment(InNotebook):
    """table: in Markdown. counted: how many runs, and where. told: the document, beside name and folder, in order.

    no_plots: why nothing was drawn; empty where something was.
    """

    name: str
    folder: Path | None
    table: str
    counted: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    no_plots: str = ""

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.table, self.counted]))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        if self.folder is None:
            return {"experiment": self.name, "table": self.table, **self.told}
        return {"sweep": self.name, "folder": str(self.folder), **self.told}


def drawn(draw: Callable[[], Drawn]) -> tuple[Drawn | None, str]:
    """The plots, or why there are none."""
    try:
        return draw(), ""
    except InputError as problem:
        return None, str(problem)
