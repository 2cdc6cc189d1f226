"""Train, and have what came of it as one result: scores, history, and the certified privacy of what was released."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from ..mechanisms import InputError
from ..mechanisms.digits import interval
from ..mechanisms.notebook import InNotebook
from ..mechanisms.serialise import to_plain
from .algorithms.finetune import FineTuning, fine_tune
from .data import Client, Federation
from .engine.algorithm import Algorithm
from .engine.billboard import RecordingBillboard
from .engine.observers import against_observers
from .engine.outcome import Attests, Outcome
from .engine.settings import Settings
from .engine.trainer import Trainer
from .statement import SECRET_SEED, PrivacyStatement, large_delta


@dataclass(frozen=True, slots=True, eq=False)
class Training(InNotebook):
    """A run that is done. privacy: None without noise. tuned: the scores after fine-tuning, and those before it.

    trainer: as it is after the run. outcome: what the run reports.
    """

    trainer: Trainer
    outcome: Outcome
    privacy: PrivacyStatement | None
    tuned: dict[str, Any]

    def __str__(self) -> str:
        scores = self._scores()
        by_sample = "dpfedmtl" in self.trainer.algorithm.name
        shown = [
            f"{name.replace('_', ' ')} {scores[name]:.4f}"
            for name in ("test_accuracy", "test_accuracy_by_sample", "test_loss")
            if scores[name] is not None and (by_sample or name != "test_accuracy_by_sample")
        ]
        data, rounds = self.trainer.federation.name, self.outcome.rounds
        lines = [f"{self.trainer.algorithm.name} on {data}: {rounds} rounds, {', '.join(shown)}"]
        lines.append("no privacy: trained without noise" if self.privacy is None else str(self.privacy))
        if self.outcome.stopped_by_budget:
            lines.append("stopped: one more round would have exceeded the budget")
        return "\n".join(lines)

    def _scores(self) -> dict[str, Any]:
        names = ("test_accuracy", "test_accuracy_by_sample", "test_loss", "train_accuracy", "train_loss")
        return {name: self.outcome.final.get(name) for name in names} | self.tuned

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        trainer, outcome = self.trainer, self.outcome
        return {
            "algorithm": trainer.algorithm.name,
            "data": trainer.federation.name,
            "clients": trainer.federation.population,
            "model": trainer.local.model_name,
            "parameters": trainer.local.model.dimension,
            "device": trainer.local.device.type,
            "dtype": trainer.settings.dtype,
            "solver": trainer.local.usual_solver,
            "rounds": outcome.rounds,
            "releases": trainer.paid.releases,
            "stopped_by_budget": outcome.stopped_by_budget,
            **self._scores(),
            "privacy": None if self.privacy is None else self.privacy.to_json(),
            "mechanism": None if outcome.mechanism is None else to_plain(outcome.mechanism),
            "history": list(outcome.history),
            "seconds": outcome.seconds,
        }


def train(
    trainer: Trainer,
    *,
    finetuning: FineTuning | None = None,
    progress: bool = False,
    attest: Attests | None = None,
) -> Training:
    """Run the trainer to its end, then whatever its clients do alone, and state what was released and what it costs.

    attest: as for Trainer.run.

    finetuning: what clients do alone afterwards; None: nothing.

    >>> from dpcert.trainers.federated import DpFedAvg, Settings, Trainer, load_federation
    >>> federation = load_federation("synthetic:related,population=8,samples=10", seed=0)
    >>> settings = Settings(rounds=2, cohort=4, noise_multiplier=2.0, clip_norm=1.0, seed=0)
    >>> done = train(Trainer(federation, DpFedAvg(), settings=settings))
    >>> done.privacy.epsilon.at_most(2.0)
    True
    """
    outcome = trainer.run(progress=progress, attest=attest)
    privacy = _privacy(trainer, outcome)
    return Training(trainer, outcome, privacy, {} if finetuning is None else _tuned(trainer, finetuning))


def _tuned(trainer: Trainer, finetuning: FineTuning) -> dict[str, Any]:
    """Scores after fine-tuning take the place of the trained models'; those move to before_finetuning."""
    found = fine_tune(trainer, finetuning).tested()
    before = {key: trainer.history[-1].get(key) for key in found}
    return {"finetune": finetuning.penalty, "before_finetuning": before, **found}


