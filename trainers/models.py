"""The papers' models, by name, and layers of c networks at once, each network with its own weights.

Every stacked tensor has the network first: x is (c, b, ...), a weight (c, ...). A module that offers
`stacked(parameters, x)`, from its parameters by name and (c, b, *features) to (c, b, outputs), is trained by the
stacked solver, which is the fastest for networks on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from ..mechanisms import InputError
from ..mechanisms.validate import choice
from .data import Federation


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


MODELS: dict[str, Callable[[tuple[int, ...], int], nn.Module]] = {
    "cnn": Cnn.for_shape,
    "logistic": Linear.for_shape,
    "mlp": Mlp.for_shape,
}
"""The models that have a name, each made for samples of a shape and a number of classes."""


def build_model(name: str, federation: Federation) -> nn.Module:
    """The named model ("cnn", "logistic", "mlp"). Initial weights come from torch's global generator."""
    return MODELS[choice("model", name, MODELS)](federation.shape, federation.outputs)
