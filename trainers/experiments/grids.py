"""A sweep's rows as the guides show them: one line for each amount of noise, one column for each method.

DPFedMTL's tables go the other way, as the paper's do: a column for each sigma, and under each accuracy that over
samples in place of clients, and what it costs against whom. So do those of runs at given epsilons: a column for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .numbers import accuracy, bracket, upper
from .table import Row

OBSERVERS = {
    "server": "ε against the server",
    "all-other-clients": "ε against all other clients",
    "one-other-client": "ε against one other client",
}


def grid(rows: Sequence[Row]) -> str:
    """The rows as Markdown; cells with fewer seeds than others say how many."""
    if any(row.sigma for row in rows):
        return _by_sigma(rows)
    if any(row.target_epsilon for row in rows):
        return _by_target(rows)
    most = max(row.seeds for row in rows)
    single = [row for row in rows if row.epsilon == 0.0]  # nothing is released: no noise either
    several = len({row.finetune for row in rows}) > 2
    lines = [row for row in rows if row not in single]
    columns = list(dict.fromkeys(row.finetune or "none" if several else row.method for row in lines))
    first = ("noise multiplier", "ε, certified", "ε, printed") + (("trained",) if several else ())
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in lines:
        key: tuple[str, ...] = (f"{row.noise_multiplier:g}", upper(row.epsilon), upper(row.epsilon_printed))
        key += (row.method.split(" + ")[0],) if several else ()
        column = row.finetune or "none" if several else row.method
        found.setdefault(key, {})[column] = _cell(row, most)
    table = [(*first, *columns)]
    for key in sorted(found, key=lambda key: float(key[0])):
        table.append((*key, *(found[key].get(column, "-") for column in columns)))
    told = [f"{row.method}: {_cell(row, most)}, at ε = 0." for row in single]
    return "\n".join([*_markdown(table), *([""] if told else []), *told])


def _by_target(rows: Sequence[Row]) -> str:
    most = max(row.seeds for row in rows)
    targets = sorted({row.target_epsilon for row in rows if row.epsilon})
    lines = [("method", "no noise", *(f"ε = {target:g}" for target in targets))]
    for method in dict.fromkeys(row.method for row in rows if row.epsilon != 0.0):
        own = {row.target_epsilon: row for row in rows if row.method == method}
        lines.append((method, *(_cell(own[target], most) if target in own else "-" for target in (0.0, *targets))))
    told = [f"{row.method}: {_cell(row, most)}, at ε = 0." for row in rows if row.epsilon == 0.0]
    return "\n".join([*_markdown(lines), *([""] if told else []), *told])


def _by_sigma(rows: Sequence[Row]) -> str:
    most = max(row.seeds for row in rows)
    sigmas = sorted({row.sigma for row in rows if row.sigma})
    lines = [("", *(f"sigma = {sigma:g}" for sigma in sigmas))]
    lines.append(("Theorem 4.1 by its limit (an estimate)", *_claimed(rows, sigmas)))
    for method in dict.fromkeys(row.method for row in rows if row.sigma):
        own = {row.sigma: row for row in rows if row.method == method}
        lines.append((f"**{method}**", *(_cell(own[sigma], most) if sigma in own else "-" for sigma in sigmas)))
        if any(row.by_sample[0] is not None for row in own.values()):
            lines.append(("by sample", *(accuracy(*own[sigma].by_sample) if sigma in own else "-" for sigma in sigmas)))
        for observer, words in OBSERVERS.items():
            ends = [(own[sigma].observers or {}).get(observer) if sigma in own else None for sigma in sigmas]
            lines.append((words, *("-" if pair is None else bracket(pair) for pair in ends)))
    plain = ", ".join(f"{row.method} {_cell(row, most)}{_by_sample(row)}" for row in rows if not row.sigma)
    return "\n".join([*_markdown(lines), "", f"Without noise: {plain}."])


def _by_sample(row: Row) -> str:
    return "" if row.by_sample[0] is None else f" (by sample {accuracy(*row.by_sample)})"


def _claimed(rows: Sequence[Row], sigmas: Iterable[float]) -> list[str]:
    by = {row.sigma: row.epsilon_printed for row in rows}
    return [upper(by[sigma]) for sigma in sigmas]


def _cell(row: Row, most: int) -> str:
    shown = accuracy(row.accuracy, row.standard_error)
    return shown if row.seeds == most else f"{shown} ({row.seeds} of {most} seeds)"


def _markdown(lines: Sequence[Sequence[str]]) -> list[str]:
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return [head, "|" + "---|" * len(lines[0]), *rest]
