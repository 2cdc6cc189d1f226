"""Results over seeds as tables: mean, standard error over the seeds, epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .numbers import accuracy, bracket, markdown, over_seeds, upper


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
    values = [result[name] for result in group if result.get(name) is not None]
    return over_seeds(values) if values else (None, None)


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
    """A line for each row."""
    if any(row.sigma for row in rows):
        return markdown(BY_SIGMA, map(_of_sigma, rows))
    heads = "method", "noise multiplier", "epsilon, certified", "epsilon, printed convention", "test accuracy", "seeds"
    return markdown(heads, ((row.method, *_of_noise(row), _cell(row, row.seeds), str(row.seeds)) for row in rows))


BY_SIGMA: tuple[str, ...] = ("method", "sigma", "test accuracy", "by sample", "epsilon, claimed", "against the server")
BY_SIGMA += ("against all others", "against one other", "seeds")


def _of_sigma(row: Row) -> tuple[str, ...]:
    seen = [bracket(ends) for ends in (row.observers or {}).values()] if row.sigma else ["none"] * 3
    shown = _cell(row, row.seeds), accuracy(*row.by_sample), upper(row.epsilon_printed)
    return (row.method, f"{row.sigma:g}", *shown, *seen, str(row.seeds))


def _of_noise(row: Row) -> tuple[str, str, str]:
    return f"{row.noise_multiplier:g}", upper(row.epsilon), upper(row.epsilon_printed)


def _cell(row: Row, most: int) -> str:
    """Its accuracy; where other rows have more seeds, of how many."""
    shown = accuracy(row.accuracy, row.standard_error)
    return shown if row.seeds == most else f"{shown} ({row.seeds} of {most} seeds)"


OBSERVERS = {
    "server": "ε against the server",
    "all-other-clients": "ε against all other clients",
    "one-other-client": "ε against one other client",
}


def grid(rows: Sequence[Row]) -> str:
    """The rows as the guides show them: one line for each amount of noise, one column for each method.

    DPFedMTL's tables go the other way, as the paper's do: a column for each sigma, and under each accuracy that over
    samples in place of clients, and what it costs against whom. So do those at given epsilons: a column for each.
    """
    if any(row.sigma for row in rows):
        return _by_sigma(rows)
    if any(row.target_epsilon for row in rows):
        return _by_target(rows)
    most = max(row.seeds for row in rows)
    several = len({row.finetune for row in rows}) > 2
    lines = [row for row in rows if row.epsilon != 0.0]
    columns = list(dict.fromkeys(row.finetune or "none" if several else row.method for row in lines))
    first = ("noise multiplier", "ε, certified", "ε, printed") + (("trained",) if several else ())
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in lines:
        key = (*_of_noise(row), *([row.method.split(" + ")[0]] if several else []))
        column = row.finetune or "none" if several else row.method
        found.setdefault(key, {})[column] = _cell(row, most)
    order = sorted(found, key=lambda key: float(key[0]))
    table = ((*key, *(found[key].get(column, "-") for column in columns)) for key in order)
    return _with_single(markdown((*first, *columns), table), rows)


def _with_single(table: str, rows: Sequence[Row]) -> str:
    """And the methods that release nothing, which have no noise either."""
    most = max(row.seeds for row in rows)
    told = [f"{row.method}: {_cell(row, most)}, at ε = 0." for row in rows if row.epsilon == 0.0]
    return "\n".join([table, *([""] if told else []), *told])


def _by_target(rows: Sequence[Row]) -> str:
    most = max(row.seeds for row in rows)
    targets = sorted({row.target_epsilon for row in rows if row.epsilon})
    lines = []
    for method in dict.fromkeys(row.method for row in rows if row.epsilon != 0.0):
        own = {row.target_epsilon: row for row in rows if row.method == method}
        lines.append((method, *(_cell(own[target], most) if target in own else "-" for target in (0.0, *targets))))
    heads = ("method", "no noise", *(f"ε = {target:g}" for target in targets))
    return _with_single(markdown(heads, lines), rows)


def _by_sigma(rows: Sequence[Row]) -> str:
    most = max(row.seeds for row in rows)
    sigmas = sorted({row.sigma for row in rows if row.sigma})
    claimed = {row.sigma: upper(row.epsilon_printed) for row in rows}
    lines = [("Theorem 4.1 by its limit (an estimate)", *(claimed[sigma] for sigma in sigmas))]
    for method in dict.fromkeys(row.method for row in rows if row.sigma):
        own = {row.sigma: row for row in rows if row.method == method}
        lines.append((f"**{method}**", *(_cell(own[sigma], most) if sigma in own else "-" for sigma in sigmas)))
        if any(row.by_sample[0] is not None for row in own.values()):
            lines.append(("by sample", *(accuracy(*own[sigma].by_sample) if sigma in own else "-" for sigma in sigmas)))
        for observer, words in OBSERVERS.items():
            ends = [(own[sigma].observers or {}).get(observer) if sigma in own else None for sigma in sigmas]
            lines.append((words, *("-" if pair is None else bracket(pair) for pair in ends)))
    plain = ", ".join(f"{row.method} {_cell(row, most)}{_by_sample(row)}" for row in rows if not row.sigma)
    table = markdown(("", *(f"sigma = {sigma:g}" for sigma in sigmas)), lines)
    return f"{table}\n\nWithout noise: {plain}."


def _by_sample(row: Row) -> str:
    return "" if row.by_sample[0] is None else f" (by sample {accuracy(*row.by_sample)})"
