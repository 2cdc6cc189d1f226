"""Results over seeds as one table: mean, standard error over the seeds, epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .numbers import accuracy, bracket, upper


@dataclass(frozen=True, slots=True)
class Row:
    """One setting over its seeds. standard_error: of the mean over seeds; None for a single seed. by_sample: accuracy
    over samples in place of clients, and its standard error. target_epsilon: what the noise was chosen for, else 0.

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
    by_sample: tuple[float | None, float | None] = (None, None)
    target_epsilon: float = 0.0


def method_of(result: dict[str, Any]) -> str:
    """The method's name in tables and plots."""
    name = str(result["algorithm"])
    if name == "pp-sgd":
        name += f" alpha={result['alpha']:g}"
    if name.startswith("dpfedmtl"):
        name = _dpfedmtl_name(result)
    return f"{name} + {result['finetune']}" if result["finetune"] else name


def summarise(results: Sequence[dict[str, Any]]) -> list[Row]:
    """One row for each method and noise multiplier, and clip norm where there are several, in order of appearance."""
    several = len({result["clip_norm"] for result in results} - {None}) > 1
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for result in results:
        method = method_of(result)
        if several and result["clip_norm"] is not None:
            method += f", clip norm {result['clip_norm']:g}"
        groups.setdefault((method, result["noise_multiplier"]), []).append(result)
    return [_row(method, noise, group) for (method, noise), group in groups.items()]


def _row(method: str, noise: float, group: list[dict[str, Any]]) -> Row:
    mean, error = _over_seeds(group, "test_accuracy")
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
        _over_seeds(group, "test_accuracy_by_sample"),
        first.get("target_epsilon", 0.0),
    )


def _over_seeds(group: Sequence[dict[str, Any]], name: str) -> tuple[float | None, float | None]:
    """The mean and its standard error, which a single value has not."""
    values = [result[name] for result in group if result.get(name) is not None]
    if not values:
        return None, None
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, None
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def _dpfedmtl_name(result: dict[str, Any]) -> str:
    """Without a head the same algorithm is DPFedAvg, and without noise neither is private."""
    family = "FedMTL" if result["head_layers"] else "FedAvg"
    interval = result["aggregation_interval"]
    family += f", H={interval}" if interval > 1 else ""
    if not result["noise_multiplier"]:
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
        "| method | sigma | test accuracy | by sample | epsilon, claimed | against the server | against all others | "
        "against one other | seeds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        seen = [bracket(ends) for ends in (row.observers or {}).values()] if row.sigma else ["none"] * 3
        shown = accuracy(row.accuracy, row.standard_error)
        told = (shown, accuracy(*row.by_sample), upper(row.epsilon_printed))
        cells = (row.method, f"{row.sigma:g}", *told, *seen, str(row.seeds))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
