"""How well every client's model does on its own samples; each process looks at its own clients."""

from __future__ import annotations

from collections.abc import Sequence
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


def score(outputs: Tensor, clients: Sequence[ClientTensors], loss: Loss, task: Task) -> Floats:
    """(2, c): each client's accuracy and mean loss; NaN without samples. The device is waited for once.

    outputs: (n, outputs), of the clients' samples one after the other. Means are taken in double precision.
    """
    labels = torch.cat([own.targets[0] for own in clients])
    # NaN means "not known" here: a model that has diverged has an infinite loss.
    losses = loss(outputs, labels).double().nan_to_num(nan=np.inf, posinf=np.inf)
    each = torch.stack([_accuracies(outputs, labels, task), losses]).cpu().numpy()
    sizes, known = np.array([len(own) for own in clients]), ~np.isnan(each)
    filled, found = np.flatnonzero(sizes), np.full((2, len(clients)), np.nan)
    first = (np.cumsum(sizes) - sizes)[filled]
    with np.errstate(invalid="ignore"):  # 0/0 where nothing is known
        total = np.add.reduceat(np.where(known, each, 0.0), first, axis=1)
        found[:, filled] = total / np.add.reduceat(known.astype(np.float64), first, axis=1)
    return found


def _accuracies(outputs: Tensor, labels: Tensor, task: Task) -> Tensor:
    """(n,): 1 for the right class, or the recall among the TOP highest tags, NaN for a sample that has none."""
    if task == "classes":
        return (outputs.argmax(1) == labels).double()
    if task == "regression":
        return outputs.new_full((len(outputs),), torch.nan, dtype=torch.float64)
    best = outputs.topk(min(TOP, outputs.shape[1]), dim=1).indices
    found, tags = labels.gather(1, best).sum(1), labels.sum(1)
    return (found / tags).double()
