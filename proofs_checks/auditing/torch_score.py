"""A small torch network as a learned score (the [train] extra). torch is imported when a network is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, lacks, positive
from .outputs import Outputs
from .scores import Scorer, finite
from .simple_scores import features


@dataclass(frozen=True, slots=True)
class TorchNetwork:
    """The log odds of a network with one hidden layer, fitted to which side each exploration trial ran on.

    hidden: units. epochs: passes over the trials, in batches of `batch`. rate: Adam's. decay: of the weights. The
    caller's torch seed is left as it was.
    """

    hidden: int = 32
    epochs: int = 20
    batch: int = 256
    rate: float = 5e-3
    decay: float = 1e-2
    name: str = "torch network on the output"
    learns: bool = True

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        """Raises InputError where torch is not installed."""
        if find_spec("torch") is None:
            raise lacks(f"The score {self.name}", "PyTorch", "dpcert[train]")
        torch = import_module("torch")
        prepare = features(dataset, neighbour)
        x = torch.as_tensor(np.concatenate([prepare(dataset), prepare(neighbour)]), dtype=torch.float32)
        side = np.repeat([1.0, 0.0], [len(dataset), len(neighbour)])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed % 2**63)
            model = self._trained(torch, x, torch.as_tensor(side, dtype=torch.float32))

        def score(outputs: Outputs) -> Floats:
            with torch.no_grad():
                odds = model(torch.as_tensor(prepare(outputs), dtype=torch.float32))
            return finite(np.asarray(odds[:, 0].double().numpy(), float))

        return score

    def _trained(self, torch: Any, x: Any, side: Any) -> Any:
        layers = torch.nn.Linear(x.shape[1], self.hidden), torch.nn.ReLU(), torch.nn.Linear(self.hidden, 1)
        model = torch.nn.Sequential(*layers)
        optimiser = torch.optim.AdamW(model.parameters(), lr=self.rate, weight_decay=self.decay)
        for _ in range(self.epochs):
            for part in torch.randperm(len(x)).split(self.batch):
                optimiser.zero_grad()
                odds = model(x[part])[:, 0]
                torch.nn.functional.binary_cross_entropy_with_logits(odds, side[part]).backward()
                optimiser.step()
        return model


def torch_network(hidden: int = 32, epochs: int = 20, rate: float = 5e-3) -> TorchNetwork:
    """A small torch network as a score. Raises InputError for sizes that are not positive."""
    return TorchNetwork(hidden=count("hidden", hidden), epochs=count("epochs", epochs), rate=positive("rate", rate))
