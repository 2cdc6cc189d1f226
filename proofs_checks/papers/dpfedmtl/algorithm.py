"""Algorithm 1 as a program: what it samples, defines and puts out; on made tasks (sections 3.3, 6.4), what leaves
a client that keeps its head, and how soon the losses fall.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binom

from ....mechanisms.arrays import Floats
from ...billboard.example_trainers import SharedOptimiserState
from ...billboard.replay import check_billboard
from ..row import EXACT, WORDS, Finding, Statement, on_instances, resting_on
from .settings import EXPERIMENTS


@resting_on(WORDS)
def cohort_size(statement: Statement) -> Finding:
    """P[|I_t| = K] and P[|I_t| = 0], for Poisson coins with probability K/M or a cohort of fixed size."""
    numbers: dict[str, float] = {}
    for name, cohort, population in (
        *((e.name, e.cohort, e.population) for e in EXPERIMENTS.values()),
        ("K = 1", 1, 174),
    ):
        poisson = statement.claim["sampling"] == "poisson"
        numbers[f"P[size = K], {name}"] = float(binom.pmf(cohort, population, cohort / population)) if poisson else 1.0
        numbers[f"P[size = 0], {name}"] = float(binom.pmf(0, population, cohort / population)) if poisson else 0.0
    holds = all(value == 1.0 for name, value in numbers.items() if "size = K" in name)
    listed = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
    return Finding(holds, listed, numbers)


@resting_on(EXACT)
def average_keeps_a_model(statement: Statement) -> Finding:
    """(6) applied to |I_t| copies of one model w gives (|I_t|/K) w: how likely not w, how likely 0 in some round."""
    numbers: dict[str, float] = {}
    for each in EXPERIMENTS.values():
        poisson = statement.domain["sampling"] == "poisson"
        law = binom(each.population, each.rate)
        numbers[f"P[not w], {each.name}"] = 1 - float(law.pmf(each.cohort)) if poisson else 0.0
        empty = float(law.pmf(0)) if poisson else 0.0
        numbers[f"P[some round sets w to 0], {each.name}"] = 1 - (1 - empty) ** each.rounds
    holds = max(numbers.values()) == 0.0
    return Finding(holds, ", ".join(f"{name} = {value:.3g}" for name, value in numbers.items()), numbers)


@resting_on(EXACT)
def defined_steps(statement: Statement) -> Finding:
    """Which rounds start from a w_{M+1} that the algorithm has defined, executing its lines for T = 12."""
    interval, undefined = statement.domain["H"], []
    defined = {0}
    for t in range(12):
        if t not in defined:
            undefined.append(t)
        if t % interval == 0:
            defined.add(t + 1)
    text = "every round's w_{M+1}^t is defined" if not undefined else f"w_(M+1)^t is undefined at t = {undefined}"
    return Finding(
        not undefined, text, {"undefined rounds of 12": len(undefined)}, {"t": undefined} if undefined else None
    )


def _run(data: Floats, broadcasts: Floats | None, seed: int, rounds: int = 4) -> tuple[Floats, Floats]:
    """Algorithm 1 with H = 1, K = M, f_i = (w_i + w_s - x_i)^2 / 2. Returns the broadcasts and the task heads."""
    rng = np.random.default_rng(seed)
    heads, shared, sent = np.zeros(len(data)), 0.0, []
    for t in range(rounds):
        shared = shared if broadcasts is None else broadcasts[t]
        sent.append(shared)
        residual = heads + shared - data
        gradients = np.clip(residual, -1.0, 1.0) + rng.normal(0.0, 2.0, len(data))
        heads = heads - 0.3 * residual
        shared = float(np.mean(shared - 0.3 * gradients))
    return np.array(sent), heads


def what_comes_out(statement: Statement) -> Finding:
    """Replace client 0's data and replay the same broadcasts: what the observer sees apart from them must not change.

    It is a function of the broadcasts and of what did not change if and only if the replay is identical to the bit;
    a number that moves with certainty is no (epsilon, delta)-DP output for any delta below 1.
    """
    first = np.array([0.0, 1.0, 2.0])
    second = np.array([5.0, 1.0, 2.0])
    broadcasts, heads = _run(first, None, seed=1)
    _, replayed = _run(second, broadcasts, seed=2)
    seen = {"all task heads": slice(None), "the other clients' heads": slice(1, None)}[statement.claim["observer sees"]]
    moved = float(np.abs(heads[seen] - replayed[seen]).max())
    text = "identical to the last bit in the replay" if moved == 0 else f"an un-noised head moves by {moved:.3g}"
    return Finding(moved == 0, text, {"largest change": moved}, None if moved == 0 else {"client 0's data": [0.0, 5.0]})


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
