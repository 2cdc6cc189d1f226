"""Figures of a sweep, drawn without a screen by matplotlib (the `report` extra)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...mechanisms.validate import lacks
from .numbers import upper
from .table import Row, method_of, summarise


def panels(*shape: int, **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, as matplotlib.pyplot.subplots has them. Raises InputError without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise lacks("Drawing", "matplotlib", "dpcert[report]") from error
    mpl.use("Agg")
    from matplotlib import pyplot

    found: tuple[Any, Any] = pyplot.subplots(*shape, **options)
    return found


def saved(figure: Any, file: Path, dpi: int, **layout: Any) -> Path:
    """Write the figure, and let go of it. layout: as for Figure.tight_layout."""
    from matplotlib import pyplot

    figure.tight_layout(**layout)
    figure.savefig(file, dpi=dpi)
    pyplot.close(figure)
    return file


TICK_ROOM = 0.08
"""Of an axis' length, for each label."""

FEW_POWERS = 30.0
"""Where a logarithmic axis spans less, labels between the powers of ten have room."""


def draw(results: Sequence[dict[str, Any]], folder: str | Path) -> list[Path]:
    """accuracy.png (accuracy against certified epsilon), sigma.png (against DPFedMTL's sigma, where cells have several
    of them), and rounds.png where runs were evaluated on the way.

    Raises InputError without matplotlib.
    """
    rows, axis = summarise(results), "epsilon, certified upper bound"
    files = [_accuracies(rows, Path(folder) / "accuracy.png", lambda row: row.epsilon, axis, upper)]
    if len({row.sigma for row in rows} - {0.0}) > 1:
        files.append(_by_sigma(rows, Path(folder) / "sigma.png"))
    # Fine-tuning comes after the last round.
    watched = [result for result in results if len(result["history"]) > 1 and not result["finetune"]]
    if watched:
        files.append(_rounds(watched, Path(folder) / "rounds.png"))
    return files


def _accuracies(
    rows: Sequence[Row],
    file: Path,
    across: Callable[[Row], float | None],
    axis: str,
    shown: Callable[[float], str],
    look: Callable[[str], dict[str, Any]] = lambda method: {},
) -> Path:
    """Methods with noise as curves with error bars; those without (or without any release) as levels.

    across: where a row is on this axis, nowhere without noise. look: of a method's curve.
    """
    figure, axes = panels(figsize=(7, 5.5))
    places: set[float] = set()
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method and row.accuracy is not None]
        known = [(place, row.accuracy, row.standard_error or 0.0) for row in own if (place := across(row))]
        private = sorted(point for point in known if math.isfinite(point[0]))
        if private:
            found, accuracies, errors = np.array(private, dtype=float).T
            axes.errorbar(found, accuracies, errors, marker="o", label=method, **look(method))
            places |= set(found.tolist())
        elif own and own[0].accuracy is not None:
            _level(axes, own[0].accuracy, method)
    axes.set_xscale("log")
    axes.minorticks_off()
    ticks = _apart(sorted(places))
    axes.set_xticks(ticks, list(map(shown, ticks)))
    axes.set(xlabel=axis, ylabel="test accuracy, mean over clients and seeds")
    if places:
        legend = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "handlelength": 4}
        axes.legend(fontsize="x-small", ncols=3, **legend)
    return saved(figure, file, 150)


def _by_sigma(rows: Sequence[Row], file: Path) -> Path:
    """DPFedMTL's Table 3: a colour for each form, dashed without heads."""
    forms = list(dict.fromkeys(_form(row.method) for row in rows if row.sigma))

    def look(method: str) -> dict[str, Any]:
        dashed = "--" if method.startswith("DPFedAvg") else "-"
        return {"linestyle": dashed, "color": f"C{forms.index(_form(method))}"}

    return _accuracies(rows, file, lambda row: row.sigma, "sigma", lambda sigma: f"{sigma:g}", look)


def _level(axes: Any, accuracy: float, method: str) -> None:
    """A line for a method that needs no noise, named at its right end: such lines are all grey."""
    axes.axhline(accuracy, linestyle=":", color="grey")
    place = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "bottom"}
    axes.text(1.0, accuracy, method, fontsize="x-small", **place)


def _apart(values: Sequence[float]) -> list[float]:
    """Those of the sorted positive values, the first among them, whose labels have room on a logarithmic axis."""
    kept: list[float] = []
    for value in values:
        if not kept or math.log(value / kept[-1]) >= TICK_ROOM * math.log(values[-1] / values[0]):
            kept.append(value)
    return kept


def _form(method: str) -> str:
    """ "clipped, fixed-size" of "DPFedMTL, clipped, fixed-size"."""
    return method.partition(", ")[2]


def _rounds(results: Sequence[dict[str, Any]], file: Path) -> Path:
    """A colour for each method; at given epsilons a curve for each of them, fainter for smaller ones."""
    figure, (above, below) = panels(2, sharex=True, figsize=(7, 7), height_ratios=(2, 1))
    curves: dict[tuple[str, float], list[Any]] = {}
    for result in results:
        curves.setdefault((method_of(result), result.get("target_epsilon", 0.0)), []).append(result["history"])
    methods = list(dict.fromkeys(method for method, _ in curves))
    targets = sorted({target for _, target in curves if target})
    for (method, target), own in sorted(curves.items(), key=lambda curve: methods.index(curve[0][0])):
        look: dict[str, Any] = {"marker": ".", "color": f"C{methods.index(method)}"}
        look |= {"alpha": (targets.index(target) + 1) / len(targets)} if target else {}
        rounds = [entry["round"] for entry in own[0]]
        losses = np.array([[entry["train_loss"] for entry in history] for history in own], dtype=float)
        errors = losses.std(axis=0, ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else None
        label = f"{method}, epsilon {target:g}" if target else method
        above.errorbar(rounds, losses.mean(axis=0), errors, label=label, **look)
        spent = [entry.get("epsilon_upper") for entry in own[0]]
        if None not in spent:
            below.plot(rounds, spent, **look)
    _logarithmic(above)
    above.set_ylabel("training loss,\nmean over clients and seeds")
    below.set_xlabel("round")
    below.set_ylabel("epsilon,\ncertified upper bound")
    handles, labels = above.get_legend_handles_labels()
    columns = 3 if max(map(len, labels)) <= 30 else 2
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.3)}
    below.legend(handles, labels, fontsize="x-small", ncols=columns, **place)
    return saved(figure, file, 150)


def _logarithmic(axes: Any) -> None:
    """The y axis, labelled between the powers of ten where these would be few."""
    from matplotlib.ticker import ScalarFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < FEW_POWERS * low:
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_formatter(ScalarFormatter())
