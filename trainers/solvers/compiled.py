"""The stacked solver with torch.compile, which makes one kernel of many: for long runs on a GPU.

Compiling takes a minute, and again where clients come with other numbers of samples. What it gains on a GPU is not
measured, so "auto" never takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .stacked import StackedSolver


class CompiledSolver(StackedSolver):
    """The same steps, to rounding. Raises what torch.compile raises where it has no compiler."""

    name = "compiled"

    def forward(self) -> Callable[[Any, Tensor], Tensor]:
        if self.name not in self.model.derived:
            self.model.derived[self.name] = torch.compile(super().forward(), dynamic=True)
        known: Callable[[Any, Tensor], Tensor] = self.model.derived[self.name]
        return known
