"""Whether a module can be trained on these features and labels, found out by asking it for one prediction."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...mechanisms import InputError
from .parameters import FlatModule


def check_fit(model: FlatModule, sample: Tensor, outputs: int) -> None:
    """Predict for one sample, (1, *features), and note in the model whether training draws random numbers.

    Raises InputError for a module that fails on it, whose prediction is no (1, outputs) tensor, and one whose buffers
    change in training: those would carry client data past the clipping, as running statistics do.
    """
    name = type(model.module).__name__
    before = {key: value.clone() for key, value in model.module.named_buffers()}
    devices = [sample.device] if sample.is_cuda else []
    try:
        with torch.no_grad(), torch.random.fork_rng(devices):
            predicted: Any = model.module.eval()(sample)
            states = _random_states(sample.device)
            model.module.train()(sample)
            drew = any(map(_differ, states, _random_states(sample.device)))
    except Exception as error:
        told = " ".join(str(error).split())
        expected = f"a model that takes one sample with features of shape {tuple(sample.shape[1:])} ({told})"
        raise InputError("model", name, expected) from error
    if not isinstance(predicted, torch.Tensor) or tuple(predicted.shape) != (1, outputs):
        shown = tuple(predicted.shape[1:]) if isinstance(predicted, torch.Tensor) else type(predicted).__name__
        raise InputError("model", shown, f"a model with {outputs} outputs for each sample")
    for key, value in model.module.named_buffers():
        if _differ(before[key], value):
            raise InputError("model", f"{name}: {key}", "a model whose buffers do not change in training")
    model.is_random = model.is_random or drew


def _random_states(device: torch.device) -> list[Tensor]:
    states = [torch.random.get_rng_state()]
    return [*states, torch.cuda.get_rng_state(device)] if device.type == "cuda" else states


def _differ(left: Tensor, right: Tensor) -> bool:
    return not torch.equal(left, right)
