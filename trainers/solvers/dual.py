"""Linear models in dual form, exactly: n_k x C coefficients and a Gram matrix instead of C x p weights a step.

Every iterate is W = s W_start + a W_anchor + C^T X with scalars s, a and coefficients C (n, outputs), because a
step with the batch's residuals R (loss gradients in the outputs, over the batch size) is
    W <- (1 - eta (strength + decay)) W + eta strength W_anchor - eta R^T X_batch.
So outputs on the client's own samples need only X W_start^T, X W_anchor^T and the Gram matrix X X^T (each plus the
bias, a feature that is 1 everywhere). The weights are formed once, at the end.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..engine.losses import LOSSES, residual
from ..engine.parameters import FlatModule
from ..models import Linear
from .ragged import Ragged, pad
from .work import Work, per_client


class DualSolver:
    """For models.Linear with one of the library's losses."""

    name = "dual"

    def __init__(self, model: FlatModule) -> None:
        self.model = model

    def refuses(self, work: Work) -> str | None:
        if not isinstance(self.model.module, Linear):
            return "the model is not models.Linear"
        if self.model.names not in (("weight",), ("weight", "bias")):
            return "not all parameters of the linear model are trained"
        if len(work.clients[0].targets) != 1 or work.loss not in LOSSES.values():
            return "the loss is not one of the library's"
        return "the penalty is not isotropic" if work.curvature is not None else None

    @torch.no_grad()
    def solve(self, work: Work) -> Tensor:
        clients = len(work.clients)
        chunk = pad(work)
        features = chunk.features.flatten(2)
        start = per_client(work.start, clients)
        anchored = work.anchor is not None and work.strength > 0
        anchor = per_client(work.anchor, clients) if anchored and work.anchor is not None else None
        from_start = self._outputs(features, start)
        from_anchor = self._outputs(features, anchor) if anchor is not None else None
        gram = features @ features.transpose(1, 2)
        if len(self.model.names) == 2:
            gram += 1
        share, anchor_share, coefficients = self._steps(work, chunk, gram, from_start, from_anchor)
        return self._weights(features, coefficients, share, start, anchor_share, anchor)

    def _steps(
        self, work: Work, chunk: Ragged, gram: Tensor, from_start: Tensor, from_anchor: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        share = gram.new_ones(len(gram), 1, 1)
        anchor_share = gram.new_zeros(len(gram), 1, 1)
        coefficients = torch.zeros_like(from_start)
        every = torch.arange(len(gram), device=gram.device).unsqueeze(1)
        strength = work.strength if from_anchor is not None else 0.0
        decay = work.learning_rate * (strength + work.weight_decay)
        for rows, weights, active in zip(chunk.rows, chunk.weights, chunk.active, strict=True):
            outputs = share * from_start[every, rows] + gram[every, rows] @ coefficients
            if from_anchor is not None:
                outputs += anchor_share * from_anchor[every, rows]
            slope = residual(work.loss, outputs, chunk.targets[0][every, rows])
            slope *= weights.unsqueeze(-1)
            if decay:
                keep = (1 - decay * active).view(-1, 1, 1)
                share = share * keep
                anchor_share = anchor_share * keep + (work.learning_rate * strength * active).view(-1, 1, 1)
                coefficients *= keep
            index = rows.unsqueeze(-1).expand_as(slope)
            coefficients.scatter_add_(1, index, slope.mul_(-work.learning_rate))
        return share, anchor_share, coefficients

    def _outputs(self, features: Tensor, vectors: Tensor) -> Tensor:
        """(c, n, outputs) of every client's samples under its vector."""
        parts = self.model.split(vectors)
        outputs = features @ parts[0].transpose(1, 2)
        return outputs + parts[1].unsqueeze(1) if len(parts) == 2 else outputs

    def _weights(
        self,
        features: Tensor,
        coefficients: Tensor,
        share: Tensor,
        start: Tensor,
        anchor_share: Tensor,
        anchor: Tensor | None,
    ) -> Tensor:
        result = start.new_empty(start.shape)
        parts = self.model.split(result)
        torch.bmm(coefficients.transpose(1, 2), features, out=parts[0])
        if len(parts) == 2:
            torch.sum(coefficients, dim=1, out=parts[1])
        if anchor is None:
            return result.add_(start if bool((share == 1).all()) else share.squeeze(2) * start)
        return result.add_(share.squeeze(2) * start).add_(anchor_share.squeeze(2) * anchor)
