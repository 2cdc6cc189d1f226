"""A fair comparison (`dpcert experiment fair`): every method tuned, for each target epsilon, by as many trials.

A share of each client's training samples, fixed by the seed, is for validation. For each target and method `budget`
settings of its grid are tried on it with one seed; the best is trained again on all training samples with every seed
and reported on the test samples. Noise is calibrated to the target for each number of rounds. Trials read the clients'
data: choosing among them is not accounted for, for any method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ...mechanisms import InputError
from ..algorithms.finetune import PENALTIES
from ..build import Parameters, build_algorithm
from ..data import Federation, load_federation
from ..data.split import hold_out
from ..engine.calibration import calibrated_noise
from ..engine.privacy import PrivacyGoal
from ..engine.settings import Settings
from .cell import Cell, result_of, train_cell
from .found import Experiment
from .numbers import accuracy, upper
from .runs import ran_on, where, write_runs
from .sweep import read_result, write_result

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

Report = Callable[[int, int, dict[str, Any]], None]


def compare(
    base: Cell, plan: Plan, seeds: Sequence[int], folder: str | Path, report: Report | None = None
) -> list[dict[str, Any]]:
    """All tuned runs' results, each with its `target` ("none" without noise); finished runs are kept in the folder.

    report(done, all, result) after each run, trials included. Raises InputError for kept results that are damaged,
    and for data without classes or tags.
    """
    work = _Work(base, plan, Path(folder), report, len(seeds))
    results = work.tuned("local", None, seeds)
    for target in plan.targets:
        for method in OWN:
            results += work.tuned(method, target, seeds)
    return results


def run_fair(base: Cell, plan: Plan, seeds: Sequence[int], folder: Path, report: Report | None = None) -> Experiment:
    """The comparison, or what the folder lacks of it, with its table in the folder."""
    results = compare(base, plan, seeds, folder, report)
    table = as_markdown(results)
    (folder / "table.md").write_text(table + "\n")
    write_runs(results, folder / "runs.json")
    counted = f"{len(results)} runs, and their trials, in {folder}, {where(results)}"
    return Experiment("fair", folder, table, counted, {"table": table, "runs": results, **ran_on(results)})


class _Work:
    """Runs cells, counts them and keeps the federations of the last seed."""

    def __init__(self, base: Cell, plan: Plan, folder: Path, report: Report | None, seeds: int) -> None:
        self.base, self.plan, self.folder, self.report = base, plan, folder, report
        self.done, self.all = 0, (1 + len(plan.targets) * len(OWN)) * (plan.budget + seeds)
        self._noise: dict[tuple[str, int, float], float] = {}
        self._loaded: tuple[int, Federation] | None = None
        if self._federation(base.seed).task == "regression":
            raise InputError("data", base.data, "classes or tags: this comparison is by accuracy")
        for part in ("trials", "cells"):
            (folder / part).mkdir(parents=True, exist_ok=True)

    def tuned(self, method: str, target: float | None, seeds: Sequence[int]) -> list[dict[str, Any]]:
        """The method with the setting of the best validation accuracy, once a seed."""
        best, highest = None, -1.0
        for cell in self._trials(method, target):
            found = self._run(cell, "trials")["test_accuracy"]
            if found is not None and found > highest:
                best, highest = cell, found
        assert best is not None  # budgets are at least 1, and the task has accuracies
        told = {"target": "none" if target is None else target, "validation_accuracy": highest}
        return [self._run(replace(best, seed=seed), "cells") | told for seed in seeds]

    def _trials(self, method: str, target: float | None) -> Iterator[Cell]:
        grid: dict[str, tuple[Any, ...]] = {"learning_rate": LEARNING_RATES, "rounds": self.plan.rounds}
        grid |= {"clip_norm": CLIP_NORMS if target is not None else (None,)} | OWN.get(method, LOCAL)
        choices = list(product(*grid.values()))
        order = np.random.default_rng(self.base.seed).permutation(len(choices))
        plain = replace(self.base, algorithm=method.partition(" + ")[0], finetune="")
        for place in order[: self.plan.budget].tolist():
            cell = replace(plain, **dict(zip(grid, choices[place], strict=True)))
            noise = 0.0 if target is None else self._noise_of(cell, target)
            yield replace(cell, noise_multiplier=noise)

    def _noise_of(self, cell: Cell, target: float) -> float:
        """The least noise for which this many rounds cost at most the target."""
        key = (cell.algorithm, cell.rounds, target)
        if key not in self._noise:
            population = self._federation(cell.seed).population
            settings = Settings(
                cell.rounds,
                min(cell.cohort, population),
                cell.sampling,  # type: ignore[arg-type] # Settings checks it
                clip_norm=cell.clip_norm,
            )
            algorithm = build_algorithm(cell.algorithm, Parameters(), population)
            goal = PrivacyGoal(cell.delta, cell.neighbouring)  # type: ignore[arg-type] # PrivacyGoal checks it
            self._noise[key] = calibrated_noise(algorithm, settings, population, goal, target).value
        return self._noise[key]

    def _run(self, cell: Cell, part: str) -> dict[str, Any]:
        """The cell's result, from the folder where it is there; trials on the validation samples."""
        file = self.folder / part / f"{cell.key}.json"
        if not file.exists():
            federation = self._federation(cell.seed)
            if part == "trials":
                federation = hold_out(federation, VALIDATION, cell.seed)
            write_result(file, result_of(cell, train_cell(cell, federation)))
        result = read_result(file)
        self.done += 1
        if self.report:
            self.report(self.done, self.all, result)
        return result

    def _federation(self, seed: int) -> Federation:
        if self._loaded is None or self._loaded[0] != seed:
            self._loaded = (seed, load_federation(self.base.data, seed=seed))
        return self._loaded[1]


def as_markdown(results: Sequence[dict[str, Any]]) -> str:
    """A line for each target and method: test accuracy over seeds, the setting chosen, and what was tried."""
    lines = [
        "| target ε | method | test accuracy | ε, certified | noise multiplier | chosen on validation data |",
        "|---|---|---|---|---|---|",
    ]
    for (target, method), own in _groups(results).items():
        first, scores = own[0], np.array([result["test_accuracy"] for result in own])
        error = float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else None
        names = ("learning_rate", "rounds", "clip_norm", *OWN.get(method, LOCAL))
        chosen = ", ".join(
            f"{name.replace('_', ' ')} {_short(first[name])}" for name in names if first[name] is not None
        )
        cells = (str(target), method, accuracy(float(scores.mean()), error), upper(first["epsilon_upper"]))
        lines.append(f"| {' | '.join(cells)} | {first['noise_multiplier']:.3g} | {chosen} |")
    told = "Choosing among trials reads the clients' data and is not accounted for, for any method alike."
    return "\n".join([*lines, "", told])


def _groups(results: Sequence[dict[str, Any]]) -> dict[tuple[Any, str], list[dict[str, Any]]]:
    groups: dict[tuple[Any, str], list[dict[str, Any]]] = {}
    for result in results:
        method = result["algorithm"] + (" + fine-tuning" if result["finetune"] else "")
        groups.setdefault((result["target"], method), []).append(result)
    return groups


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
