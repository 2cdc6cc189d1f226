"""Clients per second of the trainers against plain loops, in one run: compare the ratios, never the seconds.

    python benchmarks/trainers.py [--data leaf:PATH,features=inverted] [--rounds 5] [--problem NAME] [--json]
        [--out FILE.json]

One DP-FedAvg round: 100 clients, one local epoch, batch 10, clipping and noise. Without --data the clients are
synthetic, of FEMNIST's shape and sizes. Times are medians, alternating between the contestants, on one CPU thread:
of process CPU time; where there is a CUDA device of wall-clock time, and with contestants on it.

- plain loop: a copied module and a torch optimiser for each client, updates clipped and summed as vectors.
- authors' style: as the PMTL authors' published code does it: one module for every client, a DataLoader for each,
  parameter lists instead of vectors (written anew; nothing of theirs is used).
- ours: every solver that can do the work, through Trainer, with exact sums, noise and accounting.
- memory: benchmarks/trainers_memory.py.
- all cores: the contestant on as many threads as torch takes by itself (with a CUDA device only: there the machine is
  not shared).
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scipy import sparse

from dpcert.trainers.federated import (
    Client,
    DpFedAvg,
    Federation,
    LocalSteps,
    Samples,
    Settings,
    Trainer,
    build_model,
    load_federation,
)

COHORT = 100
CLIP = 0.5
RATE = 0.1
CUDA = torch.cuda.is_available()


@dataclass(frozen=True)
class Problem:
    """What is trained, how often, and with which of our solvers on which device. peers: run their style too."""

    federation: Federation
    model: str
    rounds: int
    cpu: tuple[str, ...]
    cuda: tuple[str, ...]
    peers: bool


def femnist_like(seed: int = 0) -> Federation:
    """206 clients of 5 to 69 samples, 784 features, 62 classes; 80% for training."""
    rng = np.random.default_rng(seed)
    clients = []
    for place in range(206):
        size = int(np.clip(rng.normal(24, 10), 4, 55))
        own = Samples(rng.random((size, 784), dtype=np.float32), rng.integers(0, 62, size))
        clients.append(Client(f"{place:03d}", own, own.take(np.arange(0))))
    return Federation("femnist-like", tuple(clients), "classes", 62)


def stackoverflow_like(clients: int = COHORT, seed: int = 0) -> Federation:
    """100 samples a client of about 25 out of 10,000 words (Zipf), 3 of 500 tags."""
    rng = np.random.default_rng(seed)
    words, tags = (1 / np.arange(1, size + 1) for size in (10_000, 500))
    words, tags = words / words.sum(), tags / tags.sum()
    members = []
    for place in range(clients):
        bags = [np.unique(rng.choice(10_000, 30, p=words)) for _ in range(100)]
        rows = np.repeat(np.arange(100), [len(bag) for bag in bags])
        matrix = sparse.csr_matrix(
            (np.full(len(rows), 1 / 30, dtype=np.float32), (rows, np.concatenate(bags))), shape=(100, 10_000)
        )
        labels = np.zeros((100, 500), dtype=np.float32)
        for row in range(100):
            labels[row, rng.choice(500, 3, p=tags)] = 1
        own = Samples(matrix, labels)
        members.append(Client(f"{place:03d}", own, own.take(np.arange(1))))
    return Federation("stackoverflow-like", tuple(members), "tags", 500)


def ours(federation: Federation, model: str, solver: str, device: str = "cpu") -> tuple[Trainer, Callable[[], object]]:
    """A trainer, and one of its rounds."""
    settings = Settings(
        rounds=10**6,
        cohort=min(COHORT, federation.population),
        sampling="fixed-size" if federation.population > COHORT else "full",
        clip_norm=CLIP,
        noise_multiplier=1.0,
        solver=solver,
        device=device,
        seed=1,
        local=LocalSteps(RATE, 1, None, 10),
    )
    trainer = Trainer(federation, DpFedAvg(), model, settings)
    return trainer, trainer._round


def plain_loop(trainer: Trainer, model: str, device: torch.device = torch.device("cpu")) -> Callable[[], object]:  # noqa: B008
    """A round as one would first write it, on the trainer's device."""
    module, loss_of = build_model(model, trainer.federation).to(device), trainer.local.loss
    start = torch.nn.utils.parameters_to_vector(module.parameters()).detach()

    def one_round() -> torch.Tensor:
        total = torch.zeros_like(start)
        for client in trainer.sampler.draw(trainer.streams, 0, 0).tolist():
            own, samples = copy.deepcopy(module), trainer.local.train(client)
            optimiser = torch.optim.SGD(own.parameters(), lr=RATE)
            for rows in torch.randperm(len(samples)).split(10):
                optimiser.zero_grad()
                loss_of(own(samples.rows(rows)), samples.targets[0][rows]).mean().backward()
                optimiser.step()
            update = torch.nn.utils.parameters_to_vector(own.parameters()).detach() - start
            total += update * min(1.0, CLIP / float(update.norm()))
        return total + CLIP * torch.randn_like(total)

    return one_round


