"""Results over seeds as one table: mean, standard error over the seeds, epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .numbers import accuracy, bracket, upper


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over its seeds. standard_error: of the mean over seeds; None for a single seed.

    epsilon: the certified upper bound, None without noise; epsilon_printed: by the paper's convention. finetune: by
    which objective, "" without. sigma, the certified upper bound against the server, and the certified (lower, upper)
    against each observer: DPFedMTL's.
    """

    method: str
    noise_multiplier: float
    epsilon: float | None
    epsilon_printed: float | None
    accuracy: float | None
    standard_error: float | None
    seeds: int
    sigma: float = 0.0
    epsilon_server: float | None = None
    finetune: str = ""
    observers: dict[str, tuple[float, float]] | None = None


def method_of(result: dict[str, Any]) -> str:
    """The method's name in tables and plots."""
    name = str(result["algorithm"])
    if name == "pp-sgd":
        name += f" alpha={result['alpha']:g}"
    if name.startswith("dpfedmtl"):
        name = _dpfedmtl_name(result)
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
    seen = {name: (low, high) for name, (low, high) in first["observers"].items()} if "observers" in first else {}
    server = seen["server"][1] if noise and seen else None
    return Row(
        method,
        noise,
        first["epsilon_upper"],
        first["epsilon_printed"],
        mean,
        error,
        len(group),
        first["sigma"],
        server,
        first["finetune"],
        seen or None,
    )


def _dpfedmtl_name(result: dict[str, Any]) -> str:
    """Without a head the same algorithm is DPFedAvg, and without noise neither is private."""
    family = "FedMTL" if result["head_layers"] else "FedAvg"
    interval = result["aggregation_interval"]
    family += f", H={interval}" if interval > 1 else ""
    if not result["sigma"]:
        return family
    form = result["algorithm"].removeprefix("dpfedmtl").removeprefix("-") or "corrected"
    return f"DP{family}, {form}, {result['sampling']}"


def as_markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    if any(row.sigma for row in rows):
        return _by_sigma(rows)
    lines = [
        "| method | noise multiplier | epsilon, certified | epsilon, printed convention | test accuracy | seeds |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        shown = accuracy(row.accuracy, row.standard_error)
        certified, printed = upper(row.epsilon), upper(row.epsilon_printed)
        cells = (row.method, f"{row.noise_multiplier:g}", certified, printed, shown, str(row.seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_sigma(rows: Sequence[Row]) -> str:
    lines = [
        "| method | sigma | test accuracy | epsilon, claimed | against the server | against all others | "
        "against one other | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        seen = [bracket(ends) for ends in (row.observers or {}).values()] if row.sigma else ["none"] * 3
        shown = accuracy(row.accuracy, row.standard_error)
        cells = (row.method, f"{row.sigma:g}", shown, upper(row.epsilon_printed), *seen, str(row.seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
