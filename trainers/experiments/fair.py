"""A fair comparison (`dpcert experiment fair`): every method tuned, for each target epsilon, by as many trials.

A share of each client's training samples, fixed by the seed, is for validation. For each target and method `budget`
settings of its grid are tried on it with one seed; the best is trained again on all training samples with every seed
and reported on the test samples. Noise is calibrated to the target for each number of rounds. Trials read the clients'
data: choosing among them is not accounted for, for any method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ...mechanisms import InputError
from ..algorithms.finetune import PENALTIES
from ..data import load_federation
from ..stated_noise import calibrated_noise
from .cell import Cell, run_settings
from .numbers import accuracy, markdown, over_seeds, upper
from .runs import Experiment, ran_on, where, write_runs
from .sweep import Report, run_sweep

VALIDATION = 0.2
"""The share of each client's training samples that trials are judged on."""

CLIP_NORMS = (0.1, 0.3, 1.0)
LEARNING_RATES = (0.03, 0.1, 0.3, 1.0)
STRENGTHS, EPOCHS = (0.03, 0.1, 0.3, 1.0), (1, 2, 5)
TUNING: dict[str, tuple[Any, ...]] = {"finetune": PENALTIES, "finetune_epochs": EPOCHS}
LOCAL: dict[str, tuple[Any, ...]] = {"local_epochs": EPOCHS}
"""Of training alone, which has nothing else: with it there are more settings than trials, as for all others."""

OWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "pmtl": {"strength": STRENGTHS},
    "pmtl + fine-tuning": {"strength": STRENGTHS} | TUNING,
    "dp-fedavg": {"local_epochs": EPOCHS},
    "dp-fedavg + fine-tuning": TUNING,
    "dp-fedprox": {"strength": STRENGTHS},
    "ditto": {"strength": STRENGTHS},
    "pp-sgd": {"alpha": (0.1, 0.3, 1.0, 3.0)},
}
"""The methods, an algorithm each or one and what follows it, and each one's parameters beside the common grid."""


@dataclass(frozen=True, slots=True)
class Plan:
    """targets: epsilons, None for no noise. budget: trials for each target and method. rounds: to choose among."""

    targets: tuple[float | None, ...]
    budget: int
    rounds: tuple[int, ...]


FULL = Plan((1.5, 4.0, 16.0, None), 16, (20, 40, 80))
QUICK = Plan((4.0, None), 3, (10, 20))


def compare(
    base: Cell, plan: Plan, seeds: Sequence[int], folder: str | Path, report: Report = lambda *_: None, jobs: int = 1
) -> list[dict[str, Any]]:
    """All tuned runs' results, each with its `target` ("none" without noise); finished runs are kept in the folder.

    report(done, all, result) for each run, trials included. jobs: as for run_sweep. Raises InputError for kept results
    that are damaged, and for data without classes or tags.
    """
    tuned = [("local", None), *((method, target) for target in plan.targets for method in OWN)]
    tune = _Tuning(base, plan)
    trials = {which: list(tune.trials(*which)) for which in tuned}
    every, final = [cell for own in trials.values() for cell in own], len(tuned) * len(seeds)
    reported = _among(report, 0, len(every) + final)
    tried = run_sweep(every, folder, jobs=jobs, kept="trials", validation=VALIDATION, report=reported)
    reached = {cell: _compared(result["test_accuracy"]) for cell, result in zip(every, tried, strict=True)}
    best = {which: max(own, key=lambda cell: reached[cell]) for which, own in trials.items()}
    cells = [replace(cell, seed=seed) for seed in seeds for cell in best.values()]
    reported = _among(report, len(every), len(every) + final)
    results = dict(zip(cells, run_sweep(cells, folder, jobs=jobs, report=reported), strict=True))
    return [
        results[replace(cell, seed=seed)]
        | {"target": "none" if target is None else target, "validation_accuracy": reached[cell]}
        for (_, target), cell in best.items()
        for seed in seeds
    ]


