"""DPFedMTL's Figure 3, its trade-off curves by the central limit theorem, beside certified ones.

For each sigma of Table 3 and the paper's two settings:
- the limit G_mu, mu = p sqrt(T (e^(1/sigma^2) - 1)), which the paper plots: an estimate;
- the certified curve of the mechanism that it is the limit of: sigma the noise multiplier of the sum, secret Poisson
  coins, add-remove neighbours, the reading kindest to the paper;
- the certified curve of what Algorithm 1, with the clipping that it supposes, shows its server (dpfedmtl.forms) at the
  largest sigma. With the others it is the same to the eye.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ...accounting.currencies.tradeoff import TradeOff, tradeoff
from ...mechanisms import Gaussian, Participation, Poisson, Relation, Repeat
from ...mechanisms.arrays import Floats
from ..dpfedmtl.claimed import claimed_mu
from ..dpfedmtl.forms import DpFedMtlClipped
from .numbers import bracket, markdown
from .plots import panels, saved
from .presets import SIGMAS
from .runs import Experiment, drawn
from .sweep import Cells, Reported, run_cells

COLOURS = ("tab:red", "tab:orange", "tab:green", "tab:purple")
SMALL, LARGE = 1e-7, 0.1
"""The type I errors of the table: a small one, where an epsilon at a small delta is decided, and a large one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """points: type I errors on each of the two scales."""

    sigmas: tuple[float, ...]
    points: int

    @property
    def errors(self) -> Floats:
        """(n,) type I errors, dense near 0 on a linear scale and on a logarithmic one, and those of the table."""
        near = np.linspace(0, 1, self.points) ** 2
        return np.unique(np.concatenate([near, np.logspace(-8, 0, self.points), [SMALL, LARGE]]))


FULL, QUICK = Plan(SIGMAS, 61), Plan((0.65, 9.69), 13)


@dataclass(frozen=True, slots=True)
class Setting:
    """One panel: K of M clients a round, T rounds (section 6.1, Table 1)."""

    name: str
    population: int
    cohort: int
    rounds: int

    @property
    def rate(self) -> float:
        """p = K/M."""
        return self.cohort / self.population


SETTINGS = (Setting("CelebA", 9343, 20, 400), Setting("FEMNIST", 174, 3, 1000))


def limit(setting: Setting, sigma: float, alphas: Floats) -> Floats:
    """(n,) type II errors of G_mu at type I errors `alphas`."""
    return np.asarray(ndtr(ndtri(1 - alphas) - claimed_mu(sigma, setting.rate, setting.rounds)))


def certified(setting: Setting, sigma: float, alphas: Floats) -> Floats:
    """(2, n): lower and upper ends, with sigma as the noise multiplier of the sum."""
    return _ends(tradeoff(Repeat(Poisson(Gaussian(sigma), setting.rate), setting.rounds), Relation.ADD_REMOVE), alphas)


def shown_to_the_server(setting: Setting, sigma: float, alphas: Floats) -> Floats:
    """(2, n): lower and upper ends of what the clipped listing's uploads tell."""
    multiplier = DpFedMtlClipped().noise_multiplier(sigma, setting.cohort, setting.population)
    run = Repeat(Poisson(Gaussian(multiplier), setting.rate), setting.rounds)
    return _ends(tradeoff(run, Relation.REPLACE_ONE, participation=Participation.VISIBLE), alphas)


def _ends(curve: TradeOff, alphas: Floats) -> Floats:
    return np.array([(found.lower, found.upper) for found in curve.betas(alphas.tolist())]).T


def curves(plan: Plan) -> Cells:
    """A cell for each curve: type I errors, both ends of the certified type II errors, and the limit's."""
    found: Cells = {}
    for setting in SETTINGS:
        for sigma in plan.sigmas:
            cell = partial(_curve, setting, sigma, plan.errors, certified)
            found[f"{setting.name}-{sigma:g}-{plan.points}"] = cell
        server = partial(_curve, setting, plan.sigmas[-1], plan.errors, shown_to_the_server)
        found[f"{setting.name}-{plan.sigmas[-1]:g}-{plan.points}-server"] = server
    return found