def _privacy(trainer: Trainer, outcome: Outcome) -> PrivacyStatement | None:
    began = time.perf_counter()
    if outcome.privacy is None:
        return None
    assumptions = ["accuracies and losses are the simulation's own and are not released"]
    if trainer.settings.seed is not None:
        assumptions.append(SECRET_SEED)
    against, observers = _observers(trainer, outcome)
    delta = trainer.cost.goal.delta
    return PrivacyStatement(
        outcome.privacy,
        delta,
        trainer.cost.notion,
        trainer.cost.relation,
        trainer.sampler.sampling if trainer.sampler.sampling != "full" else "none",
        trainer.settings.noise_multiplier,
        tuple(assumptions),
        large_delta(delta, trainer.federation.population),
        against,
        {"participation": trainer.cost.participation, **observers},
        time.perf_counter() - began,
    )


def _observers(trainer: Trainer, outcome: Outcome) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Who sees how much, in words and as plain data. Under add-remove neighbours some have no answer, which is said."""
    try:
        found = against_observers(trainer, outcome.spent, trainer.paid.whole)
    except InputError as problem:
        unknown = f"no epsilon against single observers: {problem}"
        return (unknown,), {"observers": [], "observers_unknown": str(problem)}
    lines = (
        f"against {each.observer.replace('-', ' ')}: {interval(each.epsilon)}: {each.reasons[0]}" for each in found
    )
    return tuple(lines), {"observers": [each.to_json() for each in found]}


@dataclass(frozen=True, slots=True, eq=False)
class ReplayableTrainer:
    """Runs `algorithm()` on whichever clients it is given, on the code path of every other run.

    template: gives the task and the number of outputs; its clients are not used.

    algorithm: a function that makes a fresh algorithm.
    """

    template: Federation
    algorithm: Callable[[], Algorithm]
    settings: Settings
    model: str | nn.Module = "logistic"

    def run(
        self, clients: Sequence[Client], seed: int, billboard: Sequence[npt.NDArray[np.floating]] | None = None
    ) -> RecordingBillboard:
        """A run's record: releases, noise, sensitivities, messages and the clients' final models.

        clients: their data. billboard: releases of an earlier run, which are shown in the place of its own; None: none.
        """
        federation = Federation(self.template.name, tuple(clients), self.template.task, self.template.outputs)
        board = RecordingBillboard(billboard)
        told = replace(self.settings, seed=seed)
        Trainer(federation, self.algorithm(), self.model, told, billboard=board).run()
        return board


def keep_schedule(trainer: Trainer) -> None:
    """From now on the trainer's sampler keeps what it draws; the rounds before a resumed run's are drawn again.

    Raises InputError where everybody takes part in every round.
    """
    if trainer.sampler.sampling == "full":
        raise InputError("sampling", "full", "cohorts that are drawn: there is no schedule to log")
    trainer.sampler.kept = {}
    for before in range(trainer.rounds):
        paid = trainer.paid.latest(before)
        trainer.sampler.draw(trainer.streams, paid.attempt if paid else 0, before)


def schedule_of(trainer: Trainer) -> dict[str, object]:
    """The log of the rounds so far, of whole epochs where one drawing covers several rounds. As secret as the seed.

    A round that had to be repeated, with another release, is there as it was repeated.
    """
    kept = trainer.sampler.kept or {}
    rounds = [kept[done].tolist() for done in range(trainer.rounds - trainer.rounds % trainer.sampler.period)]
    return {"population": trainer.sampler.population, "sampling": trainer.sampler.in_claims(), "rounds": rounds}
