"""Losses for each task, one value a sample, so that a batch of any size weighs its samples exactly."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...mechanisms import InputError
from ..data import Task

Loss = Callable[..., Tensor]
"""(outputs (n, c), target (n, ...), ...) -> (n,) losses."""


def cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    """-log softmax(outputs)[label]."""
    return torch.nn.functional.cross_entropy(outputs, labels, reduction="none")


def tag_cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    """Sum over the tags of the binary cross-entropy of each."""
    return torch.nn.functional.binary_cross_entropy_with_logits(outputs, labels, reduction="none").sum(-1)


def half_squared_error(outputs: Tensor, labels: Tensor) -> Tensor:
    """||outputs - labels||^2 / 2."""
    return 0.5 * (outputs - labels).square().sum(-1)


LOSSES: dict[Task, Loss] = {
    "classes": cross_entropy,
    "tags": tag_cross_entropy,
    "regression": half_squared_error,
}


def residual(loss: Loss, outputs: Tensor, labels: Tensor) -> Tensor:
    """The gradient in the outputs (..., c) of one of LOSSES."""
    if loss is cross_entropy:
        slope = torch.softmax(outputs, dim=-1)
        return slope.scatter_add_(-1, labels.unsqueeze(-1), slope.new_full((1,), -1.0).expand(*labels.shape, 1))
    if loss is tag_cross_entropy:
        return torch.sigmoid(outputs).sub_(labels)
    if loss is half_squared_error:
        return outputs - labels
    raise InputError("loss", loss, "one of the library's losses")
