"""The figures of the readers' pages; needs matplotlib (the `report` extra). Everything drawn is computed here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from ...accounting.currencies.tradeoff import tradeoff
from ...mechanisms import PrivacyNotion, Relation
from ...mechanisms.validate import lacks
from ..billboard.coalition_attack import Federation
from ..convergence.pmtl_runs import mean_estimation, run
from .pmtl.experiments import FIGURE_2, hidden_epsilon, seen_epsilon

Figures = dict[str, list[tuple[str, str]]]
"""File name and caption of each figure, by paper."""

DPI = 110


def draw(folder: Path, papers: Collection[str]) -> Figures:
    """Draw these papers' figures into the folder. Raises InputError without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise lacks("`--pages`", "matplotlib", "dpcert[report]") from error
    mpl.use("Agg")
    wanted: list[tuple[str, str, Callable[[Any], str]]] = [
        ("pmtl", "pmtl-epsilon.png", _epsilons),
        ("pmtl", "pmtl-tradeoff.png", _tradeoffs),
        ("pmtl", "pmtl-step-size.png", _step_sizes),
        ("pmtl", "pmtl-line-8.png", _line_8),
        ("dpfedmtl", "dpfedmtl-epsilon.png", _dpfedmtl),
        ("mocha", "mocha-rate.png", _mocha),
    ]
    figures: Figures = {}
    for paper, name, plot in wanted:
        if paper in papers:
            figures.setdefault(paper, []).append((name, _draw(folder / name, plot)))
    return figures


def _draw(file: Path, plot: Callable[[Any], str]) -> str:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    caption = plot(axes)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(file, dpi=DPI, metadata={"Software": None})
    pyplot.close(figure)
    return caption


def _bars(axes: Any, groups: list[str], series: dict[str, list[float]]) -> None:
    width = 0.8 / len(series)
    for place, (name, values) in enumerate(series.items()):
        at = np.arange(len(groups)) + (place - (len(series) - 1) / 2) * width
        bars = axes.bar(at, values, width, label=name)
        axes.bar_label(bars, [f"{value:.3g}" for value in values], fontsize=7)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_yscale("log")


def _epsilons(axes: Any) -> str:
    series: dict[str, list[float]] = {
        "as printed": [found["end"] for found in FIGURE_2.values()],
        "certified, Poisson, outside reader": [hidden_epsilon(d, 1 / f["m"]).upper for d, f in FIGURE_2.items()],
        "certified, coalition, client's update removed": [
            seen_epsilon(d, 1 / f["m"], Relation.ZERO_OUT).lower for d, f in FIGURE_2.items()
        ],
        "certified, coalition, client's data replaced": [
            seen_epsilon(d, 1 / f["m"]).lower for d, f in FIGURE_2.items()
        ],
    }
    _bars(axes, list(FIGURE_2), series)
    axes.set_ylim(5, 900)
    axes.set_ylabel("epsilon at delta = 1/m")
    return (
        "Epsilon at the end of Figure 2's runs, as printed and as certified. Billboard privacy is privacy before the "
        "coalition of all other clients (the two bars on the right)."
    )


ATTACKED = Federation(40, 4, 100, 4.75)


def _tradeoffs(axes: Any) -> str:
    alphas = np.linspace(0.001, 0.999, 150)
    hidden = Federation(40, 4, 100, 4.75, "poisson").run()
    claimed = [bracket.lower for bracket in tradeoff(hidden, Relation.ADD_REMOVE).betas(alphas.tolist())]
    seen = tradeoff(ATTACKED.run(), Relation.REPLACE_ONE, notion=PrivacyNotion.BILLBOARD)
    exact = [bracket.lower for bracket in seen.betas(alphas.tolist())]
    axes.plot(alphas, claimed, label="promised: hidden participation, Poisson, add-remove")
    axes.plot(alphas, exact, label="certified: coalition, replaced data")
    axes.plot(*_attack_points(), "k.", label="the attack, 200 000 runs a side")
    axes.plot([0, 1], [1, 0], ":", color="grey", label="no information")
    axes.set_xlabel("false-positive rate of the attack")
    axes.set_ylabel("rate of missed detections")
    return (
        "How well 39 pooling clients can tell which of two data sets the 40th has (q = 4, T = 100, z = 4.75). The "
        "attack's error rates lie far below the promised curve, and on the certified one."
    )


def _attack_points() -> tuple[list[float], list[float]]:
    rng, size = np.random.default_rng(11), 200_000
    up, down = (ATTACKED.scores(update, rng, size) for update in (1.0, -1.0))
    cuts = np.quantile(down, [0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995])
    return [float((down > cut).mean()) for cut in cuts], [float((up <= cut).mean()) for cut in cuts]


