"""Clients per second of every solver on a CUDA device, by cohort, beside the plain loop of the same machine; and aims.

    python benchmarks/trainers_cuda.py [--rounds 7] [--out FILE.json]

All in one run, some minutes: the rates, and whether what `auto` takes for the CNN reaches AIMS; exit code 1 where not.

One DP-FedAvg round: one local epoch, batch 10, clipping and noise, on synthetic clients of FEMNIST's shape and sizes.
"single": the median of rounds after each of which the host waits for the device; "in a row": rounds one after the
other, waiting once. The plain loop (benchmarks/trainers.py) runs on one thread of the CPU and on the device.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dpcert.trainers.federated import Client, DpFedAvg, Federation, LocalSteps, Settings, Trainer
from trainers import RATE, femnist_like, machine, plain_loop, stackoverflow_like

COHORTS = (100, 400, 1600)
SOLVERS = {
    "logistic": ("stacked", "vmap", "dual"),
    "mlp": ("stacked", "vmap", "compiled"),
    "cnn": ("stacked", "stacked bfloat16", "compiled"),
}

AIMS = (
    ("cnn, stacked, cuda, 100", "cnn, plain loop, cpu, 100", 60),
    ("cnn, stacked, cuda, 100", "cnn, plain loop, cuda, 100", 25),
    ("cnn, stacked, cuda, 1600", "cnn, plain loop, cpu, 100", 200),
)
"""(contestant, baseline, how many times as fast it is to be, one round at a time)."""


def reached(rates: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Each aim, with what was measured."""
    found = []
    for contestant, baseline, aim in AIMS:
        times = rates[contestant]["single"] / rates[baseline]["single"]
        found.append({"contestant": contestant, "baseline": baseline, "aim": aim, "times": times, "is": times >= aim})
    return found


def copies(federation: Federation, population: int) -> Federation:
    """The federation's clients again and again, under other names, until there are so many."""
    clients = [
        Client(f"{place}-{client.name}", client.train, client.test)
        for place in range(-(-population // federation.population))
        for client in federation.clients
    ]
    return Federation(federation.name, tuple(clients), federation.task, federation.outputs)


def trainer(federation: Federation, model: str, solver: str, cohort: int, device: str) -> Trainer:
    """DP-FedAvg with fixed-size cohorts."""
    name, _, low = solver.partition(" ")
    told = {"dtype": low} if low else {}
    settings = Settings(
        rounds=10**6,
        cohort=cohort,
        sampling="fixed-size" if federation.population > cohort else "full",
        clip_norm=0.5,
        noise_multiplier=1.0,
        solver=name,
        device=device,
        seed=1,
        local=LocalSteps(RATE, 1, None, 10),
        **told,
    )
    return Trainer(federation, DpFedAvg(), model, settings)


def rates(one_round: Callable[[], object], cohort: int, rounds: int) -> dict[str, float]:
    """Clients per second, one round at a time and in a row; and the seconds of the first two rounds."""
    began = now()
    one_round()
    one_round()
    warm, times = now() - began, []
    for _ in range(rounds):
        began = now()
        one_round()
        times.append(now() - began)
    began = now()
    for _ in range(rounds):
        one_round()
    in_a_row = (now() - began) / rounds
    return {"single": cohort / statistics.median(times), "in a row": cohort / in_a_row, "first two": warm}


def now() -> float:
    """The clock once the device has done what it was given."""
    torch.cuda.synchronize()
    return time.perf_counter()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    base, found = femnist_like(), {}
    for model, solvers in SOLVERS.items():
        for place, device in (("cpu", "cpu"), ("cuda", "cuda")):
            loop = plain_loop(trainer(base, model, "loop", 100, device), model, torch.device(device))
            found[f"{model}, plain loop, {place}, 100"] = rates(loop, 100, 2)
        for cohort in COHORTS:
            for solver in solvers:
                own = trainer(copies(base, cohort + 1), model, solver, cohort, "cuda")
                found[f"{model}, {solver}, cuda, {cohort}"] = rates(own._round, cohort, asked.rounds)
    own = trainer(base, "cnn", "vmap", 100, "cuda")
    found["cnn, vmap, cuda, 100"] = rates(own._round, 100, 2)
    words = stackoverflow_like()
    for solver in ("dual", "stacked"):
        own = trainer(words, "logistic", solver, 100, "cuda")
        found[f"logistic 10,000 x 500 sparse, {solver}, cuda, 100"] = rates(own._round, 100, 3)
    for name, rate in found.items():
        print(f"{name:52}" + ", ".join(f"{kind} {value:,.1f}" for kind, value in rate.items()), file=sys.stderr)
    aims = reached(found)
    for one in aims:
        told = "reached" if one["is"] else "NOT reached"
        print(
            f"{one['contestant']}: {one['times']:.0f} times {one['baseline']}, aim {one['aim']}: {told}",
            file=sys.stderr,
        )
    document = json.dumps({"machine": machine(), "clients per second": found, "aims": aims}, indent=2)
    print(document)
    if asked.out:
        asked.out.write_text(document + "\n")
    return 0 if all(one["is"] for one in aims) else 1


if __name__ == "__main__":
    sys.exit(main())
