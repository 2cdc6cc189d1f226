"""Results over seeds as one table: mean, standard error over the seeds, epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over its seeds. standard_error: of the mean over seeds; None for a single seed.

    epsilon: the certified upper bound, None without noise; epsilon_printed: by the paper's convention. sigma and the
    certified upper bound against the server: DPFedMTL's.
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
    server = first["observers"]["server"][1] if noise and "observers" in first else None
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
        accuracy = _accuracy(row)
        certified, printed = (_epsilon(value) for value in (row.epsilon, row.epsilon_printed))
        cells = (row.method, f"{row.noise_multiplier:g}", certified, printed, accuracy, str(row.seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_sigma(rows: Sequence[Row]) -> str:
    lines = [
        "| method | sigma | test accuracy | epsilon, claimed | against all others | against the server | seeds |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        claimed, clients, server = (_epsilon(value) for value in (row.epsilon_printed, row.epsilon, row.epsilon_server))
        cells = (row.method, f"{row.sigma:g}", _accuracy(row), claimed, clients, server, str(row.seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _accuracy(row: Row) -> str:
    accuracy = "-" if row.accuracy is None else f"{row.accuracy:.3f}"
    return accuracy + ("" if row.standard_error is None else f" ± {row.standard_error:.3f}")


def _epsilon(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"
