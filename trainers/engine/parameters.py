"""A module's trainable parameters as one flat vector, in the order of named_parameters(), and whether it fits."""

from __future__ import annotations

import copy
import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from ...mechanisms import InputError

STATISTICS = (nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm)
DROPOUT = nn.modules.dropout._DropoutNd


class FlatModule:
    """A private copy of a module whose parameters, and their gradients, are views of two flat vectors.

    is_random: whether training draws random numbers, as far as is known. refusals: what solvers found out about it;
    derived: what they made of it. multiplies_in: what products in training are rounded to, where that is not dtype:
    torch.bfloat16, of which parameters and gradients keep nothing.

    Raises InputError for a module that cannot be copied, without trainable parameters or with complex or uninitialised
    ones, and for one that keeps running statistics: those would carry client data past the clipping.
    """

    def __init__(
        self, module: nn.Module, dtype: torch.dtype, device: torch.device, multiplies_in: torch.dtype | None = None
    ) -> None:
        self.multiplies_in = multiplies_in
        check_parameters(module)
        try:
            self.module = copy.deepcopy(module).to(device=device, dtype=dtype)
        except RuntimeError as error:
            raise InputError("model", type(module).__name__, f"a model that can be copied ({error})") from error
        for name, part in self.module.named_modules():
            if isinstance(part, STATISTICS) and part.track_running_stats:
                raise InputError("model", f"{name}: {type(part).__name__}", "a model without running statistics")
        parameters = {name: value for name, value in self.module.named_parameters() if value.requires_grad}
        if not parameters:
            raise InputError("model", type(module).__name__, "at least one trainable parameter")
        self.names = tuple(parameters)
        self.shapes = tuple(tuple(value.shape) for value in parameters.values())
        self.sizes = tuple(math.prod(shape) for shape in self.shapes)
        self.dimension = sum(self.sizes)
        self.refusals: dict[object, str | None] = {}
        self.derived: dict[str, Any] = {}
        self.is_random = any(isinstance(part, DROPOUT) and part.p > 0 for part in self.module.modules())
        self.vector = torch.cat([value.detach().reshape(-1) for value in parameters.values()]).clone()
        self.gradient = torch.zeros_like(self.vector)
        for value, view, slope in zip(
            parameters.values(), self.split(self.vector), self.split(self.gradient), strict=True
        ):
            value.data = view
            value.grad = slope

    def twin(self) -> FlatModule:
        """A copy with vectors of its own."""
        found = FlatModule(self.module, self.vector.dtype, self.vector.device, self.multiplies_in)
        found.is_random = self.is_random
        return found

    def arithmetic(self) -> AbstractContextManager[Any]:
        """In which outputs and losses are computed while training."""
        if self.multiplies_in is None:
            return nullcontext()
        return torch.autocast(self.vector.device.type, dtype=self.multiplies_in)

    def split(self, vector: Tensor) -> tuple[Tensor, ...]:
        """Views of a flat (..., d) vector with the parameters' shapes."""
        leading = vector.shape[:-1]
        pieces = vector.split_with_sizes(list(self.sizes), dim=-1)
        return tuple(piece.view(*leading, *shape) for piece, shape in zip(pieces, self.shapes, strict=True))

    def named(self, vector: Tensor) -> dict[str, Tensor]:
        """The parameters by name, as views of a flat vector, for torch.func.functional_call."""
        return dict(zip(self.names, self.split(vector), strict=True))


def check_parameters(module: nn.Module) -> None:
    """Raise InputError for parameters that are complex or have no values yet."""
    for name, value in module.named_parameters():
        if nn.parameter.is_lazy(value):
            raise InputError("model", f"{name}, uninitialised", "a model that was called once: its layers are lazy")
        if value.is_complex():
            raise InputError("model", f"{name}, complex", "real parameters")


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
