"""A model by name for a federation's features and outputs."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from ...mechanisms.validate import choice
from ..data import Federation
from .cnn import Cnn
from .linear import Linear
from .mlp import Mlp

MODELS: dict[str, Callable[[tuple[int, ...], int], nn.Module]] = {
    "cnn": Cnn.for_shape,
    "logistic": Linear.for_shape,
    "mlp": Mlp.for_shape,
}
"""The models that have a name, each made for samples of a shape and a number of classes."""


def build_model(name: str, federation: Federation) -> nn.Module:
    """The named model ("cnn", "logistic", "mlp"). Initial weights come from torch's global generator."""
    return MODELS[choice("model", name, MODELS)](federation.shape, federation.outputs)
