"""Figures of a sweep; needs matplotlib (the `report` extra)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .canvas import panels, saved
from .numbers import upper
from .table import Row, method_of, summarise

TICK_ROOM = 0.08
"""Of an axis' length, for each label."""


def draw(results: Sequence[dict[str, Any]], folder: str | Path) -> list[Path]:
    """accuracy.png (accuracy against certified epsilon), sigma.png (against DPFedMTL's sigma, where cells have several
    of them), and rounds.png where runs were evaluated on the way.

    Raises InputError without matplotlib.
    """
    files = [_accuracy(summarise(results), Path(folder) / "accuracy.png")]
    if len({result["sigma"] for result in results} - {0.0}) > 1:
        files.append(_by_sigma(summarise(results), Path(folder) / "sigma.png"))
    # Fine-tuning comes after the last round.
    watched = [result for result in results if len(result["history"]) > 1 and not result["finetune"]]
    if watched:
        files.append(_rounds(watched, Path(folder) / "rounds.png"))
    return files


def _accuracy(rows: Sequence[Row], file: Path) -> Path:
    """Methods with noise as curves with error bars; those without (or without any release) as levels."""
    figure, axes = panels(figsize=(7, 5))
    shown: set[float] = set()
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method and row.accuracy is not None]
        private = sorted(
            (row.epsilon, row.accuracy, row.standard_error or 0.0)
            for row in own
            if row.epsilon and math.isfinite(row.epsilon)
        )
        if private:
            epsilons, accuracies, errors = np.array(private, dtype=float).T
            axes.errorbar(epsilons, accuracies, errors, marker="o", label=method)
            shown |= set(epsilons.tolist())
        elif own and own[0].accuracy is not None:
            axes.axhline(own[0].accuracy, linestyle="--", color="grey", label=method)
    axes.set_xscale("log")
    axes.minorticks_off()
    ticks = _apart(sorted(shown))
    axes.set_xticks(ticks, list(map(upper, ticks)))
    axes.set_xlabel("epsilon, certified upper bound")
    axes.set_ylabel("test accuracy, mean over clients and seeds")
    axes.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    return saved(figure, file, 150)


def _apart(values: Sequence[float]) -> list[float]:
    """Those of the sorted positive values, the first among them, whose labels have room on a logarithmic axis."""
    kept: list[float] = []
    for value in values:
        if not kept or math.log(value / kept[-1]) >= TICK_ROOM * math.log(values[-1] / values[0]):
            kept.append(value)
    return kept


def _by_sigma(rows: Sequence[Row], file: Path) -> Path:
    """DPFedMTL's Table 3: a colour for each form, dashed without heads; what needs no noise as levels."""
    figure, axes = panels(figsize=(7, 5.5))
    forms = list(dict.fromkeys(_form(row.method) for row in rows if row.sigma))
    for method in dict.fromkeys(row.method for row in rows):
        own = sorted((row.sigma, row.accuracy, row.standard_error or 0.0) for row in rows if row.method == method)
        if own[-1][0]:
            sigmas, accuracies, errors = np.array(own, dtype=float).T
            dashed = "--" if method.startswith("DPFedAvg") else "-"
            colour = f"C{forms.index(_form(method))}"
            axes.errorbar(sigmas, accuracies, errors, marker="o", linestyle=dashed, color=colour, label=method)
        elif own[0][1] is not None:
            axes.axhline(own[0][1], linestyle=":", color="grey")
            axes.text(
                1.0,
                own[0][1],
                method,
                transform=axes.get_yaxis_transform(),
                fontsize="x-small",
                ha="right",
                va="bottom",
            )
    axes.set_xscale("log")
    axes.minorticks_off()
    shown = sorted({row.sigma for row in rows if row.sigma})
    axes.set_xticks(shown, [f"{sigma:g}" for sigma in shown])
    axes.set_xlabel("sigma")
    axes.set_ylabel("test accuracy, mean over clients and seeds")
    axes.legend(fontsize="x-small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.12), handlelength=4)
    return saved(figure, file, 110)


def _form(method: str) -> str:
    """ "clipped, fixed-size" of "DPFedMTL, clipped, fixed-size"."""
    return method.partition(", ")[2]


def _rounds(results: Sequence[dict[str, Any]], file: Path) -> Path:
    figure, (above, below) = panels(2, sharex=True, figsize=(7, 6), height_ratios=(2, 1))
    for method in dict.fromkeys(method_of(result) for result in results):
        own = [result["history"] for result in results if method_of(result) == method]
        rounds = [entry["round"] for entry in own[0]]
        losses = np.array([[entry["train_loss"] for entry in history] for history in own], dtype=float)
        errors = losses.std(axis=0, ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else None
        (line, *_) = above.errorbar(rounds, losses.mean(axis=0), errors, marker=".", label=method)
        spent = [entry.get("epsilon_upper") for entry in own[0]]
        if None not in spent:
            below.plot(rounds, spent, marker=".", color=line.get_color())
    from matplotlib.ticker import ScalarFormatter

    above.set_yscale("log")
    above.yaxis.set_major_formatter(ScalarFormatter())
    above.yaxis.set_minor_formatter(ScalarFormatter())
    above.set_ylabel("training loss,\nmean over clients and seeds")
    above.legend(fontsize="small")
    below.set_xlabel("round")
    below.set_ylabel("epsilon,\ncertified upper bound")
    return saved(figure, file, 150)
