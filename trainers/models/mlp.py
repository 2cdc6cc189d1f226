"""A small multi-layer perceptron."""

from __future__ import annotations

import math

from torch import Tensor, nn


class Mlp(nn.Module):
    """One hidden layer of rectified linear units."""

    def __init__(self, features: int, outputs: int, hidden: int = 64) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, hidden)
        self.output = nn.Linear(hidden, outputs)

    @classmethod
    def for_shape(cls, shape: tuple[int, ...], outputs: int) -> Mlp:
        return cls(math.prod(shape), outputs)

    def forward(self, x: Tensor) -> Tensor:
        activations: Tensor = self.output(nn.functional.relu(self.hidden(x.flatten(1))))
        return activations
