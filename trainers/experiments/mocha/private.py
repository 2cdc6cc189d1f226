"""Private MOCHA's accuracy and excess against its noise: ours, no experiment of the paper."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...engine.privacy import PrivacyGoal
from ...mocha.losses import LOSSES
from ...mocha.private import PrivateRounds
from ...mocha.private_run import PrivateRun
from ...mocha.source import load_problem
from ..numbers import upper
from ..sweep import Cells
from .baselines import cross_validated, fit_local, mean_error
from .recorder import optimum_of, primal_of
from .studies import Study
from .tables import Results, mean_and_error, shown

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
    lines = [
        "| noise multiplier | epsilon, certified | error, % (standard error) | excess of the primal value |",
        "|---|---|---|---|",
    ]
    local = [100 * result["error"] for result in results if result["method"] == "local"]
    noises = dict.fromkeys(result["multiplier"] for result in results if result["method"] != "local")
    for noise in noises:
        own = [result for result in results if result.get("multiplier") == noise]
        error = shown([100 * result["error"] for result in own], ".2f")
        excess, _ = mean_and_error([result["excess"] for result in own])
        lines.append(f"| {noise:g} | {upper(own[0]['epsilon'])} | {error} | {excess:.2g} |")
    return "\n".join([*lines, f"| local training, nothing sent | 0 | {shown(local, '.2f')} | |"])
