"""The body of dpcert train without --sweep: one run. Imports torch, so the command imports it only when asked."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import typer
from torch import cuda
from torch import distributed as dist

from ..accounting import Bracket
from ..mechanisms import InputError
from ..mechanisms.digits import as_given, interval
from ..mechanisms.serialise import to_plain
from ..mechanisms.validate import count
from ..presentation.output import print_json
from ..presentation.training_plot import check_plot, draw_run
from ..trainers.algorithms.finetune import FineTuning, fine_tune
from ..trainers.build import Parameters, build_algorithm
from ..trainers.engine.advice import warn_of_long_steps
from ..trainers.engine.observers import against_observers
from ..trainers.engine.processes import backend
from ..trainers.engine.schedule_log import keep_schedule, schedule_of
from ..trainers.experiments.cell import watched
from ..trainers.federated import (
    Federation,
    LocalSteps,
    Outcome,
    PrivacyGoal,
    Settings,
    StabilityWarning,
    Trainer,
    load_federation,
)
from .train_noise import noise_multiplier_of

SHARDS_UNDER_TORCHRUN = 12
"""At least so many: divisible by most small numbers of processes, and the result depends on the shards alone."""

POINTS = 20
"""Evaluations on the way that a plot asks for, unless --evaluate-every says how many."""


def run_once(asked: SimpleNamespace) -> None:
    """Train as the options say, and print what came of it."""
    if asked.out is not None:
        raise InputError("--out", str(asked.out), "--sweep with it")
    check_plot(asked.plot)
    with processes(), warnings_on_stderr():
        federation = load_federation(asked.data, seed=asked.seed or 0)
        algorithm = build_algorithm(asked.algorithm, parameters_of(asked), federation.population)
        goal = PrivacyGoal(asked.delta, asked.neighbouring, asked.budget)
        settings = settings_of(asked, federation)
        multiplier = noise_multiplier_of(asked, algorithm, settings, federation.population, goal)
        settings = replace(settings, noise_multiplier=multiplier)
        trainer = Trainer(federation, algorithm, asked.model, settings, goal, checkpoint=asked.checkpoint)
        _check_save(asked.save, trainer)
        if asked.schedule_log is not None:
            _check_folder("--schedule-log", asked.schedule_log)
            keep_schedule(trainer)
        first = trainer.processes.rank == 0
        if first:
            warn_of_long_steps(trainer.local)
        outcome = trainer.run(progress=first and not asked.quiet)
        document = _document(asked, trainer, outcome)
        if asked.finetune is not None:
            document |= _fine_tuned(asked, trainer)
        if first:
            _keep(asked, trainer, outcome)
        if first and asked.as_json:
            print_json(document)
        elif first:
            _print(document, outcome)


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


def _keep(asked: SimpleNamespace, trainer: Trainer, outcome: Outcome) -> None:
    """The released model, the plot and the schedule, where they were asked for."""
    if asked.schedule_log is not None:
        asked.schedule_log.write_text(json.dumps(schedule_of(trainer)), encoding="utf-8")
        left = trainer.rounds % trainer.sampler.period
        if left:
            typer.echo(
                f"warning: {asked.schedule_log} has whole epochs only: the last {left} rounds are not in it", err=True
            )
    if asked.save is not None:
        torch.save(trainer.released_state(), asked.save)
    if asked.plot is not None:
        title = f"{trainer.algorithm.name} on {trainer.federation.name}"
        draw_run(watched(trainer, outcome), asked.plot, title)


def parameters_of(asked: SimpleNamespace) -> Parameters:
    """What build_algorithm takes."""
    return Parameters(
        asked.strength,
        asked.alpha,
        asked.clusters,
        asked.omega,
        asked.head_layers,
        asked.label_sets,
        asked.aggregation_interval,
    )


def settings_of(asked: SimpleNamespace, federation: Federation) -> Settings:
    """The run's settings, but for the noise. InputError for a cohort above the number of clients, sampled or not."""
    cohort = asked.cohort if asked.cohort is not None else min(100, federation.population)
    if cohort > federation.population:
        raise InputError("--cohort", cohort, f"at most the number of clients, {federation.population}")
    return Settings(
        rounds=asked.rounds,
        cohort=cohort,
        sampling=asked.sampling,
        max_cohort=asked.max_cohort,
        clip_norm=asked.clip_norm,
        clipping=asked.clipping,
        local=LocalSteps(asked.learning_rate, asked.local_epochs, asked.local_steps, asked.batch_size),
        seed=asked.seed,
        dtype=asked.dtype,
        device=asked.device,
        solver=asked.solver,
        chunk=asked.chunk,
        noise_source=asked.noise_source,
        shards=shards_of(asked.shards, int(os.environ.get("WORLD_SIZE", "1"))),
        evaluate_every=asked.evaluate_every or (0 if asked.plot is None else max(1, asked.rounds // POINTS)),
        evaluate_clients=asked.evaluate_clients,
        schedule=asked.schedule,
    )


def shards_of(given: int | None, size: int) -> int:
    """The units of work for so many processes. InputError for so few that a process would have nothing to do."""
    if given is not None:
        if count("--shards", given) < size:
            raise InputError("--shards", given, f"at least the number of processes, {size}")
        return given
    return 1 if size == 1 else size * math.ceil(SHARDS_UNDER_TORCHRUN / size)


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

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        typer.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", StabilityWarning)
        warnings.showwarning = show
        yield


def _document(asked: SimpleNamespace, trainer: Trainer, outcome: Outcome) -> dict[str, Any]:
    began = time.perf_counter()
    privacy = _privacy(asked, trainer, outcome)
    if privacy is not None:
        privacy["seconds"] = time.perf_counter() - began
    return {
        "algorithm": trainer.algorithm.name,
        "data": trainer.federation.name,
        "clients": trainer.federation.population,
        "model": asked.model,
        "parameters": trainer.local.model.dimension,
        "rounds": outcome.rounds,
        "releases": trainer.paid.releases,
        "stopped_by_budget": outcome.stopped_by_budget,
        "test_accuracy": outcome.final["test_accuracy"],
        "test_accuracy_by_sample": outcome.final.get("test_accuracy_by_sample"),
        "test_loss": outcome.final["test_loss"],
        "train_accuracy": outcome.final["train_accuracy"],
        "train_loss": outcome.final["train_loss"],
        "privacy": privacy,
        "mechanism": None if outcome.mechanism is None else to_plain(outcome.mechanism),
        "history": list(outcome.history),
        "seconds": outcome.seconds,
    }


def _privacy(asked: SimpleNamespace, trainer: Trainer, outcome: Outcome) -> dict[str, Any] | None:
    bracket: Bracket | None = outcome.privacy
    if bracket is None:
        return None
    assumptions = ["accuracies and losses are the simulation's own and are not released"]
    if asked.delta > 1 / trainer.federation.population:
        assumptions.append(
            f"delta is above 1/{trainer.federation.population}: it allows one client to be exposed whole"
        )
    if asked.seed is not None:
        assumptions.append("the seed is secret: whoever knows it can subtract the noise")
    return {
        "epsilon_lower": bracket.lower,
        "epsilon_upper": bracket.upper,
        "delta": asked.delta,
        "notion": trainer.cost.notion,
        "participation": trainer.cost.participation,
        "neighbouring": trainer.cost.relation,
        "sampling": trainer.sampler.sampling if trainer.sampler.sampling != "full" else "none",
        "noise_multiplier": trainer.settings.noise_multiplier,
        "accountant": bracket.method,
        "certified": bracket.certified,
        "assumptions": assumptions,
        **_observers(trainer, outcome),
    }


def _observers(trainer: Trainer, outcome: Outcome) -> dict[str, Any]:
    """Who sees how much. Under add-remove neighbours some observers have no answer, which is said."""
    try:
        return {
            "observers": [
                against.to_json() for against in against_observers(trainer, outcome.spent, trainer.paid.whole)
            ]
        }
    except InputError as problem:
        return {"observers": [], "observers_unknown": str(problem)}


def _fine_tuned(asked: SimpleNamespace, trainer: Trainer) -> dict[str, Any]:
    """Scores after fine-tuning take the place of the trained models'; those move to before_finetuning."""
    local = LocalSteps(asked.learning_rate, asked.finetune_epochs, None, asked.batch_size)
    scores = fine_tune(trainer, FineTuning(asked.finetune, local, asked.finetune_strength))
    accuracy, loss = scores.means()
    found = {"test_accuracy": accuracy, "test_accuracy_by_sample": scores.by_sample(), "test_loss": loss}
    before = {key: trainer.history[-1].get(key) for key in found}
    return {"finetune": asked.finetune, "before_finetuning": before, **found}


def _print(document: dict[str, Any], outcome: Outcome) -> None:
    scores = ", ".join(
        f"{name.replace('_', ' ')} {document[name]:.4f}"
        for name in ("test_accuracy", "test_accuracy_by_sample", "test_loss")
        if document[name] is not None and (name != "test_accuracy_by_sample" or "dpfedmtl" in document["algorithm"])
    )
    typer.echo(f"{document['algorithm']} on {document['data']}: {outcome.rounds} rounds, {scores}")
    privacy = document["privacy"]
    if privacy is None:
        typer.echo("no privacy: trained without noise")
    elif outcome.privacy is not None:
        typer.echo(
            f"epsilon in {interval(outcome.privacy)} at delta = {as_given(privacy['delta'])} "
            f"({privacy['notion']}, {privacy['neighbouring']}, by {privacy['accountant']})"
        )
        for against in privacy.get("observers", ()):
            bracket = Bracket(against["epsilon_lower"], against["epsilon_upper"], True, "observer")
            name = against["observer"].replace("-", " ")
            typer.echo(f"  against {name}: {interval(bracket)}: {against['reasons'][0]}")
        if "observers_unknown" in privacy:
            typer.echo(f"  no epsilon against single observers: {privacy['observers_unknown']}")
        for assumption in privacy["assumptions"]:
            typer.echo(f"  note: {assumption}" if "delta is above" in assumption else f"  assuming that {assumption}")
    if outcome.stopped_by_budget:
        typer.echo("stopped: one more round would have exceeded the budget")
