"""Figures of the studies; needs matplotlib (the `report` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...mechanisms import InputError
from .simulated_time import NETWORKS, elapsed
from .study_tables import Curve, Results, curves_of, tuned

NAMES = {"mocha": "MOCHA", "cocoa": "CoCoA", "mb-sdca": "Mb-SDCA", "mb-sgd": "Mb-SGD"}
SMALLEST = 1e-6


def draw(name: str, results: Results, folder: str | Path) -> Path | None:
    """The study's figure, NAME.png; None for those without one. Raises InputError without matplotlib."""
    if not name.startswith("figure"):
        return None
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise InputError("plots", "matplotlib is not installed", "pip install 'dpcert[report]'") from error
    mpl.use("Agg")
    file = Path(folder) / f"{name}.png"
    if name == "figure3":
        return _dropouts(curves_of(results), file)
    kinds = ("",) if name == "figure1" else ("high", "low")
    return _networks(curves_of(results), kinds, file)


def _networks(curves: Sequence[Curve], kinds: Sequence[str], file: Path) -> Path:
    """One panel a network and variability, each method at the parameter tuned for that network."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(len(kinds), len(NETWORKS), figsize=(11, 3.2 * len(kinds)), squeeze=False)
    for row, kind in zip(panels, kinds, strict=True):
        for axes, network in zip(row, NETWORKS, strict=True):
            for (method, of_kind), own in tuned(curves, network).items():
                if of_kind in ("", kind):
                    _line(axes, own[0], elapsed(own[0].work, own[0].rounds, network), NAMES[method])
            axes.set_xscale("log")
            axes.set_title(f"{network} {kind and '(' + kind + ' variability)'}")
            axes.set_xlabel("simulated time")
        row[0].set_ylabel("sub-optimality, relative")
    panels[0][0].legend(fontsize="small")
    return _saved(figure, file)


def _dropouts(curves: Sequence[Curve], file: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for label in dict.fromkeys(curve.label for curve in curves):
        own = next(curve for curve in curves if curve.label == label)
        _line(axes, own, own.rounds, "one node never answers" if label == "never" else label)
    axes.set_xlabel("round")
    axes.set_ylabel("sub-optimality, relative")
    axes.legend(fontsize="small")
    return _saved(figure, file)


def _line(axes: Any, curve: Curve, times: Any, label: str) -> None:
    axes.plot(times, np.maximum(curve.excess, SMALLEST), label=label)
    axes.set_yscale("log")


def _saved(figure: Any, file: Path) -> Path:
    from matplotlib import pyplot

    figure.tight_layout()
    figure.savefig(file, dpi=90)
    pyplot.close(figure)
    return file
