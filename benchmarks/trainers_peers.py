"""Clients per second of pfl-research and of Flower's simulation beside ours: the round of benchmarks/trainers.py.

    python -m venv .venv-peers && .venv-peers/bin/pip install -r benchmarks/requirements-trainers.txt
    .venv-peers/bin/pip install --no-deps -e .
    OMP_NUM_THREADS=1 .venv-peers/bin/python benchmarks/trainers_peers.py [--rounds 3] [--data leaf:PATH] [--json]

CPU seconds of this process and of all it started (Flower's clients live in Ray's workers), so that a busy machine
disturbs little; medians over the rounds after the first. Both peers clip to the same norm and add central noise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch

sys.path.insert(0, str(Path(__file__).parent))
from dpcert.trainers.federated import Federation, Trainer, build_model, load_federation
from trainers import CLIP, COHORT, RATE, femnist_like, ours, plain_loop

NOISE = 1.0


def cpu_seconds() -> float:
    """Of this process and its descendants."""
    own = psutil.Process()
    times = []
    for process in (own, *own.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        times.append(used.user + used.system)
    return sum(times)


def median_of(stamps: list[float]) -> float:
    """The median difference of consecutive readings, without the first, in which caches fill."""
    return statistics.median(np.diff(stamps)[1:])


def our_seconds(rounds: int, one_round: Callable[[], object]) -> float:
    """CPU seconds of a round."""
    stamps = [cpu_seconds()]
    for _ in range(rounds + 1):
        one_round()
        stamps.append(cpu_seconds())
    return median_of(stamps)


def pfl_seconds(trainer: Trainer, model: str, rounds: int) -> float:
    """pfl-research's FederatedAveraging with its central Gaussian mechanism."""
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm import FederatedAveraging, NNAlgorithmParams
    from pfl.callback.base import TrainingProcessCallback
    from pfl.data import FederatedDataset
    from pfl.data.dataset import Dataset
    from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams
    from pfl.metrics import Metrics
    from pfl.model.pytorch import PyTorchModel
    from pfl.privacy import CentrallyAppliedPrivacyMechanism, GaussianMechanism

    loss_of = trainer.local.loss

    class WithLoss(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = build_model(model, trainer.federation)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

        def loss(self, x: torch.Tensor, y: torch.Tensor, eval: bool = False) -> torch.Tensor:
            return loss_of(self(x), y).mean()

        def metrics(self, x: torch.Tensor, y: torch.Tensor, eval: bool = False) -> dict[str, Any]:
            return {}

    stamps: list[float] = [cpu_seconds()]

    class Clock(TrainingProcessCallback):
        def after_central_iteration(self, aggregate_metrics: Any, model: Any, *, central_iteration: int) -> Any:
            stamps.append(cpu_seconds())
            return False, Metrics()

    def dataset(user: int) -> Dataset:
        own = trainer.local.train(user)
        return Dataset((own.features, own.targets[0]), user_id=str(user))

    def users() -> Iterator[int]:
        while True:
            yield from trainer.sampler.draw(trainer.streams, 0, 0).tolist()

    endless = users()
    data = FederatedDataset(dataset, lambda: next(endless))
    mechanism = CentrallyAppliedPrivacyMechanism(GaussianMechanism(CLIP, NOISE))
    module = WithLoss()
    pfl_model = PyTorchModel(module, torch.optim.SGD, torch.optim.SGD(module.parameters(), lr=1.0))
    FederatedAveraging().run(
        algorithm_params=NNAlgorithmParams(rounds + 1, rounds + 2, COHORT, None),
        backend=SimulatedBackend(data, data, postprocessors=[mechanism]),
        model=pfl_model,
        model_train_params=NNTrainHyperParams(local_batch_size=10, local_num_epochs=1, local_learning_rate=RATE),
        model_eval_params=NNEvalHyperParams(local_batch_size=None),
        callbacks=[Clock()],
        send_metrics_to_platform=False,
    )
    return median_of(stamps)


def flower_seconds(trainer: Trainer, model: str, rounds: int) -> float:
    """Flower's simulation (Ray) with its server-side fixed clipping."""
    from flwr.client import ClientApp, NumPyClient
    from flwr.common import Context, ndarrays_to_parameters
    from flwr.server import ServerApp, ServerAppComponents, ServerConfig
    from flwr.server.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
    from flwr.simulation import run_simulation

    population = trainer.federation.population
    folder = Path(tempfile.mkdtemp())
    for client in range(population):
        own = trainer.local.train(client)
        np.savez(folder / f"{client}.npz", x=own.features.numpy(), y=own.targets[0].numpy())
    module, loss_of = build_model(model, trainer.federation), trainer.local.loss

    class Trains(NumPyClient):
        def __init__(self, client: int) -> None:
            self.client = client

        def fit(self, parameters: Any, config: Any) -> Any:
            torch.set_num_threads(1)
            for own, given in zip(module.parameters(), parameters, strict=True):
                own.data.copy_(torch.from_numpy(np.array(given)))
            with np.load(folder / f"{self.client}.npz") as content:
                x, y = torch.from_numpy(content["x"]), torch.from_numpy(content["y"])
            optimiser = torch.optim.SGD(module.parameters(), lr=RATE)
            for rows in torch.randperm(len(x)).split(10):
                optimiser.zero_grad()
                loss_of(module(x[rows]), y[rows]).mean().backward()
                optimiser.step()
            return [own.detach().numpy() for own in module.parameters()], len(x), {}

    stamps: list[float] = [cpu_seconds()]

    class Clocked(DifferentialPrivacyServerSideFixedClipping):
        def aggregate_fit(self, *arguments: Any) -> Any:
            found = super().aggregate_fit(*arguments)
            stamps.append(cpu_seconds())
            return found

    def server(context: Context) -> ServerAppComponents:
        start = ndarrays_to_parameters([own.detach().numpy() for own in module.parameters()])
        plain = FedAvg(
            fraction_fit=COHORT / population, fraction_evaluate=0.0, min_fit_clients=COHORT, initial_parameters=start
        )
        return ServerAppComponents(strategy=Clocked(plain, NOISE, CLIP, COHORT), config=ServerConfig(rounds + 1))

    def client(context: Context) -> Any:
        return Trains(int(context.node_config["partition-id"])).to_client()

    run_simulation(
        ServerApp(server_fn=server),
        ClientApp(client_fn=client),
        num_supernodes=population,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
    return median_of(stamps)


PEERS = {"pfl-research": pfl_seconds, "Flower simulation": flower_seconds}


def measure(federation: Federation, model: str, rounds: int, peers: list[str]) -> dict[str, float]:
    """CPU seconds a round of everybody; each is shown on stderr as soon as it is known."""
    trainer, one_round = ours(federation, model, "auto")
    contestants: dict[str, Callable[[], float]] = {
        "plain loop": lambda: our_seconds(rounds, plain_loop(trainer, model)),
        f"ours, {'dual' if model == 'logistic' else 'loop'}": lambda: our_seconds(rounds, one_round),
    }
    contestants |= {name: partial(PEERS[name], trainer, model, rounds) for name in peers}
    found = {}
    for name, run in contestants.items():
        found[name] = run()
        print(f"measured {model}, {name}: {found[name]:.4g} s", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", nargs="+", default=["logistic", "cnn"])
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    federation = load_federation(asked.data) if asked.data else femnist_like()
    results = {model: measure(federation, model, asked.rounds, asked.peers) for model in asked.models}
    if asked.json:
        print(json.dumps(results, indent=2))
        return
    for model, found in results.items():
        for contestant, taken in found.items():
            ratio = found["plain loop"] / taken
            print(f"{model:10} {contestant:20} {COHORT / taken:7.0f} clients/s {ratio:6.2f} x the plain loop")


if __name__ == "__main__":
    main()
