"""Clients' samples as tensors on the training device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..data import Samples, Task


@dataclass(frozen=True, slots=True, eq=False)
class ClientTensors:
    """One client's samples. targets: what the loss takes after the outputs; the labels first."""

    features: Tensor
    targets: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.features)

    def with_targets(self, *more: Tensor) -> ClientTensors:
        """The same samples with further targets, such as a reference model's outputs."""
        return replace(self, targets=(*self.targets, *more))


def to_tensors(samples: Samples, task: Task, dtype: torch.dtype, device: torch.device) -> ClientTensors:
    """Samples as tensors: features (and labels that are not class indices) in the training dtype."""
    features = torch.from_numpy(np.ascontiguousarray(samples.dense())).to(device=device, dtype=dtype)
    labels = torch.from_numpy(np.ascontiguousarray(samples.labels)).to(device)
    return ClientTensors(features, (labels if task == "classes" else labels.to(dtype),))
