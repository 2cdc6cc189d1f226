"""The bodies of dpcert experiment: from options to a grid of runs. Imports torch, so imported only when asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from ..mechanisms import InputError
from ..mechanisms.text_input import numbers
from ..mechanisms.validate import count, positive
from ..presentation.output import say, show, warnings_on_stderr
from ..trainers.build import usual_model
from ..trainers.experiments import fair, figure3, sizes
from ..trainers.experiments.cell import Cell
from ..trainers.experiments.mocha.studies import Study, run_study
from ..trainers.experiments.presets import PRESETS
from ..trainers.experiments.report import run_grid
from ..trainers.experiments.runs import Experiment
from ..trainers.experiments.table import method_of
from .experiment import Curves, DataAlone, Federated, Mocha

QUICK_ROUNDS = 10
"""With --quick, which has one seed, in every federated experiment but fair."""

SHORTER = 50
"""By what --quick divides the rounds of MOCHA's figures."""

Asked = Federated | Mocha | DataAlone | Curves


def run_experiment(name: str, asked: Asked, as_json: bool) -> None:
    """Run, or resume, the experiment, and print its table."""
    found = _found(name, asked)
    if found.no_plots:
        say(f"warning: no plots: {found.no_plots}", err=True)
    show(found, as_json)


def _found(name: str, asked: Asked) -> Experiment:
    if isinstance(asked, DataAlone):
        if name == "mocha-sizes":
            return sizes.mocha_sizes(name, asked.data, asked.split_file, asked.seed)
        return sizes.dpfedmtl_sizes(name, asked.data, asked.seed)
    folder = asked.out or Path(f"sweep-{name}")
    if isinstance(asked, Federated):
        return _federated(name, asked, folder)
    if isinstance(asked, Curves):
        plan = figure3.QUICK if asked.quick else figure3.FULL
        return figure3.run_curves(name, plan, folder, _reported(asked.quiet))
    seeds, shorter = (1, SHORTER) if asked.quick else (asked.seeds, 1)
    study = Study(asked.data, asked.split_file, asked.strength, seeds, asked.seed, shorter)
    return run_study(name.removeprefix("mocha-"), study, folder, _reported(asked.quiet))


def _federated(name: str, asked: Federated, folder: Path) -> Experiment:
    torch.set_num_threads(count("--threads", asked.threads))
    jobs, first = count("--jobs", asked.jobs), count("--seed", asked.seed, least=0)
    seeds = range(first, first + count("--seeds", asked.seeds))
    if asked.epsilons and asked.noise_multiplier is not None:
        raise InputError("--epsilons", asked.epsilons, "to be left out: --noise-multiplier already states the noise")
    base, report = _base(name, asked), _reported(asked.quiet, _line)
    told = numbers("--epsilons", asked.epsilons) if asked.epsilons else []
    epsilons = [positive("--epsilons", each) for each in told]
    if name == "fair":
        plan = fair.QUICK if asked.quick else fair.FULL
        if epsilons:
            plan = replace(plan, targets=(*epsilons, None))
        with warnings_on_stderr():
            return fair.run_fair(replace(base, seed=seeds[0]), plan, seeds, folder, report, jobs)
    if asked.quick:
        base, seeds = replace(base, rounds=min(base.rounds, QUICK_ROUNDS)), seeds[:1]
    cells = PRESETS[name](base, seeds, epsilons)
    with warnings_on_stderr():
        return run_grid(name, cells, folder, report, jobs)


def _base(name: str, asked: Federated) -> Cell:
    """What the runs have in common: the options that a cell has, too."""
    family = "dpfedmtl" if name.startswith("dpfedmtl") else "pmtl"
    shared = {field.name: getattr(asked, field.name) for field in fields(Cell) if hasattr(asked, field.name)}
    own = {"seed": 0, "noise_multiplier": asked.noise_multiplier or 0.0}
    return Cell(**shared | own | {"algorithm": family, "model": asked.model or usual_model(family)})


def _reported(quiet: bool, words: Callable[[Any], str] = str) -> Callable[[int, int, Any], None]:
    """A line on stderr for each finished run or cell, or nothing."""
    return lambda done, total, found: None if quiet else say(f"{done}/{total} {words(found)}", err=True)


def _line(result: dict[str, Any]) -> str:
    accuracy = result["test_accuracy"]
    shown = "-" if accuracy is None else f"{accuracy:.3f}"
    return f"{method_of(result)}, noise {result['noise_multiplier']:g}, seed {result['seed']}: {shown}"
