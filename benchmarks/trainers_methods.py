"""Rounds of PMTL and of naive joint DP against plain loops of the same algorithms, beside DP-FedAvg's.

    python benchmarks/trainers_methods.py [--data leaf:PATH,features=inverted] [--model logistic] [--rounds 5]
        [--threads 1] [--method NAME] [--json]
    torchrun --nproc-per-node 2 benchmarks/trainers_methods.py ...

The setting is that of trainers.py: 100 clients, one local epoch, batch 10, clipping and noise. CPU time of the process
and wall-clock time, medians of rounds in which the two take turns. With several threads the plain loop runs on them and
on one, and the faster counts. The plain loops draw their noise in single precision with torch.randn, the fastest there
is; ours is in double precision, on a grid. "Our noise" is that part of ours alone. Under torchrun ours runs in all
processes, the plain loops in the first, while the others wait; only the wall clock says something then.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch import distributed as dist

from dpcert.trainers.engine.processes import Processes
from dpcert.trainers.federated import (
    DpFedAvg,
    Federation,
    LocalSteps,
    NaiveJoint,
    Pmtl,
    Settings,
    Trainer,
    build_model,
    load_federation,
)
from trainers import CLIP, COHORT, RATE, femnist_like

STRENGTH = 0.3


@dataclass
class PlainLoop:
    """Rounds as one would first write them: a copied module and an optimiser a client, vectors clipped and summed.

    personal: whether clients keep their models, as in PMTL; all_models: whether every model carries noise.
    """

    trainer: Trainer
    model: str
    personal: bool
    all_models: bool

    def __post_init__(self) -> None:
        self.module = build_model(self.model, self.trainer.federation)
        self.loss_of = self.trainer.local.loss
        start = torch.nn.utils.parameters_to_vector(self.module.parameters()).detach()
        self.own = start.repeat(self.trainer.federation.population, 1)
        self.shared = start.clone()
        self.strength = STRENGTH if self.personal or self.all_models else 0.0

    def __call__(self) -> None:
        cohort = self.trainer.sampler.draw(self.trainer.streams, 0, 0).tolist()
        if self.all_models:
            self.shared = self.own.mean(0)
            total = torch.zeros_like(self.own)
        else:
            total = torch.zeros_like(self.shared)
        for client in cohort:
            before = self.own[client] if self.personal or self.all_models else self.shared
            after = self.trained(client, before)
            update = after - (self.shared if self.personal else before)
            update *= min(1.0, CLIP / float(update.norm()))
            if self.all_models:
                total[client] = update
            else:
                total += update
            if self.personal:
                self.own[client] = after
        total += self.noise_like(total)
        if self.all_models:
            self.own += total
        else:
            self.shared += total / COHORT

    def trained(self, client: int, before: Tensor) -> Tensor:
        """The client's model after its local steps."""
        own, samples = copy.deepcopy(self.module), self.trainer.local.train(client)
        torch.nn.utils.vector_to_parameters(before.clone(), own.parameters())
        anchors = [part.detach() for part in _like(self.shared, own)]
        optimiser = torch.optim.SGD(own.parameters(), lr=RATE)
        for rows in torch.randperm(len(samples)).split(10):
            optimiser.zero_grad()
            loss = self.loss_of(own(samples.rows(rows)), samples.targets[0][rows]).mean()
            if self.strength:
                pulls = (((a - b) ** 2).sum() for a, b in zip(own.parameters(), anchors, strict=True))
                loss = loss + self.strength / 2 * sum(pulls)
            loss.backward()
            optimiser.step()
        return torch.nn.utils.parameters_to_vector(own.parameters()).detach()

    @staticmethod
    def noise_like(total: Tensor) -> Tensor:
        return CLIP * torch.randn_like(total)


def _like(vector: Tensor, module: torch.nn.Module) -> list[Tensor]:
    parts = vector.split([each.numel() for each in module.parameters()])
    return [part.view_as(each) for part, each in zip(parts, module.parameters(), strict=True)]


def trainers(federation: Federation, model: str) -> dict[str, tuple[Trainer, PlainLoop]]:
    """Ours and the plain loop of each method."""
    found = {}
    for algorithm in (DpFedAvg(), Pmtl(STRENGTH), NaiveJoint(STRENGTH)):
        settings = Settings(
            rounds=10**6,
            cohort=COHORT,
            sampling="fixed-size",
            clip_norm=CLIP,
            noise_multiplier=1.0,
            seed=1,
            local=LocalSteps(RATE, 1, None, 10),
            shards=int(os.environ.get("WORLD_SIZE", "1")),
        )
        trainer = Trainer(federation, algorithm, model, settings)
        name = algorithm.name
        found[name] = trainer, PlainLoop(trainer, model, name == "pmtl", name == "naive-joint")
    return found


def on_threads(threads: int, run: Callable[[], object]) -> None:
    """Run on so many threads of torch's."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    run()
    torch.set_num_threads(before)


def medians(
    contestants: dict[str, Callable[[], object]], rounds: int, processes: Processes
) -> dict[str, dict[str, float]]:
    """CPU and wall-clock seconds of each, taking turns; the first turn fills caches. Of several processes all run
    "ours", and the first the others."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, run in contestants.items():
            processes.barrier()
            cpu, wall = time.process_time(), time.perf_counter()
            if processes.rank == 0 or name == "ours":
                run()
            processes.barrier()
            if turn:
                taken[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {
        name: {"cpu": statistics.median(cpu for cpu, _ in each), "wall": statistics.median(wall for _, wall in each)}
        for name, each in taken.items()
    }


def measured(trainer: Trainer, plain: PlainLoop, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds a round, and of the noise in it."""
    blank = torch.zeros_like(plain.own if plain.all_models else plain.shared)
    shape = tuple(trainer.shared.shape)
    alone = {"plain loop, one thread": lambda: on_threads(1, plain)} if torch.get_num_threads() > 1 else {}
    contestants = {
        "plain loop": plain,
        **alone,
        "ours": trainer._round,
        "the plain loop's noise": lambda: plain.noise_like(blank),
        "our noise": lambda: trainer.noise.on_sum(9, 0, shape, CLIP, 2.0**-31),
    }
    return medians(contestants, rounds, trainer.processes)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="")
    parser.add_argument("--model", default="logistic")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--method", choices=["dp-fedavg", "pmtl", "naive-joint"])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("gloo")
    federation = load_federation(asked.data) if asked.data else femnist_like()
    results = {
        name: measured(trainer, plain, asked.rounds)
        for name, (trainer, plain) in trainers(federation, asked.model).items()
        if asked.method in (None, name)
    }
    if dist.is_initialized():
        dist.destroy_process_group()
    if int(os.environ.get("RANK", "0")):
        return
    if asked.json:
        print(json.dumps(results, indent=2))
        return
    for name, found in results.items():
        for part, each in found.items():
            print(f"{name:12} {part:24} CPU {each['cpu']:.3f} s, wall clock {each['wall']:.3f} s")
        plain = [each for part, each in found.items() if part.startswith("plain loop")]
        ratio = {clock: min(each[clock] for each in plain) / found["ours"][clock] for clock in ("cpu", "wall")}
        print(f"{name:12} the plain loop over ours: CPU {ratio['cpu']:.2f}, wall clock {ratio['wall']:.2f}")


if __name__ == "__main__":
    main()
