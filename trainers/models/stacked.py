"""Layers of c networks at once, each network with its own weights.

Every tensor has the network first: x is (c, b, ...), a weight (c, ...). A module that offers
`stacked(parameters, x)`, from its parameters by name and (c, b, *features) to (c, b, outputs), is trained by the
stacked solver, which is the fastest for networks on a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class Stackable(Protocol):
    """A module that can be evaluated for many sets of parameters at once."""

    def stacked(self, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """parameters: (c, *shape) by name; x: (c, b, *features). Returns (c, b, outputs)."""
        ...


def stacked_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x: (c, b, inputs), weight: (c, outputs, inputs), bias: (c, outputs); returns (c, b, outputs)."""
    if bias is None:
        return torch.bmm(x, weight.transpose(1, 2))
    return torch.baddbmm(bias.unsqueeze(1), x, weight.transpose(1, 2))


def stacked_conv2d(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x: (c, b, channels, height, width), weight: (c, outputs, channels, k, k); no padding, stride 1.

    As one matrix product a network over the patches of all its pictures: a grouped convolution, which is what vmap
    makes of this, has slow gradients for many groups.
    """
    networks, batch, channels, height, width = x.shape
    outputs, side = weight.shape[1], weight.shape[-1]
    rows, columns = height - side + 1, width - side + 1
    patches = torch.nn.functional.unfold(x.flatten(0, 1), side)
    patches = patches.view(networks, batch, channels * side * side, rows * columns)
    products = torch.matmul(weight.flatten(2).unsqueeze(1), patches) + bias.view(networks, 1, outputs, 1)
    return products.view(networks, batch, outputs, rows, columns)


def stacked_max_pool2d(x: Tensor, side: int) -> Tensor:
    """Of (c, b, channels, height, width), over squares without overlap."""
    pooled = torch.nn.functional.max_pool2d(x.flatten(0, 1), side)
    return pooled.view(*x.shape[:2], *pooled.shape[1:])
