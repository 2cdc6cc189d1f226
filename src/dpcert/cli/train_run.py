"""The body of dpcert train. Imports torch, so the command imports it only when asked."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import cuda
from torch import distributed as dist

from ..attest import AttestRun
from ..mechanisms import InputError
from ..mechanisms.validate import choice, count, nonnegative
from ..presentation.output import say, show
from ..presentation.plots import draw_run, drawable
from ..trainers.algorithms.finetune import PENALTIES, FineTuning
from ..trainers.build import Parameters, build_algorithm
from ..trainers.dpfedmtl import SharedLayers
from ..trainers.engine.advice import warn_of_long_steps
from ..trainers.engine.algorithm import Algorithm
from ..trainers.engine.calibration import calibrated_noise
from ..trainers.engine.processes import backend
from ..trainers.engine.schedule_log import keep_schedule, schedule_of
from ..trainers.experiments.cell import watched
from ..trainers.federated import (
    Federation,
    LocalSteps,
    PrivacyGoal,
    Settings,
    StabilityWarning,
    Trainer,
    load_federation,
)
from ..trainers.interrupted import interrupted
from ..trainers.training import Training, train
from .attest import signer_of
from .declared import keyed
from .stopped import said_when_stopped
from .train_options import Asked

SHARDS_UNDER_TORCHRUN = 12
"""At least so many: divisible by most small numbers of processes, and the result depends on the shards alone."""

POINTS = 20
"""Evaluations on the way that a plot asks for, unless --evaluate-every says how many."""

NOISE = ("noise_multiplier", "noise_std", "sigma", "target_epsilon")
"""The options that ask for noise, of which one may be given."""


def run_once(asked: Asked, as_json: bool) -> None:
    """Train as the options say, and print what came of it."""
    drawable(asked.plot)
    torch.set_num_threads(asked.machine().get("threads", 1))
    with processes(), warnings_on_stderr():
        trainer = trainer_of(asked, load_federation(asked.data, seed=asked.seed or 0))
        tuning = finetuning_of(asked)
        _check_save(asked.save, trainer)
        if asked.schedule_log is not None:
            _check_folder("--schedule-log", asked.schedule_log)
            keep_schedule(trainer)
        first = trainer.processes.rank == 0
        if first:
            warn_of_long_steps(trainer.local)
        attest = _attesting(asked)
        name, rounds = trainer.algorithm.name, trainer.settings.rounds
        with said_when_stopped(
            lambda: interrupted(name, trainer, rounds, trainer.history, asked.checkpoint), as_json, by=first
        ):
            done = train(trainer, finetuning=tuning, progress=first and not asked.quiet, attest=attest)
        if first:
            _keep(asked, done)
            show(done, as_json)


def _attesting(asked: Asked) -> AttestRun | None:
    """What --attest and --key ask for. InputError, before any training, where that cannot be written."""
    if asked.attest is None:
        if asked.key is not None:
            raise InputError("--key", str(asked.key), "--attest FOLDER with it")
        return None
    return AttestRun(asked.attest, signer=signer_of(asked.key))


def trainer_of(asked: Asked, federation: Federation) -> Trainer:
    """The trainer that the options describe, checked, before any work."""
    algorithm = algorithm_of(asked, federation.population)
    goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)  # type: ignore[arg-type] # which checks it
    settings = settings_of(asked, federation)
    multiplier = noise_multiplier_of(asked, algorithm, settings, federation.population, goal)
    settings = replace(settings, noise_multiplier=multiplier)
    return Trainer(federation, algorithm, model_of(asked), settings, goal, checkpoint=asked.checkpoint)


def model_of(asked: Asked) -> str:
    """The model as named, or the algorithm's usual one."""
    return asked.model or ("mlp" if asked.algorithm.startswith("dpfedmtl") else "logistic")


def algorithm_of(asked: Asked, population: int) -> Algorithm:
    """The algorithm with its settings."""
    return build_algorithm(asked.algorithm, Parameters(asked.strength, **asked.settings()), population)


def finetuning_of(asked: Asked) -> FineTuning | None:
    """What --finetune says."""
    if asked.finetune is None:
        return None
    kind, *more = asked.finetune.split(",")
    told: dict[str, Any] = {"strength": 1.0, "epochs": 5}
    told |= keyed("--finetune", more, {"strength": float, "epochs": int}, kind)
    local = LocalSteps(asked.rate(), told["epochs"], None, asked.batch_size)
    penalty: Any = choice("--finetune", kind, PENALTIES)
    return FineTuning(penalty, local, told["strength"])


