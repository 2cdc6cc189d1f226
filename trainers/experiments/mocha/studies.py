"""MOCHA's experiments as resumable grids of cells: Tables 1 and 4, Figures 1 to 3 (section 5), and private rounds.

A cell is one run; its result is a JSON file in the study's folder. An interrupted study goes on where it stopped.
The W-steps use a mean-regularised Omega; the reference implementation's own W-step driver keeps Omega = m I, under
which tasks have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ....mechanisms.validate import count
from ...engine.privacy import PrivacyGoal
from ...mocha.losses import LOSSES
from ...mocha.methods import Alternating, BatchSdca, BatchSgd, Method, Setting, ThetaSteps, WeightStep
from ...mocha.omegas import mean_regularised
from ...mocha.private import PrivateRounds
from ...mocha.private_run import PrivateRun
from ...mocha.run import identity_of
from ...mocha.source import highly_skewed, load_problem
from ...mocha.tasks import Tasks
from ...mocha.work import Dropping, FixedTheta, Heterogeneous, Passes, Work
from ..numbers import markdown, over_seeds, upper
from ..runs import Experiment, drawn
from ..sweep import Cells, Reported, run_cells
from .baselines import MODELS, cross_validated, fit_local, mean_error
from .recorder import followed, joint_primal_of, optimum_of, primal_of
from .tables import Results, draw, drop_table, error_table, shown, time_table

Maker = Callable[[Setting], Method]

PASSES = (0.25, 0.5, 1.0, 2.0, 5.0)
THETAS = (0.3, 0.6, 0.9)
SCALINGS = (1.0, 10.0, 100.0)
STEPS = (0.01, 0.1, 1.0)
DROPS = (0.0, 0.25, 0.5, 0.75, 0.9)
VARIABILITY = {"high": 0.1, "low": 0.9}
BATCHES = (0.1, 1.0)
ROUNDS = 20_000
DROPPED_ROUNDS = 4000
OPERATIONS = 2e7
RIDGE = 0.1
SKEWING = 4


@dataclass(frozen=True)
class Study:
    """data: as for load_problem; every seed splits anew, or there is the recorded split. first: of so many seeds.

    shorter: by what the figures' rounds and operations are divided.
    """

    data: str
    split_file: Path | None
    regularisation: float
    seeds: int
    first: int = 0
    shorter: int = 1

    def __post_init__(self) -> None:
        count("seeds", self.seeds)
        count("seed", self.first, least=0)
        count("shorter", self.shorter)

    @property
    def runs(self) -> range:
        """The seeds."""
        return range(self.first, self.first + self.seeds)

    def key(self, name: str) -> str:
        """A digest of the named experiment, its data and its lambda, under which its results are kept.

        Raises InputError for data or a split that cannot be read.
        """
        tasks = load_problem(self.data, self.split_file, 0).train
        length = () if self.shorter == 1 else (self.shorter,)
        return identity_of(tasks, name, self.data, self.regularisation, *length)[:12]

    def setting(self, seed: int) -> Setting:
        """The W-step's problem on this seed's training samples."""
        tasks = load_problem(self.data, self.split_file, seed).train
        return Setting(tasks, LOSSES["hinge"], mean_regularised(tasks.count, RIDGE), self.regularisation)


def table1(study: Study) -> Cells:
    """Error of the global, local and multi-task models, lambda by 5-fold cross-validation on each split."""
    return _errors(study, lambda tasks, seed: tasks)


def table4(study: Study) -> Cells:
    """As table1, on highly skewed training samples; each task's test samples stay. How they are skewed is ours."""
    return _errors(study, lambda tasks, seed: highly_skewed(tasks, skewing(seed)))


def skewing(seed: int) -> np.random.Generator:
    """The random numbers that skew a seed's training samples; others than those that split them."""
    return np.random.default_rng((seed, SKEWING))