def _curve(
    setting: Setting, sigma: float, alphas: Floats, ends: Callable[[Setting, float, Floats], Floats]
) -> dict[str, Any]:
    lower, upper = ends(setting, sigma, alphas)
    observer = "server" if ends is shown_to_the_server else "sum"
    told = {"setting": setting.name, "sigma": sigma, "observer": observer}
    errors = {"type_1": alphas, "type_2_lower": lower, "type_2_upper": upper, "limit": limit(setting, sigma, alphas)}
    return told | {name: values.tolist() for name, values in errors.items()}


def table(results: Sequence[dict[str, Any]]) -> str:
    """In Markdown: the power of the best test, 1 - type II error, certified and by the limit, at two type I errors."""
    errors = (SMALL, LARGE)
    heads = [f"power at type I error {error:g}, {by}" for error in errors for by in ("certified", "by the limit")]
    lines = []
    for result in results:
        cells = []
        for error in errors:
            at = result["type_1"].index(error)
            cells.append(bracket((1 - result["type_2_upper"][at], 1 - result["type_2_lower"][at])))
            cells.append("-" if result["observer"] == "server" else f"{1 - result['limit'][at]:.3g}")
        observer = "Algorithm 1's server" if result["observer"] == "server" else "of the noisy sum"
        lines.append((result["setting"], f"{result['sigma']:g}", observer, *cells))
    return markdown(("setting", "sigma", "observer", *heads), lines)


def run_curves(name: str, plan: Plan, folder: Path, report: Reported = lambda *_: None) -> Experiment:
    """The curves, or those that the folder lacks; the table and the figure in the folder."""
    results = run_cells(curves(plan), folder, report)
    shown = table(results)
    (folder / "table.md").write_text(shown + "\n")
    plot, missing = drawn(lambda: str(draw(results, folder)))
    told = {"table": shown, "plot": plot, "cells": results}
    return Experiment(name, folder, shown, f"{len(results)} curves in {folder}", told, missing)


def draw(results: Sequence[dict[str, Any]], folder: str | Path) -> Path:
    """figure3.png: the paper's axes above, and below the small errors that an epsilon at a small delta is about.

    Raises InputError without matplotlib.
    """
    figure, grid = panels(2, len(SETTINGS), figsize=(10, 9))
    for (above, below), setting in zip(grid.T, SETTINGS, strict=True):
        own = [result for result in results if result["setting"] == setting.name]
        title = f"{setting.name}: {setting.cohort} of {setting.population}, {setting.rounds} rounds"
        above.set_title(title, fontsize="small")
        _panel(above, own, lambda errors: errors)
        above.set(xlabel="type I error", ylabel="type II error", xlim=(-0.01, 1), ylim=(-0.01, 1))
        _panel(below, own, lambda errors: 1 - errors)
        below.set(xlabel="type I error", ylabel="power, 1 - type II error", xlim=(1e-8, 1), ylim=(1e-8, 1.5))
        below.set(xscale="log", yscale="log")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, fontsize="x-small", frameon=False)
    return saved(figure, Path(folder) / "figure3.png", 75, rect=(0, 0.05, 1, 1))


def _panel(axes: Any, results: Sequence[dict[str, Any]], shown: Callable[[Floats], Floats]) -> None:
    """shown: what is drawn of the type II errors."""
    alphas = np.array(results[0]["type_1"])
    for result in results:
        sigma = result["sigma"]
        lower, upper = (shown(np.array(result[end])) for end in ("type_2_lower", "type_2_upper"))
        if result["observer"] == "server":
            told = f"Algorithm 1, to its server, {sigma:g}"
            axes.plot(alphas, upper, ":", color="black", linewidth=2.4, label=told)
            continue
        colour = COLOURS[SIGMAS.index(sigma)]
        axes.fill_between(alphas, lower, upper, color=colour, alpha=0.3, linewidth=0)
        axes.plot(alphas, lower, color=colour, linewidth=1.2, label=f"certified, sigma = {sigma:g}")
        by_limit = shown(np.array(result["limit"]))
        axes.plot(alphas, by_limit, "--", color=colour, linewidth=1.2, label=f"limit, sigma = {sigma:g}")
    axes.plot(alphas, shown(1 - alphas), color="tab:blue", linewidth=0.8, label="nothing to tell")
