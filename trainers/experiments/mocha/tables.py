"""What the studies say: errors with standard errors, times to a sub-optimality, and where a dropped node ends up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numbers import markdown, over_seeds
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
