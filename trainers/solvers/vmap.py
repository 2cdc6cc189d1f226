"""The whole chunk in one torch.func.vmap call, for any module without random numbers."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor
from torch.func import functional_call, grad, vmap

from ..engine.parameters import FlatModule
from .together import solve_together, weighted_sum
from .work import Work


class VmapSolver:
    """Gradients of all clients at once, by torch's own vectorisation."""

    name = "vmap"
    streams = False

    def __init__(self, model: FlatModule) -> None:
        self.model = model

    def refuses(self, work: Work) -> str | None:
        if self.model.is_random:
            return "the model draws random numbers, which have no order over a vectorised chunk"
        return None

    def changes(self, work: Work) -> Iterable[Tensor]:
        return self.solve(work).sub_(work.start)

    def solve(self, work: Work) -> Tensor:
        self.model.module.train()

        def batch_loss(own: Tensor, features: Tensor, weights: Tensor, *targets: Tensor) -> Tensor:
            outputs = functional_call(self.model.module, self.model.named(own), (features,))
            return weighted_sum(work.loss(outputs, *targets), weights)

        return solve_together(work, vmap(grad(batch_loss), randomness="error"))
