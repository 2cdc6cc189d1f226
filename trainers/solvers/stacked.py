"""The whole chunk layer by layer, as batched matrix products, for modules that say how (models.py); also compiled.

torch.compile makes one kernel of many, in half a minute, once. From when on that pays is in choose.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._triton import has_triton

from ..models import Stackable
from .together import Slopes, TogetherSolver, weighted_sum
from .work import Work


class StackedSolver(TogetherSolver):
    """Gradients of all clients from one backward pass: their losses share no parameter."""

    name = "stacked"

    def refuses(self, work: Work) -> str | None:
        if not isinstance(self.model.module, Stackable):
            return "the model has no method `stacked`"
        if len(self.model.names) != len(list(self.model.module.parameters())):
            return "not all parameters of the model are trained"
        return "the model draws random numbers" if self.model.is_random else None

    def slopes(self, work: Work) -> Slopes:
        forward = self.forward()

        def slopes(own: Tensor, features: Tensor, weights: Tensor, *targets: Tensor) -> Tensor:
            leaf = own.detach().requires_grad_()
            with self.model.arithmetic():
                outputs = forward(self.model.named(leaf), features)
                losses = work.loss(outputs.flatten(0, 1), *(target.flatten(0, 1) for target in targets))
            return torch.autograd.grad(weighted_sum(losses, weights.flatten()), leaf)[0]

        return slopes

    def forward(self) -> Callable[[Any, Tensor], Tensor]:
        """Parameters by name and features to outputs."""
        module = self.model.module
        assert isinstance(module, Stackable)
        return module.stacked


class CompiledSolver(StackedSolver):
    """The same steps, to rounding. Raises what torch.compile raises where it has no compiler."""

    name = "compiled"

    def refuses(self, work: Work) -> str | None:
        if self.model.vector.device.type == "cuda" and not has_triton():
            return "torch.compile needs Triton on CUDA, which is not installed"
        return super().refuses(work)

    def forward(self) -> Callable[[Any, Tensor], Tensor]:
        if self.name not in self.model.derived:
            self.model.derived[self.name] = torch.compile(super().forward(), dynamic=True)
        known: Callable[[Any, Tensor], Tensor] = self.model.derived[self.name]
        return known
