"""Clients' samples as tensors on the training device."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..data import Samples, Task


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
