"""The stacked solver with torch.compile, which makes one kernel of many: for long runs on a GPU.

Compiling takes half a minute, once. What it gains on a GPU, and from when on it pays, is in choose.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._triton import has_triton

from .stacked import StackedSolver
from .work import Work


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
