"""Figures of the studies; needs matplotlib (the `report` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....mechanisms.arrays import Floats
from ..plots import panels, saved
from .recorder import NETWORKS, elapsed
from .tables import Curve, Results, curves_of, tuned

NAMES = {"mocha": "MOCHA", "cocoa": "CoCoA", "mb-sdca": "Mb-SDCA", "mb-sgd": "Mb-SGD"}
SMALLEST = 1e-6


def draw(name: str, results: Results, folder: str | Path) -> Path | None:
    """The study's figure, NAME.png; None for those without one. Raises InputError without matplotlib."""
    if not name.startswith("figure"):
        return None
    file = Path(folder) / f"{name}.png"
    if name == "figure3":
        return _dropouts(curves_of(results), file)
    kinds = ("",) if name == "figure1" else ("high", "low")
    return _networks(curves_of(results), kinds, file)


def _networks(curves: Sequence[Curve], kinds: Sequence[str], file: Path) -> Path:
    """One panel a network and variability, each method at the parameter tuned for that network."""
    figure, grid = panels(len(kinds), len(NETWORKS), figsize=(11, 3.2 * len(kinds)), squeeze=False)
    for row, kind in zip(grid, kinds, strict=True):
        for axes, network in zip(row, NETWORKS, strict=True):
            for (method, of_kind), own in tuned(curves, network).items():
                if of_kind in ("", kind):
                    _line(axes, own, [elapsed(curve.work, curve.rounds, network) for curve in own], NAMES[method])
            axes.set_xscale("log")
            axes.set_title(f"{network} {kind and '(' + kind + ' variability)'}")
            axes.set_xlabel("simulated time")
        row[0].set_ylabel("sub-optimality, relative")
    grid[0][0].legend(fontsize="small")
    return saved(figure, file, 90)


def _dropouts(curves: Sequence[Curve], file: Path) -> Path:
    figure, axes = panels(figsize=(7, 4.5))
    for label in dict.fromkeys(curve.label for curve in curves):
        own = [curve for curve in curves if curve.label == label]
        _line(axes, own, [curve.rounds for curve in own], "one node never answers" if label == "never" else label)
    axes.set_xlabel("round")
    axes.set_ylabel("sub-optimality, relative")
    axes.legend(fontsize="small")
    return saved(figure, file, 90)


def _line(axes: Any, own: Sequence[Curve], times: Sequence[Floats], label: str) -> None:
    """The geometric mean over seeds, and a band of one standard error of the logarithm, where all seeds have values."""
    begin, end = max(time[0] for time in times), min(time[-1] for time in times)
    grid = np.unique(np.concatenate([time[(time >= begin) & (time <= end)] for time in times]))
    logs = np.array(
        [
            np.interp(grid, time, np.log10(np.maximum(curve.excess, SMALLEST)))
            for curve, time in zip(own, times, strict=True)
        ]
    )
    mean = logs.mean(axis=0)
    (line,) = axes.plot(grid, 10**mean, label=label)
    if len(own) > 1:
        error = logs.std(axis=0, ddof=1) / np.sqrt(len(own))
        axes.fill_between(grid, 10 ** (mean - error), 10 ** (mean + error), color=line.get_color(), alpha=0.3)
    axes.set_yscale("log")