def noise_multiplier_of(
    asked: Asked, algorithm: Algorithm, settings: Settings, population: int, goal: PrivacyGoal
) -> float:
    """The noise multiplier; 0 where no option is given. Raises InputError for contradictory options."""
    given = [option for option in NOISE if getattr(asked, option) is not None]
    if not given:
        return 0.0
    name, value = "--" + given[0].replace("_", "-"), getattr(asked, given[0])
    if len(given) > 1:
        other = "--" + given[1].replace("_", "-")
        raise InputError(other, getattr(asked, given[1]), f"either {name} or {other}")
    if given[0] == "noise_multiplier":
        return nonnegative("noise_multiplier", value)
    if settings.clip_norm is None:
        raise InputError("--clip-norm", None, f"a value, with {name}")
    if given[0] == "target_epsilon":
        return calibrated_noise(algorithm, settings, population, goal, value).value
    members = population if settings.sampling == "full" else settings.cohort
    if given[0] == "sigma":
        if not isinstance(algorithm, SharedLayers):
            raise InputError(name, value, f"--noise-multiplier: {algorithm.name} has no sigma")
        return algorithm.noise_multiplier(nonnegative("sigma", value), members, population)
    if algorithm.noise_at == "clients":
        raise InputError(name, value, f"--noise-multiplier or --sigma: {algorithm.name} adds no noise to the mean")
    return float(nonnegative("noise_std", value)) * members / settings.clip_norm


def settings_of(asked: Asked, federation: Federation) -> Settings:
    """The run's settings, but for the noise. InputError for a cohort above the number of clients, sampled or not."""
    cohort = asked.cohort if asked.cohort is not None else min(100, federation.population)
    if cohort > federation.population:
        raise InputError("--cohort", cohort, f"at most the number of clients, {federation.population}")
    engine = {name: value for name, value in asked.machine().items() if name not in ("shards", "threads")}
    return Settings(
        rounds=asked.rounds,
        cohort=cohort,
        sampling=asked.sampling,  # type: ignore[arg-type] # Settings checks them
        max_cohort=asked.max_cohort,
        clip_norm=asked.clip_norm,
        clipping=asked.clipping,  # type: ignore[arg-type]
        local=LocalSteps(asked.rate(), asked.local_epochs or 1, asked.local_steps, asked.batch_size),
        seed=asked.seed,
        device=asked.device,
        shards=shards_of(asked.machine().get("shards"), int(os.environ.get("WORLD_SIZE", "1"))),
        evaluate_every=asked.evaluate_every or (0 if asked.plot is None else max(1, asked.rounds // POINTS)),
        evaluate_clients=asked.evaluate_clients,
        schedule=asked.schedule(),
        **engine,
    )


def shards_of(given: int | None, size: int) -> int:
    """The units of work for so many processes. InputError for so few that a process would have nothing to do."""
    if given is not None:
        if count("--engine shards", given) < size:
            raise InputError("--engine shards", given, f"at least the number of processes, {size}")
        return given
    return 1 if size == 1 else size * math.ceil(SHARDS_UNDER_TORCHRUN / size)


def _check_save(file: Path | None, trainer: Trainer) -> None:
    """InputError, before any training, where there will be nothing to save, or nowhere to save it."""
    if file is None:
        return
    if trainer.released_state() is None:
        name = trainer.algorithm.name
        raise InputError("--save", str(file), f"--checkpoint, which keeps all models: {name} releases no single one")
    _check_folder("--save", file)


def _check_folder(option: str, file: Path) -> None:
    if not file.parent.is_dir():
        raise InputError(option, str(file), "a file in a folder that exists")


def _keep(asked: Asked, done: Training) -> None:
    """The released model, the plot and the schedule, where they were asked for."""
    trainer = done.trainer
    if asked.schedule_log is not None:
        asked.schedule_log.write_text(json.dumps(schedule_of(trainer)), encoding="utf-8")
        left = trainer.rounds % trainer.sampler.period
        if left:
            say(f"warning: {asked.schedule_log} has whole epochs only: the last {left} rounds are not in it", err=True)
    if asked.save is not None:
        torch.save(trainer.released_state(), asked.save)
    if asked.plot is not None:
        draw_run(watched(trainer, done.outcome), asked.plot, f"{trainer.algorithm.name} on {trainer.federation.name}")


@contextmanager
def processes() -> Iterator[None]:
    """Join the other processes of torchrun, if there are any."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    gpus, here = cuda.device_count(), int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))
    if gpus:
        cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % gpus)
    dist.init_process_group(backend(gpus, here))
    try:
        yield
    finally:
        dist.destroy_process_group()


@contextmanager
def warnings_on_stderr() -> Iterator[None]:
    """One line on stderr for each warning."""

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        say(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", StabilityWarning)
        warnings.showwarning = show_warning
        yield
