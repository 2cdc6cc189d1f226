"""The whole chunk in one torch.func.vmap call, for any module without random numbers."""

from __future__ import annotations

from torch import Tensor
from torch.func import functional_call, grad, vmap

from ..engine.device import plain_convolutions
from .together import Slopes, TogetherSolver, weighted_sum
from .work import Work


class VmapSolver(TogetherSolver):
    """Gradients of all clients at once, by torch's own vectorisation."""

    name = "vmap"

    def refuses(self, work: Work) -> str | None:
        if self.model.is_random:
            return "the model draws random numbers, which have no order over a vectorised chunk"
        known = self.model.refusals
        if work.loss not in known:
            known[work.loss] = self._failure(work)
        return known[work.loss]

    def _failure(self, work: Work) -> str | None:
        """Why torch.func.vmap cannot run this module and loss, found out on one sample of one client."""
        client = work.clients[0]
        features, targets = client.rows(slice(0, 1)), [target[:1].unsqueeze(0) for target in client.targets]
        try:
            self.slopes(work)(self.model.vector.unsqueeze(0), features.unsqueeze(0), features.new_ones(1, 1), *targets)
        except Exception as error:
            return f"torch.func.vmap cannot run the model ({' '.join(str(error).split())[:200]})"
        return None

    def solve(self, work: Work) -> Tensor:
        with plain_convolutions(work.start.device):
            return super().solve(work)

    def slopes(self, work: Work) -> Slopes:
        def batch_loss(own: Tensor, features: Tensor, weights: Tensor, *targets: Tensor) -> Tensor:
            with self.model.arithmetic():
                outputs = functional_call(self.model.module, self.model.named(own), (features,))
                losses = work.loss(outputs, *targets)
            return weighted_sum(losses, weights)

        slopes: Slopes = vmap(grad(batch_loss), randomness="error")
        return slopes