def _errors(study: Study, prepared: Callable[[Tasks, int], Tasks]) -> Cells:
    def cell(model: str, seed: int) -> dict[str, Any]:
        problem, loss, fit = load_problem(study.data, None, seed), LOSSES["hinge"], MODELS[model]
        train = prepared(problem.train, seed)
        chosen = cross_validated(fit, train, loss, seed)
        error = mean_error(problem.test, fit(train, loss, chosen, seed))
        return {"model": model, "seed": seed, "lambda": chosen, "error": error, "sizes": train.sizes.tolist()}

    return {f"{model}-{seed}": partial(cell, model, seed) for seed in study.runs for model in MODELS}


def figure1(study: Study) -> Cells:
    """Sub-optimality of the W-step by round and work, for each method and a grid of its own parameter."""
    cells = _optimum(study)
    for passes in PASSES:
        cells |= _cell(study, "mocha", f"passes={passes:g}", partial(WeightStep, work=Passes(passes)))
    for theta in THETAS:
        cells |= _cell(study, "cocoa", f"theta={theta:g}", partial(ThetaSteps, targets=FixedTheta(theta)))
    for batch in BATCHES:
        cells |= _batches(study, Passes(batch), "", f",batch={batch:g}")
    return cells


def _batches(study: Study, work: Work, before: str, after: str) -> Cells:
    cells: Cells = {}
    for scaling in SCALINGS:
        method = partial(BatchSdca, work=work, scaling=scaling)
        cells |= _cell(study, "mb-sdca", f"{before}scaling={scaling:g}{after}", method)
    for step in STEPS:
        cells |= _cell(study, "mb-sgd", f"{before}step={step:g}{after}", partial(BatchSgd, work=work, scaling=step))
    return cells


def figure2(study: Study) -> Cells:
    """As figure1, with every node taking a random share of the smallest n_t a round; high and low variability."""
    cells = _optimum(study)
    for variability, low in VARIABILITY.items():
        work = Heterogeneous(low)
        cells |= _cell(study, "mocha", variability, partial(WeightStep, work=work))
        cells |= _batches(study, work, f"{variability},", "")
    return cells | _cell(study, "cocoa", "theta=0.6", partial(ThetaSteps, targets=FixedTheta(0.6)))


def figure3(study: Study) -> Cells:
    """Nodes that drop out with probability p a round, and one that never answers; W-step and Algorithm 1 whole."""
    cells = _optimum(study)
    tasks = study.setting(0).tasks.count
    policies = {f"p={p:g}": Dropping(Passes(1.0), p) for p in DROPS}
    policies["never"] = Dropping(Passes(1.0), (1.0,) + (0.0,) * (tasks - 1))
    for label, policy in policies.items():
        cells |= _cell(study, "mocha", label, partial(WeightStep, work=policy), DROPPED_ROUNDS)
        cells |= {f"whole-{label}-{seed}": partial(_whole, study, label, policy, seed) for seed in study.runs}
    return cells


def _optimum(study: Study) -> Cells:
    def cell(seed: int) -> dict[str, Any]:
        return {"method": "optimum", "seed": seed, "value": optimum_of(study.setting(seed), seed)}

    return {f"optimum-{seed}": partial(cell, seed) for seed in study.runs}


def _cell(study: Study, method: str, label: str, made: Maker, longest: int | None = None) -> Cells:
    def cell(seed: int) -> dict[str, Any]:
        setting = study.setting(seed)
        rounds, operations = (longest or ROUNDS) // study.shorter, OPERATIONS / study.shorter
        rng = np.random.default_rng(seed)
        found = followed(method, primal_of(setting), made(setting), rng, rounds, operations)
        return {"label": label, "seed": seed, **found}

    return {f"{method}-{label}-{seed}": partial(cell, seed) for seed in study.runs}