def authors_style(trainer: Trainer, model: str) -> Callable[[], object]:
    """Modules and loaders that live with the clients; aggregation parameter by parameter."""
    shared, loss_of = build_model(model, trainer.federation), trainer.local.loss
    modules, loaders = {}, {}
    for client in range(trainer.federation.population):
        samples = trainer.local.train(client)
        data = torch.utils.data.TensorDataset(samples.rows(slice(None)), samples.targets[0])
        loaders[client] = torch.utils.data.DataLoader(data, batch_size=10, shuffle=True)
        modules[client] = copy.deepcopy(shared)

    def one_round() -> list[torch.Tensor]:
        cohort = trainer.sampler.draw(trainer.streams, 0, 0).tolist()
        updates = []
        for client in cohort:
            modules[client].load_state_dict(shared.state_dict())
            optimiser = torch.optim.SGD(modules[client].parameters(), lr=RATE)
            for features, labels in loaders[client]:
                optimiser.zero_grad()
                loss_of(modules[client](features), labels).mean().backward()
                optimiser.step()
            pairs = zip(modules[client].parameters(), shared.parameters(), strict=True)
            update = [(own - common).detach() for own, common in pairs]
            norm = torch.sqrt(sum((part**2).sum() for part in update))
            updates.append([part * min(1.0, CLIP / float(norm)) for part in update])
        means = [torch.stack(parts).mean(0) for parts in zip(*updates, strict=True)]
        return [mean + CLIP / len(cohort) * torch.randn_like(mean) for mean in means]

    return one_round


def all_cores(run: Callable[[], object]) -> Callable[[], object]:
    """The same on all cores."""

    def one_round() -> None:
        torch.set_num_threads(os.cpu_count() or 1)
        run()
        torch.set_num_threads(1)

    return one_round


def now() -> float:
    """Process CPU time, which a shared machine disturbs less; wall-clock time where work is elsewhere than in it."""
    if not CUDA:
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def seconds(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each, taking turns."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, run in contestants.items():
            began = now()
            run()
            if turn:  # the first round fills caches
                taken[name].append(now() - began)
    return {name: statistics.median(values) for name, values in taken.items()}


def measure(problem: Problem) -> dict[str, float]:
    """Seconds a round of every contestant on this problem."""
    federation, model = problem.federation, problem.model
    contestants: dict[str, Callable[[], object]] = {}
    trainer, _ = ours(federation, model, "auto")
    contestants["plain loop"] = plain_loop(trainer, model)
    if problem.peers:
        contestants["authors' style"] = authors_style(trainer, model)
    if CUDA:
        contestants["plain loop, all cores"] = all_cores(contestants["plain loop"])
    for solver in problem.cpu:
        contestants[f"ours, {solver}"] = ours(federation, model, solver)[1]
    for solver in problem.cuda if CUDA else ():
        contestants[f"ours, {solver}, cuda"] = ours(federation, model, solver, "cuda")[1]
    return seconds(contestants, problem.rounds)


def problems(data: str, rounds: int) -> dict[str, Problem]:
    """What is measured."""
    femnist = load_federation(data) if data else femnist_like()
    everything = ("dual", "stacked", "vmap", "loop")
    networks = ("stacked", "vmap", "loop")
    return {
        "logistic regression 784 x 62": Problem(femnist, "logistic", rounds, everything, everything, True),
        "MLP 784 x 64 x 62": Problem(femnist, "mlp", rounds, networks, networks, True),
        "CNN, 115,646 parameters": Problem(femnist, "cnn", max(1, rounds // 2), networks, networks, True),
        "logistic regression 10,000 x 500, sparse": Problem(
            stackoverflow_like(), "logistic", max(1, rounds // 2), ("dual",), ("dual",), False
        ),
    }


def machine() -> dict[str, str | int]:
    """On what this was measured."""
    device = torch.cuda.get_device_name() if CUDA else "none"
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count() or 1,
        "cuda device": device,
        "time": "wall clock" if CUDA else "process CPU",
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--problem", default="", help="only problems whose name contains this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out", type=Path, help="write the JSON document to this file as well")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    for name, problem in problems(asked.data, asked.rounds).items():
        if asked.problem not in name:
            continue
        print(f"measuring {name}", file=sys.stderr)
        results[name] = measure(problem)
    document = json.dumps({"machine": machine(), "clients a round": COHORT, "seconds a round": results}, indent=2)
    if asked.out:
        asked.out.write_text(document + "\n")
    if asked.json:
        print(document)
        return
    table = Table("problem", "contestant", "clients/s", "x plain loop")
    for name, found in results.items():
        for contestant, taken in found.items():
            table.add_row(name, contestant, f"{COHORT / taken:.0f}", f"{found['plain loop'] / taken:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
