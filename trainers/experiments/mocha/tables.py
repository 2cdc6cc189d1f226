"""What the studies say: errors, times to a sub-optimality, where a dropped node ends up; and their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ....mechanisms.arrays import Floats
from ..numbers import markdown, over_seeds
from ..plots import panels, saved
from .recorder import NETWORKS, elapsed

Results = Sequence[dict[str, Any]]

TARGET = 1e-2
"""Sub-optimality, relative to the optimum, whose time the tables give."""


@dataclass(frozen=True)
class Curve:
    """One method at one parameter on one seed, as sub-optimality relative to the optimum. value: NaN entries never."""

    method: str
    label: str
    seed: int
    rounds: np.ndarray[Any, np.dtype[np.float64]]
    work: np.ndarray[Any, np.dtype[np.float64]]
    excess: np.ndarray[Any, np.dtype[np.float64]]

    def time_to(self, target: float, network: str) -> float:
        """Simulated time to this sub-optimality; inf if it was not reached."""
        reached = np.flatnonzero(self.excess <= target)
        return float(elapsed(self.work, self.rounds, network)[reached[0]]) if len(reached) else np.inf


def shown(values: Sequence[float], form: str) -> str:
    """The mean, and of several values the standard error in brackets; `never` where one is infinite."""
    if np.isinf(values).any():
        return "never"
    mean, error = over_seeds(values)
    return f"{mean:{form}}" if error is None else f"{mean:{form}} ({error:{form}})"


def error_table(results: Results) -> str:
    """Table 1 in Markdown: error in per cent, mean (standard error) over splits, paired differences to MTL."""
    models = list(dict.fromkeys(result["model"] for result in results))
    errors = {model: [100 * r["error"] for r in results if r["model"] == model] for model in models}
    lines = []
    for model in models:
        above, apart = over_seeds(np.subtract(errors[model], errors["mtl"]).tolist())
        chosen = ", ".join(sorted({f"{r['lambda']:g}" for r in results if r["model"] == model}))
        spread = "" if apart is None else f" ({apart:.2f})"
        difference = "" if model == "mtl" else f"{above:+.2f}{spread}"
        lines.append((model, shown(errors[model], ".2f"), difference, chosen))
    return markdown(("model", "error, % (standard error)", "above MTL, paired", "lambda chosen"), lines)


def curves_of(results: Results) -> list[Curve]:
    """The W-step's curves, against each seed's certified lower bound of the optimum."""
    optimum = {result["seed"]: result["value"] for result in results if result["method"] == "optimum"}
    found = []
    for result in results:
        if result["method"] in ("optimum", "whole"):
            continue
        best = optimum[result["seed"]]
        rounds, work, primal = (np.array(result[name], dtype=float) for name in ("rounds", "work", "primal"))
        excess = np.minimum.accumulate((primal - best) / abs(best))
        found.append(Curve(result["method"], result["label"], result["seed"], rounds, work, excess))
    return found


def tuned(curves: Sequence[Curve], network: str, target: float = TARGET) -> dict[tuple[str, str], list[Curve]]:
    """For each (method, variability) the parameter with the least mean time to the target, or else the least excess."""
    groups: dict[tuple[str, str], dict[str, list[Curve]]] = {}
    for curve in curves:
        kind = curve.label.split(",")[0] if "=" not in curve.label.split(",")[0] else ""
        groups.setdefault((curve.method, kind), {}).setdefault(curve.label, []).append(curve)

    def merit(own: list[Curve]) -> tuple[float, float]:
        times = float(np.mean([curve.time_to(target, network) for curve in own]))
        return times, float(np.mean([curve.excess[-1] for curve in own]))

    return {key: min(by_label.values(), key=merit) for key, by_label in groups.items()}


def time_table(results: Results, target: float = TARGET) -> str:
    """Figures 1 and 2 in Markdown: simulated time to the target for each network, each method tuned for it.

    Means over seeds (standard errors); where a seed did not come to the target, the mean of what was reached.
    """
    curves = curves_of(results)
    rows: dict[tuple[str, str], list[str]] = {}
    for network in NETWORKS:
        for key, own in tuned(curves, network, target).items():
            time = shown([curve.time_to(target, network) / 1e3 for curve in own], ".0f")
            reached = f"not reached ({np.mean([c.excess[-1] for c in own]):.1g})" if time == "never" else time
            rows.setdefault(key, []).append(f"{reached} {own[0].label}")
    heads = (f"thousands of operations to {target:g}", *NETWORKS)
    return markdown(heads, ((f"{method} {kind}".rstrip(), *cells) for (method, kind), cells in rows.items()))


def drop_table(results: Results, target: float = TARGET) -> str:
    """Figure 3 in Markdown: rounds to the target, and the last sub-optimality, by dropout; Algorithm 1 beside it.

    Means over seeds (standard errors).
    """
    heads = ["dropout", f"rounds to {target:g}", "sub-optimality at the end", "Algorithm 1, joint primal at the end"]
    lines, curves = [], curves_of(results)
    first: list[float] = []
    for label in dict.fromkeys(curve.label for curve in curves):
        own = [curve for curve in curves if curve.label == label]
        hits = [np.flatnonzero(curve.excess <= target) for curve in own]
        rounds = [curve.rounds[hit[0]] if len(hit) else np.inf for curve, hit in zip(own, hits, strict=True)]
        whole = [r["primal"][-1] for r in results if r["method"] == "whole" and r["label"] == label]
        first = first or whole
        last = shown([float(curve.excess[-1]) for curve in own], ".2g")
        above = shown([float(100 * (end / begin - 1)) for end, begin in zip(whole, first, strict=True)], ".3f") + "%"
        lines.append((label, shown(rounds, ".0f"), last, shown(whole, ".4f"), above))
    return markdown([*heads, "above the first, paired"], lines)


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