def _whole(study: Study, label: str, policy: Work, seed: int) -> dict[str, Any]:
    """Algorithm 1 whole under this policy."""
    setting = study.setting(seed)
    method = Alternating(setting, policy, rounds_per_step=50, smoothing=1e-3, falling=0.0)
    rounds, rng = DROPPED_ROUNDS // study.shorter, np.random.default_rng(seed)
    found = followed("mocha", joint_primal_of(setting), method, rng, rounds)
    return {"label": label, "seed": seed, **found, "method": "whole"}


MULTIPLIERS = (0.0, 1.0, 4.0, 16.0, 64.0)
CLIP_NORM = 0.02
PRIVATE_ROUNDS = 60
DELTA = 1e-3


def private_cells(study: Study) -> Cells:
    """Runs over MULTIPLIERS, and local training with lambda by cross-validation beside them."""

    def private(multiplier: float, seed: int) -> dict[str, Any]:
        setting, problem = study.setting(seed), load_problem(study.data, study.split_file, seed)
        rounds = PrivateRounds(setting, CLIP_NORM, multiplier)
        run = PrivateRun(rounds, "study", PrivacyGoal(DELTA), seed=seed)
        outcome = run.solve(PRIVATE_ROUNDS)
        primal, best = primal_of(setting)(run.state), optimum_of(setting, seed, tolerance=1e-3)
        return {
            "method": "private mocha",
            "multiplier": multiplier,
            "seed": seed,
            "epsilon": None if outcome.privacy is None else outcome.privacy.upper,
            "error": mean_error(problem.test, outcome.weights),
            "excess": (primal - best) / abs(best),
        }

    def local(seed: int) -> dict[str, Any]:
        problem, loss = load_problem(study.data, study.split_file, seed), LOSSES["hinge"]
        chosen = cross_validated(fit_local, problem.train, loss, seed)
        weights = fit_local(problem.train, loss, chosen, seed)
        return {"method": "local", "seed": seed, "error": mean_error(problem.test, weights)}

    cells = {f"local-{seed}": partial(local, seed) for seed in study.runs}
    return cells | {f"noise={z:g}-{seed}": partial(private, z, seed) for z in MULTIPLIERS for seed in study.runs}


def private_table(results: Results) -> str:
    """Markdown: certified epsilon, error and relative excess, mean (standard error) over seeds."""
    heads = "noise multiplier", "epsilon, certified", "error, % (standard error)", "excess of the primal value"
    lines = []
    local = [100 * result["error"] for result in results if result["method"] == "local"]
    noises = dict.fromkeys(result["multiplier"] for result in results if result["method"] != "local")
    for noise in noises:
        own = [result for result in results if result.get("multiplier") == noise]
        error = shown([100 * result["error"] for result in own], ".2f")
        excess, _ = over_seeds([result["excess"] for result in own])
        lines.append((f"{noise:g}", upper(own[0]["epsilon"]), error, f"{excess:.2g}"))
    return markdown(heads, [*lines, ("local training, nothing sent", "0", shown(local, ".2f"), "")])


STUDIES: dict[str, tuple[Callable[[Study], Cells], Callable[[Results], str]]] = {
    "table1": (table1, error_table),
    "table4": (table4, error_table),
    "figure1": (figure1, time_table),
    "figure2": (figure2, time_table),
    "figure3": (figure3, drop_table),
    "private": (private_cells, private_table),
}


def run_study(name: str, study: Study, folder: Path, report: Reported = lambda *_: None) -> Experiment:
    """One of STUDIES, or what the folder lacks of it."""
    cells, table = STUDIES[name]
    # Under the study's own name: the results of other data, or of another lambda, are not its.
    results = run_cells(cells(study), folder / study.key(name), report)
    text = table(results)
    (folder / "table.md").write_text(text + "\n")
    plot, missing = drawn(lambda: draw(name, results, folder))
    told = {"table": text, "plot": None if plot is None else str(plot), "cells": results}
    return Experiment(name, folder, text, f"{len(results)} runs in {folder}", told, missing)
