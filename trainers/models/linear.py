"""Logistic regression (softmax or multi-label) and linear regression: one linear layer."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from .stacked import stacked_linear


class Linear(nn.Module):
    """outputs = x weight + bias, from features of any shape, flattened. Starts at zero: its losses are convex.

    weight is (features, outputs): a feature that a client never has leaves a whole row of its update at zero.
    """

    def __init__(self, features: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    @classmethod
    def for_shape(cls, shape: tuple[int, ...], outputs: int) -> Linear:
        return cls(math.prod(shape), outputs)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x.flatten(1), self.weight.T, self.bias)

    def stacked(self, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """See models.stacked."""
        return stacked_linear(x.flatten(2), parameters["weight"].transpose(1, 2), parameters.get("bias"))
