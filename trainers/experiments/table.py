"""Results over seeds as one table: mean, standard error over the seeds, epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over its seeds. standard_error: of the mean over seeds; None for a single seed.

    epsilon: the certified upper bound, None without noise; epsilon_printed: by the paper's convention.
    """

    method: str
    noise_multiplier: float
    epsilon: float | None
    epsilon_printed: float | None
    accuracy: float | None
    standard_error: float | None
    seeds: int


def method_of(result: dict[str, Any]) -> str:
    """The method's name in tables and plots."""
    name = str(result["algorithm"])
    if name == "pp-sgd":
        name += f" alpha={result['alpha']:g}"
    return f"{name} + {result['finetune']}" if result["finetune"] else name


def summarise(results: Sequence[dict[str, Any]]) -> list[Row]:
    """One row for each method and noise multiplier, in order of first appearance."""
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((method_of(result), result["noise_multiplier"]), []).append(result)
    return [_row(method, noise, group) for (method, noise), group in groups.items()]


def _row(method: str, noise: float, group: list[dict[str, Any]]) -> Row:
    values = [result["test_accuracy"] for result in group if result["test_accuracy"] is not None]
    mean = sum(values) / len(values) if values else None
    error = None
    if mean is not None and len(values) > 1:
        variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
        error = math.sqrt(variance / len(values))
    first = group[0]
    return Row(method, noise, first["epsilon_upper"], first["epsilon_printed"], mean, error, len(group))


def as_markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| method | noise multiplier | epsilon, certified | epsilon, printed convention | test accuracy | seeds |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        accuracy = "-" if row.accuracy is None else f"{row.accuracy:.3f}"
        accuracy += "" if row.standard_error is None else f" ± {row.standard_error:.3f}"
        certified, printed = (_epsilon(value) for value in (row.epsilon, row.epsilon_printed))
        cells = (row.method, f"{row.noise_multiplier:g}", certified, printed, accuracy, str(row.seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _epsilon(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"
