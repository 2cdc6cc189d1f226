"""A small multi-layer perceptron."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor, nn

from .stacked import stacked_linear


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

    def stacked(self, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """See models.stacked."""
        x = stacked_linear(x.flatten(2), parameters["hidden.weight"], parameters["hidden.bias"])
        return stacked_linear(nn.functional.relu(x), parameters["output.weight"], parameters["output.bias"])