def _among(report: Report, before: int, total: int) -> Report:
    """The report of a sweep that is a part of more runs."""
    return lambda done, _, result: report(before + done, total, result)


def _compared(accuracy: float | None) -> float:
    """None, of a run that diverged, is less than every accuracy."""
    return -1.0 if accuracy is None else accuracy


def run_fair(
    base: Cell, plan: Plan, seeds: Sequence[int], folder: Path, report: Report = lambda *_: None, jobs: int = 1
) -> Experiment:
    """The comparison, or what the folder lacks of it, with its table in the folder."""
    results = compare(base, plan, seeds, folder, report, jobs)
    table = as_markdown(results)
    (folder / "table.md").write_text(table + "\n")
    write_runs(results, folder / "runs.json")
    counted = f"{len(results)} runs, and their trials, in {folder}, {where(results)}"
    return Experiment("fair", folder, table, counted, {"table": table, "runs": results, **ran_on(results)})


class _Tuning:
    """The settings to try, of each method and for each target."""

    def __init__(self, base: Cell, plan: Plan) -> None:
        self.base, self.plan = base, plan
        federation = load_federation(base.data, seed=base.seed)
        if federation.task == "regression":
            raise InputError("data", base.data, "classes or tags: this comparison is by accuracy")
        self.population = federation.population

    def trials(self, method: str, target: float | None) -> Iterator[Cell]:
        grid: dict[str, tuple[Any, ...]] = {"learning_rate": LEARNING_RATES, "rounds": self.plan.rounds}
        grid |= {"clip_norm": CLIP_NORMS if target is not None else (None,)} | OWN.get(method, LOCAL)
        choices = list(product(*grid.values()))
        order = np.random.default_rng(self.base.seed).permutation(len(choices))
        plain = replace(self.base, algorithm=method.partition(" + ")[0], finetune="")
        for place in order[: self.plan.budget].tolist():
            cell = replace(plain, **dict(zip(grid, choices[place], strict=True)))
            like = replace(plain, rounds=cell.rounds, clip_norm=1.0)  # all that its noise depends on
            noise = 0.0 if target is None else _noise_of(like, self.population, target)
            yield replace(cell, noise_multiplier=noise)


@cache
def _noise_of(cell: Cell, population: int, target: float) -> float:
    """The least noise for which the cell's rounds cost at most the target."""
    algorithm, settings, goal = run_settings(cell, population)
    return calibrated_noise(algorithm, settings, population, goal, target).value


def as_markdown(results: Sequence[dict[str, Any]]) -> str:
    """A line for each target and method: test accuracy over seeds, the setting chosen, and what was tried."""
    lines = []
    for (target, method), own in _groups(results).items():
        first, scores = own[0], over_seeds([result["test_accuracy"] for result in own])
        names = ("learning_rate", "rounds", "clip_norm", *OWN.get(method, LOCAL))
        chosen = ", ".join(
            f"{name.replace('_', ' ')} {_short(first[name])}" for name in names if first[name] is not None
        )
        cells = (str(target), method, accuracy(*scores), upper(first["epsilon_upper"]))
        lines.append((*cells, f"{first['noise_multiplier']:.3g}", chosen))
    heads = "target ε", "method", "test accuracy", "ε, certified", "noise multiplier", "chosen on validation data"
    told = "Choosing among trials reads the clients' data and is not accounted for, for any method alike."
    return f"{markdown(heads, lines)}\n\n{told}"


def _groups(results: Sequence[dict[str, Any]]) -> dict[tuple[Any, str], list[dict[str, Any]]]:
    groups: dict[tuple[Any, str], list[dict[str, Any]]] = {}
    for result in results:
        method = result["algorithm"] + (" + fine-tuning" if result["finetune"] else "")
        groups.setdefault((result["target"], method), []).append(result)
    return groups


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
