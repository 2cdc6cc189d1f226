"""Runs of the trainers whose gradients are noted down: every client takes part with one full step, which shows them.

A client's step from w to w - eta g tells g. So what is measured is what the trainer did, on any model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from dpcert.mechanisms.arrays import Floats

Problem = Literal["quadratic", "logistic", "CNN"]
CLIENTS, SIDE, CLASSES = 4, 5, 3
FREE = 1e4
"""A clip norm that no update reaches."""


@dataclass(frozen=True)
class How:
    """sigma: on the mean (PMTL) or S sigma on a client's gradient (DPFedMTL). clip: None for FREE. cohort: None: all.

    strength: PMTL's lambda. steps: E of PMTL, H of DPFedMTL. away: how far from the clients' mean optimum a quadratic
    run begins. dimension is the quadratic's, features the softmax regression's and channels the CNN's.
    """

    problem: Problem = "quadratic"
    rounds: int = 60
    step: float = 0.1
    sigma: float = 0.0
    clip: float | None = None
    clients: int = CLIENTS
    dimension: int = 8
    cohort: int | None = None
    strength: float = 1.0
    steps: int = 1
    away: float = 0.0
    features: int = 4
    channels: int = 3


@cache
def quadratic(clients: int, dimension: int) -> Any:
    """L = mu = 1, clients that differ."""
    from dpcert.proofs_checks.convergence.pmtl_runs import mean_estimation

    return mean_estimation(clients, dimension)


@cache
def federation(problem: Problem, clients: int, dimension: int, features: int = 4) -> Any:
    """Softmax regression on features of norm 1, so that L = 1/2; pictures of 5 x 5 in three classes for the CNN."""
    from dpcert.trainers.data import Client, Federation, Samples
    from dpcert.trainers.data.synthetic import logistic_regression

    if problem == "quadratic":
        return quadratic(clients, dimension).federation
    if problem == "logistic":
        return logistic_regression(population=clients, dimension=features, classes=CLASSES, samples=12)
    rng, members = np.random.default_rng(2), []
    for k in range(clients):
        labels = rng.integers(0, CLASSES, 12)
        pictures = rng.standard_normal((12, SIDE * SIDE)) + 0.5 * np.sin(np.outer(labels + k, np.arange(SIDE * SIDE)))
        members.append(Client(str(k), Samples(pictures, labels), Samples(pictures, labels)))
    return Federation("pictures", tuple(members), "classes", CLASSES)


def model(how: How, deep: bool) -> Any:
    """deep: with lower layers to share under a head, for DPFedMTL. Weights are those of a fixed seed."""
    import torch
    from torch import nn

    with torch.random.fork_rng():
        torch.manual_seed(0)
        if how.problem == "CNN":
            c = how.channels
            picture = nn.Unflatten(1, (1, SIDE, SIDE))
            return nn.Sequential(picture, nn.Conv2d(1, c, 3), nn.Tanh(), nn.Flatten(), nn.Linear(9 * c, CLASSES))
        if how.problem == "logistic" and deep:
            return nn.Sequential(nn.Linear(how.features, 3, bias=False), nn.Tanh(), nn.Linear(3, CLASSES, bias=False))
        if how.problem == "logistic":
            return nn.Linear(how.features, CLASSES, bias=False)
        return nn.Linear(how.dimension, 1, bias=False)


def first_value(how: How, deep: bool) -> float:
    """The mean over clients of the cross-entropy before the first round."""
    import torch

    module, clients = model(how, deep).double(), _clients_of(how).clients
    with torch.no_grad():
        found = [
            torch.nn.functional.cross_entropy(
                module(torch.from_numpy(client.train.dense()).double()), torch.from_numpy(client.train.labels)
            )
            for client in clients
        ]
    return float(torch.stack(found).mean())


def _clients_of(how: How) -> Any:
    return federation(how.problem, how.clients, how.dimension, how.features)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """broadcast (T, D); gradients (T, E m, d) of the clients that took part, by the clients' vectors, step by step;
    kept (T, m, d')."""

    broadcast: Floats
    gradients: Floats
    kept: Floats


def pmtl(how: How, seed: int) -> Seen:
    """A run of `Pmtl`: grad l_k(w_k) + lambda (w_k - w~^t) at each of E local steps, made one at a time to be seen."""
    from dpcert.trainers.federated import Pmtl

    seen: dict[str, list[Floats]] = {"broadcast": [], "gradients": [], "kept": []}

    class Watched(Pmtl):
        """Notes down what the clients do."""

        def client_round(self, solve: Any, shared: Any, own: Any, clients: Any) -> Any:
            slopes, after = [], own
            for _ in range(how.steps):
                before = after
                sent, after = super().client_round(solve, shared, before, clients)
                slopes.append(((before - after) / how.step).numpy())
            seen["broadcast"].append(shared[0].numpy().copy())
            seen["gradients"].append(np.concatenate(slopes))
            seen["kept"].append(after.numpy().copy())
            return sent, after

    cohort = how.clients if how.cohort is None else how.cohort
    train(replace(how, steps=1), _clients_of(how), _started(how), Watched(how.strength), how.sigma * cohort, seed)
    return Seen(*(np.array(seen[name]) for name in ("broadcast", "gradients", "kept")))


def dpfedmtl(how: How, seed: int) -> Seen:
    """A run with the noise at the clients: gradients of shared layers and head of whoever takes part."""
    from dpcert.trainers.dpfedmtl import DpFedMtlLocalNoise

    seen: dict[str, list[Floats]] = {"broadcast": [], "gradients": [], "kept": []}

    class Watched(DpFedMtlLocalNoise):
        """Notes down what the clients do."""

        def client_round(self, solve: Any, shared: Any, own: Any, clients: Any) -> Any:
            moved, head = super().client_round(solve, shared, own, clients)
            assert head is not None  # it has layers of its own
            before = own[:, own.shape[1] - len(self.first_head) :]
            seen["broadcast"].append(shared[0].numpy().copy())
            slopes = np.hstack([moved.numpy(), ((before - head) / how.step).numpy()])
            seen["gradients"].append(slopes)
            seen["kept"].append(head.numpy().copy())
            return moved, head

    train(how, _clients_of(how), model(how, deep=True), Watched(), how.sigma, seed)
    return Seen(*(np.array(seen[name]) for name in ("broadcast", "gradients", "kept")))


def _started(how: How) -> Any:
    """One layer; on the quadratic, at the clients' mean optimum and `away` from it."""
    import torch

    module = model(how, deep=False)
    if how.problem == "quadratic":
        begin = quadratic(how.clients, how.dimension).centres.mean(axis=0) + how.away
        module.weight.data = torch.from_numpy(begin[None].copy())
    return module


def train(how: How, clients: Any, module: Any, algorithm: Any, deviation: float, seed: int) -> Any:
    """The trainer after its run. deviation: of the noise on the sum, or on each client's contribution."""
    from dpcert.trainers.federated import LocalSteps, Settings, Trainer

    clip = how.clip or FREE
    told = Settings(
        rounds=how.rounds,
        cohort=how.cohort or how.clients,
        sampling="full" if how.cohort is None else "fixed-size",
        noise_multiplier=deviation / clip,
        clip_norm=clip,
        dtype="float64",
        device="cpu",
        seed=seed,
        local=LocalSteps(learning_rate=how.step, steps=how.steps, batch_size=None),
        evaluate_clients=0,
    )
    trainer = Trainer(clients, algorithm, module, told)
    trainer.run()
    return trainer
