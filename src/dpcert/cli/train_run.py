"""The body of dpcert train. Imports torch, so the command imports it only when asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ..attest import AttestRun
from ..mechanisms import InputError
from ..mechanisms.paths import place_for
from ..mechanisms.validate import choice
from ..presentation.output import say, show, warnings_on_stderr
from ..presentation.plots import draw_run, drawable
from ..trainers.algorithms.finetune import PENALTIES, FineTuning
from ..trainers.build import Parameters, build_algorithm, cohort_of, usual_model
from ..trainers.engine.algorithm import Algorithm
from ..trainers.engine.local import warn_of_long_steps
from ..trainers.engine.processes import joined, launched, shards_for
from ..trainers.experiments.cell import watched
from ..trainers.federated import Federation, LocalSteps, PrivacyGoal, Settings, Trainer, load_federation
from ..trainers.stated_noise import stated_noise
from ..trainers.statement import interrupted
from ..trainers.training import Training, keep_schedule, schedule_of, train
from .attest import signer_of
from .declared import keyed
from .run_options import said_when_stopped
from .train import Asked

POINTS = 20
"""Evaluations on the way that a plot asks for, unless --evaluate-every says how many."""


def run_once(asked: Asked, as_json: bool) -> None:
    """Train as the options say, and print what came of it."""
    drawable(asked.plot)
    torch.set_num_threads(asked.machine().get("threads", 1))
    with joined(), warnings_on_stderr():
        trainer = trainer_of(asked, load_federation(asked.data, seed=asked.seed or 0))
        tuning = finetuning_of(asked)
        _check_save(asked.save, trainer)
        if asked.schedule_log is not None:
            place_for("--schedule-log", asked.schedule_log)
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
    algorithm, settings = algorithm_of(asked, federation.population), settings_of(asked, federation)
    goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)  # type: ignore[arg-type] # which checks it
    told = {name: getattr(asked, name) for name in ("noise_multiplier", "noise_std", "sigma", "target_epsilon")}
    multiplier = stated_noise(algorithm, settings, federation.population, goal, **told)
    settings = replace(settings, noise_multiplier=multiplier)
    return Trainer(federation, algorithm, model_of(asked), settings, goal, checkpoint=asked.checkpoint)


def model_of(asked: Asked) -> str:
    """The model as named, or the algorithm's usual one."""
    return asked.model or usual_model(asked.algorithm)


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


def settings_of(asked: Asked, federation: Federation) -> Settings:
    """The run's settings, but for the noise. InputError for a cohort above the number of clients, sampled or not."""
    engine = {name: value for name, value in asked.machine().items() if name not in ("shards", "threads")}
    return Settings(
        rounds=asked.rounds,
        cohort=cohort_of(asked.cohort, federation.population),
        sampling=asked.sampling,  # type: ignore[arg-type] # Settings checks them
        max_cohort=asked.max_cohort,
        clip_norm=asked.clip_norm,
        clipping=asked.clipping,  # type: ignore[arg-type]
        local=LocalSteps(asked.rate(), asked.local_epochs or 1, asked.local_steps, asked.batch_size),
        seed=asked.seed,
        device=asked.device,
        shards=shards_for(launched(), asked.machine().get("shards")),
        evaluate_every=asked.evaluate_every or (0 if asked.plot is None else max(1, asked.rounds // POINTS)),
        evaluate_clients=asked.evaluate_clients,
        schedule=asked.schedule(),
        **engine,
    )


def _check_save(file: Path | None, trainer: Trainer) -> None:
    """InputError, before any training, where there will be nothing to save, or nowhere to save it."""
    if file is not None:
        if trainer.released_state() is None:
            none = f"{trainer.algorithm.name} releases no single one"
            raise InputError("--save", str(file), f"--checkpoint, which keeps all models: {none}")
        place_for("--save", file)


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
