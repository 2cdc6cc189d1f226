"""The convolutional network of the PMTL paper's experiments."""

from __future__ import annotations

import math
from collections.abc import Mapping

from torch import Tensor, nn

from ...mechanisms import InputError
from .stacked import stacked_conv2d, stacked_linear, stacked_max_pool2d


class Cnn(nn.Module):
    """Two 5 x 5 convolutions (32 and 64 channels), each with 2 x 2 max pooling, then one linear layer.

    115,646 parameters for 28 x 28 images and 62 classes (PMTL, TMLR version, Table 2 says "4-layer CNN"; this is
    the network of its published code). Features are (channels, height, width), or flat greyscale squares.
    """

    def __init__(self, channels: int, height: int, width: int, outputs: int) -> None:
        super().__init__()
        if min(height, width) < 16:
            raise InputError("model", "cnn", f"images of at least 16 x 16, not {height} x {width}")
        self.image = (channels, height, width)
        self.first = nn.Conv2d(channels, 32, 5)
        self.second = nn.Conv2d(32, 64, 5)
        rows, columns = (((side - 4) // 2 - 4) // 2 for side in (height, width))
        self.output = nn.Linear(64 * rows * columns, outputs)

    @classmethod
    def for_shape(cls, shape: tuple[int, ...], outputs: int) -> Cnn:
        if len(shape) == 3:
            return cls(*shape, outputs)
        side = math.isqrt(shape[0])
        if len(shape) != 1 or side * side != shape[0]:
            raise InputError("model", "cnn", f"image features, not features of shape {shape}")
        return cls(1, side, side, outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = x.reshape(-1, *self.image)
        x = nn.functional.max_pool2d(nn.functional.relu(self.first(x)), 2)
        x = nn.functional.max_pool2d(nn.functional.relu(self.second(x)), 2)
        logits: Tensor = self.output(x.flatten(1))
        return logits

    def stacked(self, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """See models.stacked."""
        x = x.reshape(*x.shape[:2], *self.image)
        for layer in ("first", "second"):
            x = stacked_conv2d(x, parameters[f"{layer}.weight"], parameters[f"{layer}.bias"])
            x = stacked_max_pool2d(nn.functional.relu(x), 2)
        return stacked_linear(x.flatten(2), parameters["output.weight"], parameters["output.bias"])
