"""Memory of the trainers, as the operating system counts it: each figure is the peak of a process of its own (Linux).

    python benchmarks/trainers_memory.py [--json]

- a client at StackOverflow size (10,000 words, 500 tags, 100 samples): one DP-FedAvg round of all clients, with few and
  with many of them; the difference of the peaks by the difference of the numbers of clients. It holds everything that
  a client costs: its samples as they were loaded, what the solver keeps of them, and its coefficients.
- 1,000 personalised CNNs: two rounds of PMTL, after which every client has a model of its own.
- 1,000,000 synthetic clients: ten rounds of PMTL with 1,000 of them each, without the accounting.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

FEW, MANY = 100, 500
PEAK = """
import re
from pathlib import Path
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text()).group(1)) * 1024)
"""
STACKOVERFLOW = """
import sys
sys.path.insert(0, {here!r})
import torch
from trainers import stackoverflow_like
torch.set_num_threads(1)
from dpcert.trainers.federated import DpFedAvg, LocalSteps, Settings, Trainer
settings = Settings(rounds=1, sampling="full", clip_norm=0.5, noise_multiplier=1.0, seed=1, local=LocalSteps(0.1))
Trainer(stackoverflow_like({clients}), DpFedAvg(), "logistic", settings)._round()
"""
PERSONAL = """
import numpy as np
import torch
torch.set_num_threads(1)
from dpcert.trainers.federated import Client, Federation, LocalSteps, Pmtl, Samples, Settings, Trainer
rng = np.random.default_rng(0)
samples = [Samples(rng.random((2, 784), dtype=np.float32), rng.integers(0, 62, 2)) for _ in range(1000)]
clients = tuple(Client(str(k), own, own) for k, own in enumerate(samples))
settings = Settings(rounds=2, sampling="full", clip_norm=0.5, noise_multiplier=1.0, seed=1, local=LocalSteps(steps=1))
trainer = Trainer(Federation("many", clients, "classes", 62), Pmtl(), "cnn", settings)
while trainer.rounds < 2:
    trainer._round()
assert trainer.personal.written.all()
"""
MILLION = """
import torch
torch.set_num_threads(1)
from dpcert.trainers.federated import Pmtl, Settings, Trainer, load_federation
settings = Settings(rounds=10, cohort=1000, clip_norm=0.5, seed=1, evaluate_clients=100)
Trainer(load_federation("synthetic:on-demand"), Pmtl(), "logistic", settings).run()
"""


def peak(script: str) -> int:
    """Bytes: the most that a process running this script held at any time."""
    done = subprocess.run([sys.executable, "-c", script + PEAK], capture_output=True, text=True, check=True)
    return int(done.stdout)


def bytes_a_client() -> float:
    """At StackOverflow size."""
    here = str(Path(__file__).parent)
    few, many = (peak(STACKOVERFLOW.format(here=here, clients=clients)) for clients in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def personal_networks() -> int:
    """Bytes: the peak of 1,000 personalised CNNs."""
    return peak(PERSONAL)


def million_clients() -> int:
    """Bytes: the peak of ten rounds of 1,000 of a million clients."""
    return peak(MILLION)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = {
        "MB a client, 10,000 x 500": bytes_a_client() / 1e6,
        "GiB, 1,000 CNNs": personal_networks() / 2**30,
        "GiB, 1,000,000 clients": million_clients() / 2**30,
    }
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:28} {value:.3f}")


if __name__ == "__main__":
    main()