def _step_sizes(axes: Any) -> str:
    problem = mean_estimation(10, 3)
    for name, eta in (
        ("Theorem 7's step, eta = 2.52", 2.270 / 0.9),
        ("limit, 2/(L + lambda)", 2 / 1.1),
        ("eta = 0.2", 0.2),
    ):
        path = run(problem, "as-printed", strength=0.1, learning_rate=eta, rounds=30, start=np.full(3, 3.0))
        axes.plot(np.maximum(path.gaps(), 1e-16), label=name)
    start = path.gaps()[0]
    rate = 1 - 2 * 0.2 * (1 - 0.2 * 1.1 / 2)
    axes.plot(rate ** np.arange(31) * start, "k--", label="bound of the corrected theorem, eta = 0.2")
    axes.set_yscale("log")
    axes.set_xlabel("step")
    axes.set_ylabel("F(W) - F*")
    return (
        "PMTL, q = m = 10, L = mu = 1, lambda = 0.1, no noise: Theorem 7's step size lies beyond the stability limit."
    )


def _line_8(axes: Any) -> str:
    problem = mean_estimation(20, 3, 0.2)
    told = {"strength": 1.0, "learning_rate": 0.3, "local_steps": 5, "seed": 3}
    for form, name in (("as-printed", "line 8 as printed"), ("reset", "clients send w - w~ (published code)")):
        for cohort, noise, line in ((4, 0.0, "-"), (None, 0.1, "--")):
            setting = "cohorts of 4 of 20, no noise" if cohort else "all 20, sigma = 0.1"
            path = run(problem, form, rounds=40, cohort=cohort, noise_std=noise, **told)  # type: ignore[arg-type]
            axes.plot(path.gaps(), line, label=f"{name}; {setting}")
    axes.set_yscale("log")
    axes.set_xlabel("round")
    axes.set_ylabel("F(W) - F*")
    return (
        "Algorithm 1's line 8 on mean estimation (curvature 0.2, lambda 1, 5 local steps): as printed nothing ties the "
        "broadcast model to the clients' mean. With sampling it runs away, and with noise alone it drifts."
    )


def _dpfedmtl(axes: Any) -> str:
    from .dpfedmtl.composition import actual_epsilon, claimed_epsilon
    from .dpfedmtl.settings import CHOSEN, EXPERIMENTS

    groups: list[str] = []
    series: dict[str, list[float]] = {
        "chosen for": [],
        "if sigma were the multiplier": [],
        "certified, before the clients": [],
    }
    for each in EXPERIMENTS.values():
        for chosen, sigma in CHOSEN.items():
            groups.append(f"{each.name}\n{sigma:g}")
            series["chosen for"].append(chosen)
            series["if sigma were the multiplier"].append(claimed_epsilon(each, sigma).upper)
            series["certified, before the clients"].append(actual_epsilon(each, sigma, "2CK/M", "averages", "lower"))
    for (name, values), mark in zip(series.items(), "os^", strict=True):
        axes.plot(range(len(groups)), [min(value, 1e8) for value in values], mark, label=name)
    axes.set_xticks(range(len(groups)), groups, fontsize=7)
    axes.set_yscale("log")
    axes.set_ylabel("epsilon at delta = 1e-5")
    return (
        "DPFedMTL's four noise levels: the epsilon each was chosen for, what the whole run would cost if sigma were "
        "the noise multiplier, and what it costs at least with the noise that the paper's sensitivity gives."
    )


def _mocha(axes: Any) -> str:
    from ..convergence.mocha_problem import made_problem, squared_optimum, squared_theta
    from .mocha.theorem_1 import constant

    problem = made_problem(4, 5, 6, coupling=0.9)
    _, best = squared_optimum(problem)
    for drop, colour in ((0.0, "C0"), (0.7, "C1")):
        rng, state, excess, theta = np.random.default_rng(1), problem.start(), [], 0.0
        for _ in range(150):
            excess.append(problem.dual(state.alpha) - best)
            theta = max(theta, float(squared_theta(problem, state, problem.round(state)).max()))
            state = problem.round(state, rng.random(problem.tasks.count) >= drop)
        speed = (1 - (drop + (1 - drop) * theta)) * constant(problem)
        axes.plot(np.maximum(excess, 1e-12), color=colour, label=f"one run, each node silent with probability {drop:g}")
        axes.plot(problem.total * np.exp(-speed * np.arange(150)), "--", color=colour, label="Theorem 1's bound")
    state, silent = problem.start(), np.array([False, *[True] * (problem.tasks.count - 1)])
    stuck = []
    for _ in range(150):
        stuck.append(problem.dual(state.alpha) - best)
        state = problem.round(state, silent)
    axes.plot(stuck, color="C3", label="one node that never answers")
    axes.set_yscale("log")
    axes.set_ylim(bottom=1e-9)
    axes.set_xlabel("round")
    axes.set_ylabel("D(alpha) - D*")
    return (
        "MOCHA on ridge regression: Theorem 1's linear rate, with and without silent nodes, and Assumption 2's "
        "boundary: one node that never answers."
    )
