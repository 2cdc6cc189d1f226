"""How well every client's model does on its own samples; each process looks at its own clients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ...mechanisms.arrays import Floats
from ..data import Task
from .client_tensors import ClientTensors
from .losses import Loss
from .parameters import FlatModule

TOP = 5
"""Recall at this many tags is what `accuracy` means for tag prediction."""


@dataclass(frozen=True, slots=True, eq=False)
class ClientScores:
    """One number per client; NaN for a client without samples. accuracy is NaN throughout for regression."""

    accuracy: Floats
    loss: Floats
    samples: npt.NDArray[np.int64]

    def means(self) -> tuple[float | None, float | None]:
        """Means over the clients that have samples; None where there is none."""
        return _mean(self.accuracy), _mean(self.loss)

    def by_sample(self) -> float | None:
        """The mean accuracy over samples: clients weigh as many as they have. None where nothing is known."""
        known = ~np.isnan(self.accuracy)
        return float(np.average(self.accuracy[known], weights=self.samples[known])) if known.any() else None

    def tested(self) -> dict[str, float | None]:
        """The means of scores on test samples, as JSON."""
        accuracy, loss = self.means()
        return {"test_accuracy": accuracy, "test_accuracy_by_sample": self.by_sample(), "test_loss": loss}


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def record(rounds: int, test: ClientScores, train: ClientScores) -> dict[str, Any]:
    """The means after so many rounds, as JSON."""
    accuracy, loss = train.means()
    return {"round": rounds, **test.tested(), "train_accuracy": accuracy, "train_loss": loss}


@torch.no_grad()
def predicted(model: FlatModule, vector: Tensor, samples: ClientTensors) -> Tensor:
    """(n, outputs): of the model with these (d,) parameters on the samples."""
    model.module.eval()
    model.vector.copy_(vector)
    outputs: Tensor = model.module(samples.rows(slice(None)))
    return outputs


def score(model: FlatModule, vector: Tensor, samples: ClientTensors, loss: Loss, task: Task) -> Tensor:
    """(2,) doubles on the model's device, for which nobody has waited: accuracy and mean loss; NaN without samples."""
    if not len(samples):
        return vector.new_full((2,), math.nan, dtype=torch.float64)
    outputs = predicted(model, vector, samples)
    # NaN means "no samples" here: a model that has diverged has an infinite loss.
    mean_loss = loss(outputs, samples.targets[0]).mean().double().nan_to_num(nan=math.inf, posinf=math.inf)
    return torch.stack([_accuracy(outputs, samples.targets[0], task), mean_loss])


def _accuracy(outputs: Tensor, labels: Tensor, task: Task) -> Tensor:
    """Share of right classes, or mean recall among the TOP highest tags over the samples that have tags."""
    if task == "classes":
        return (outputs.argmax(1) == labels).double().mean()
    if task == "regression":
        return outputs.new_full((), math.nan, dtype=torch.float64)
    best = outputs.topk(min(TOP, outputs.shape[1]), dim=1).indices
    found, tags = labels.gather(1, best).sum(1), labels.sum(1)
    return (found / tags).double().nanmean()  # 0/0 where there is no tag
