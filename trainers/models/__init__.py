"""The papers' models, by name."""

from .build import MODELS, build_model
from .cnn import Cnn
from .linear import Linear
from .mlp import Mlp

__all__ = ["MODELS", "Cnn", "Linear", "Mlp", "build_model"]
