"""Clients' samples as tensors on the training device, those that stay there between rounds, and each step's batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor

from ..data import Federation, Samples, Task
from .settings import LocalSteps


@dataclass(frozen=True, slots=True, eq=False)
class ClientTensors:
    """One client's samples. targets: what the loss takes after the outputs; the labels first.

    features: a tensor, or a scipy csr_matrix that stays on the CPU and is made dense a batch at a time.
    derived: what solvers computed from the features alone, to be used again in later rounds.
    """

    features: Any
    targets: tuple[Tensor, ...]
    dtype: torch.dtype
    device: torch.device
    derived: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self.features.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are kept sparse."""
        return not isinstance(self.features, torch.Tensor)

    def rows(self, index: Tensor | slice) -> Tensor:
        """The dense features of these samples."""
        if isinstance(self.features, torch.Tensor):
            return self.features[index]
        chosen = self.features if isinstance(index, slice) else self.features[index.cpu().numpy()]
        return torch.from_numpy(chosen.toarray()).to(device=self.device, dtype=self.dtype)

    def with_targets(self, *more: Tensor) -> ClientTensors:
        """The same samples with further targets, such as a reference model's outputs."""
        return replace(self, targets=(*self.targets, *more))


def to_tensors(samples: Samples, task: Task, dtype: torch.dtype, device: torch.device) -> ClientTensors:
    """Samples for training: features (and labels that are not class indices) in the training dtype."""
    labels = torch.from_numpy(np.ascontiguousarray(samples.labels)).to(device)
    targets = (labels if task == "classes" else labels.to(dtype),)
    if sparse.issparse(samples.features):
        wanted = np.float64 if dtype == torch.float64 else np.float32
        return ClientTensors(samples.features.astype(wanted), targets, dtype, device)
    features = torch.from_numpy(np.ascontiguousarray(samples.dense())).to(device=device, dtype=dtype)
    return ClientTensors(features, targets, dtype, device)


KEPT_BYTES = 2**30
"""Of one process. A client that was dropped is read, or made, again when its turn comes: a matter of time alone."""

OBJECTS = 8192
"""Bytes of Python's and torch's objects for the parts of one client, about."""

Part = tuple[int, bool]
"""A client, and whether it is its test part."""


class Kept:
    """held: the bytes that are counted: of samples, twice, since solvers derive about as much from them."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self.limit, self.held = limit, 0
        self._parts: OrderedDict[Part, ClientTensors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._parts)

    def get(self, part: Part, make: Callable[[], ClientTensors]) -> ClientTensors:
        """The part, made if it is not here. Those that nobody asked for longest go; this one stays in any case."""
        if part in self._parts:
            self._parts.move_to_end(part)
            return self._parts[part]
        made = self._parts[part] = make()
        self.held += cost(made)
        while self.held > self.limit and len(self._parts) > 1:
            _, dropped = self._parts.popitem(last=False)
            self.held -= cost(dropped)
        return made


_KEPT: WeakKeyDictionary[Federation, dict[tuple[torch.dtype, torch.device], Kept]] = WeakKeyDictionary()


def kept_of(federation: Federation, dtype: torch.dtype, device: torch.device) -> Kept:
    """What all runs on these data have in common in this process, for as long as the federation is in use: copying
    client by client to a GPU that other processes share takes longer than a short run."""
    return _KEPT.setdefault(federation, {}).setdefault((dtype, device), Kept())


def cost(samples: ClientTensors) -> int:
    """Bytes that are counted for these samples."""
    features = samples.features
    arrays = (features.data, features.indices, features.indptr) if samples.is_sparse else (features,)
    return OBJECTS + 2 * sum(int(array.nbytes) for array in (*arrays, *samples.targets))


Rows = npt.NDArray[np.int64]


def steps_in_a_round(samples: int, local: LocalSteps) -> int:
    """How many steps a client with so many samples takes."""
    return local.steps or local.epochs * -(-samples // min(samples, local.batch_size or samples))


def batch_plan(samples: int, local: LocalSteps, rng: np.random.Generator) -> list[Rows]:
    """The rows of each step's batch. An epoch visits every sample once, in a fresh order; its last batch is smaller
    where the batch size does not divide the number of samples."""
    size = min(samples, local.batch_size or samples)
    per_epoch, steps = -(-samples // size), steps_in_a_round(samples, local)
    plan: list[Rows] = []
    while len(plan) < steps:
        # With one batch an epoch the order of its rows changes nothing but rounding.
        order = np.arange(samples) if per_epoch == 1 else rng.permutation(samples)
        plan.extend(order[first : first + size] for first in range(0, samples, size))
    return plan[:steps]
