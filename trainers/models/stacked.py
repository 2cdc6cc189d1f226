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

    As one matrix product a network over the patches of all its pictures. Patches are strided views that one copy
    brings in order: torch.nn.functional.unfold starts a kernel a picture on CUDA, and a grouped convolution, which is
    what vmap makes of this, one a network, whose gradients are slow. In memory channels come before pictures, here and
    in stacked_max_pool2d, so that nothing is moved between layers.
    """
    networks, outputs, _, side, _ = weight.shape
    patches = x.transpose(1, 2).unfold(3, side, 1).unfold(4, side, 1)
    pictures = patches.shape[2:5]
    matrix = patches.permute(0, 1, 5, 6, 2, 3, 4).reshape(networks, weight[0, 0].numel(), -1)
    products = torch.baddbmm(bias.unsqueeze(2), weight.flatten(2), matrix)
    return products.view(networks, outputs, *pictures).transpose(1, 2)


def stacked_max_pool2d(x: Tensor, side: int) -> Tensor:
    """Of (c, b, channels, height, width), over squares without overlap."""
    maps = x.transpose(1, 2)
    pooled = torch.nn.functional.max_pool2d(maps.flatten(0, 1), side)
    return pooled.view(*maps.shape[:3], *pooled.shape[2:]).transpose(1, 2)
