"""Sections 3.3 and 6.4 on made tasks: what leaves a client that keeps its head, and how soon the losses fall."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...billboard.example_trainers import SharedOptimiserState
from ...billboard.replay import check_billboard
from ..row import Finding, Statement, on_instances, resting_on

CLIENTS, FEATURES, ROUNDS, EVERY, NOISE, CLIP, SEEDS = 20, 8, 40, 4, 1.5, 1.0, 2


def _federation(seed: int) -> Any:
    from ....trainers.data.synthetic import related_tasks

    return related_tasks(population=CLIENTS, features=FEATURES, classes=3, samples=60, spread=1.0, seed=seed)


def _settings(rounds: int, noise: float, seed: int) -> Any:
    from ....trainers.federated import LocalSteps, Settings

    return Settings(
        rounds=rounds,
        cohort=CLIENTS // 2,
        sampling="fixed-size",
        noise_multiplier=noise,
        clip_norm=CLIP,
        evaluate_every=EVERY,
        seed=seed,
        local=LocalSteps(learning_rate=0.5, steps=1, batch_size=None),
    )


def _model() -> Any:
    import torch

    layers = torch.nn.Linear(FEATURES, 6, bias=False), torch.nn.Linear(6, 3)
    seeded = torch.Generator().manual_seed(1)
    for parameter in (each for layer in layers for each in layer.parameters()):
        parameter.data.normal_(0, 0.3, generator=seeded)
    return torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1])


def _replayed() -> Any:
    from ....trainers.data import Client, Samples
    from ....trainers.dpfedmtl import DpFedMtl
    from ....trainers.training import ReplayableTrainer

    federation = _federation(0)
    clients = list(federation.clients)
    own = clients[0].train
    other = Samples(-own.features, own.labels)
    trainer = ReplayableTrainer(federation, DpFedMtl, _settings(6, NOISE, 0), _model())
    return check_billboard(trainer, clients, 0, Client(clients[0].name, other, other))


def leaves_by_the_shared_weights(statement: Statement) -> Finding:
    """Replays a run's shared weights with one client's data altered: does anything else reach the others?"""
    if statement.domain["clients send"] == "the shared weights":
        report = _replayed()
    else:
        data = [np.full((4, 2), float(k)) for k in range(6)]
        report = check_billboard(SharedOptimiserState(), data, 0, data[0] + 50.0)
    text = f"{len(report.leaks)} of {report.compared} outputs and messages of the others changed"
    return Finding(
        report.holds, text, {"leaks": len(report.leaks)}, basis=on_instances(report.compared, "trainer runs")
    )


@cache
def _losses(heads: int, noise: float, seed: int) -> tuple[float, ...]:
    """The mean training loss after every EVERY rounds; heads = 0 shares everything."""
    from ....trainers.dpfedmtl import DpFedMtl
    from ....trainers.federated import Trainer

    trainer = Trainer(_federation(seed), DpFedMtl(head_layers=heads), _model(), _settings(ROUNDS, noise, seed))
    return tuple(float(record["train_loss"]) for record in trainer.run().history)


@resting_on(on_instances(2 * SEEDS, "trainer runs"))
def sooner(statement: Statement) -> Finding:
    """After how many rounds each is where FedAvg ends, or FedMTL does, whichever is worse; over seeds."""
    worst = {}
    for noise in (0.0, NOISE):
        for seed in range(SEEDS):
            kept, shared = _losses(1, noise, seed), _losses(0, noise, seed)
            target = max(min(kept), min(shared))
            rounds = [EVERY * (1 + next(i for i, loss in enumerate(each) if loss <= target)) for each in (kept, shared)]
            worst[f"noise {noise:g}, seed {seed}: rounds with heads, without"] = rounds
    first = statement.claim["sooner"]
    holds = all((kept < shared) == (first == "FedMTL") and kept != shared for kept, shared in worst.values())
    most = max(kept / shared for kept, shared in worst.values())
    text = f"with heads it takes at most {most:.2g} times the rounds of sharing everything"
    return Finding(holds, text, worst)
