"""Where a model is cut into shared lower layers and a task-specific head, and which classes a client's head has."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ...mechanisms import InputError
from ..data import Client, Federation
from ..engine.parameters import FlatModule

LabelSets = Literal["all", "own"]

ABSENT = -1e9
"""The bias of a class that a client's task does not have. Its probability underflows to exactly 0, and with it every
gradient of its row: what is left is the narrower head, to the bit."""


def shared_size(model: FlatModule, head_layers: int) -> int:
    """How many of the model's numbers belong to the shared layers, which come first in its vector.

    A layer is a module with parameters of its own; the last `head_layers` of them are the head.
    Raises InputError where nothing would be left to share.
    """
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in model.names))
    if head_layers >= len(layers):
        expected = f"fewer than the model's {len(layers)} layers: lower ones have to be shared (mlp and cnn have some)"
        raise InputError("head_layers", head_layers, expected)
    lower = set(layers[: len(layers) - head_layers])
    sizes = zip(model.names, model.sizes, strict=True)
    return sum(size for name, size in sizes if name.rpartition(".")[0] in lower)


def absent_classes(model: FlatModule, federation: Federation, label_sets: LabelSets) -> Tensor | None:
    """(population, classes): True where a client's task does not have the class; None where all have all of them.

    A client's task has the classes of its own samples, training and test. The client alone uses its row.
    Raises InputError for other tasks than classification, and for a model whose last numbers are not one bias a class.
    """
    if label_sets == "all":
        return None
    if federation.task != "classes":
        raise InputError("label_sets", label_sets, f"all, for {federation.task}: only classes can be absent")
    if model.shapes[-1] != (federation.outputs,):
        raise InputError("label_sets", label_sets, "all, for a model whose last parameter is not one bias for a class")
    absent = np.ones((federation.population, federation.outputs), dtype=bool)
    for place, client in enumerate(federation.clients):
        absent[place, classes_of(client)] = False
    return torch.from_numpy(absent)


def classes_of(client: Client) -> list[int]:
    """The classes that occur among the client's samples, ascending: its head has one output for each."""
    return sorted({*client.train.labels.tolist(), *client.test.labels.tolist()})
