"""By what a checkpoint recognises its run."""

from __future__ import annotations

import hashlib
from dataclasses import asdict

import torch
from torch import nn

from ..data import Federation
from .algorithm import Algorithm
from .parameters import check_parameters
from .settings import Settings

NOT_PART_OF_IT = ("rounds", "evaluate_every", "evaluate_clients", "device", "seed")
"""A run may be continued for more rounds, watched differently, and moved to another device; the seed is compared
on its own."""
OF_EARLIER_CHECKPOINTS = {"schedule": "constant", "noise_source": "auto", "chunk": None, "max_cohort": None}
"""What runs were before there was a choice."""


def identity_of(algorithm: Algorithm, settings: Settings, model: str | nn.Module, federation: Federation) -> str:
    """A digest of all that decides the run's course: a named model, or a module with its weights, included."""
    kept = {key: value for key, value in asdict(settings).items() if key not in NOT_PART_OF_IT}
    for name, before in OF_EARLIER_CHECKPOINTS.items():
        if kept[name] == before:
            del kept[name]
    digest = hashlib.sha256(repr((algorithm.describe(), sorted(kept.items()))).encode())
    digest.update(federation.fingerprint().encode())
    if isinstance(model, str):
        digest.update(model.encode())
        return digest.hexdigest()
    check_parameters(model)
    digest.update(type(model).__qualname__.encode())
    for name, value in model.state_dict().items():
        digest.update(repr((name, tuple(value.shape), str(value.dtype))).encode())
        digest.update(value.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
