"""Linear models in dual form, exactly: n_k x C coefficients and a Gram matrix instead of p x C weights a step.

Every iterate is W = s W_start + a W_anchor + X^T C with scalars s, a and coefficients C (n, outputs), because a
step with the batch's residuals R (loss gradients in the outputs, over the batch size) is
    W <- (1 - eta (strength + decay)) W + eta strength W_anchor - eta X_batch^T R.
So outputs on the client's own samples need only X W_start, X W_anchor and the Gram matrix X X^T (each plus the bias, a
feature that is 1 everywhere). The weights, or what changed in them, are formed once, at the end. For sparse features
(bags of words) what changed is a few rows, and nothing of the size of the model is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..engine.client_tensors import ClientTensors
from ..engine.contribution import Contribution, SparseRows
from ..engine.losses import LOSSES, residual
from ..engine.parameters import FlatModule
from ..models import Linear
from .ragged import padded, padded_targets, schedule
from .work import Work, per_client

LARGEST_KEPT = 512
"""Gram matrices of more samples are computed again each time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """The chunk in dual form.

    coefficients: (c, n, outputs), zero beyond a client's own samples; sums: (c, outputs), their sums over samples.
    """

    start_share: list[float]
    anchor_share: list[float]
    coefficients: Tensor
    sums: Tensor


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
        found = self._run(work)
        result = work.start.new_empty(len(work.clients), self.model.dimension)
        for place in range(len(work.clients)):
            self._move(work, found, place, found.start_share[place], result[place])
        return result

    @torch.no_grad()
    def changes(self, work: Work) -> Iterator[Contribution]:
        found = self._run(work)
        buffer = work.start.new_empty(self.model.dimension)
        thin = work.clients[0].is_sparse and self._start_cancels(work)
        for place, client in enumerate(work.clients):
            if thin:
                yield self._sparse_change(client, found.coefficients[place], found.sums[place])
            else:
                self._move(work, found, place, found.start_share[place] - 1, buffer)
                yield buffer

    def _start_cancels(self, work: Work) -> bool:
        """Whether s W_start + a W_anchor is W_start: no pull and no decay, or a pull towards the start itself."""
        return work.weight_decay == 0 and (not self._anchored(work) or work.anchor is work.start)

    @staticmethod
    def _anchored(work: Work) -> bool:
        return work.anchor is not None and work.strength > 0

    def _run(self, work: Work) -> _Solution:
        """All steps of all clients."""
        sizes = [len(client) for client in work.clients]
        from_start = padded(self._outputs(work.clients, sizes, work.start))
        from_anchor = None
        if self._anchored(work) and work.anchor is not None:
            same = work.anchor is work.start
            from_anchor = from_start if same else padded(self._outputs(work.clients, sizes, work.anchor))
        gram = from_start.new_zeros(len(sizes), from_start.shape[1], from_start.shape[1])
        for place, client in enumerate(work.clients):
            gram[place, : sizes[place], : sizes[place]] = self._gram(client)
        if len(self.model.names) == 2:
            gram += 1
        return self._steps(work, gram, from_start, from_anchor)

    def _steps(self, work: Work, gram: Tensor, from_start: Tensor, from_anchor: Tensor | None) -> _Solution:
        targets, steps = padded_targets(work)[0], schedule(work)
        share, anchor_share = gram.new_ones(len(gram), 1, 1), gram.new_zeros(len(gram), 1, 1)
        coefficients = torch.zeros_like(from_start)
        every = torch.arange(len(gram), device=gram.device).unsqueeze(1)
        strength = work.strength if from_anchor is not None else 0.0
        decay = work.learning_rate * (strength + work.weight_decay)
        for rows, weights, active in zip(steps.rows, steps.weights, steps.active, strict=True):
            base = from_start[every, rows]
            outputs = torch.baddbmm(share * base if decay else base, gram[every, rows], coefficients)
            if from_anchor is not None:
                outputs += anchor_share * from_anchor[every, rows]
            slope = residual(work.loss, outputs, targets[every, rows])
            slope *= weights.unsqueeze(-1) * -work.learning_rate
            if decay:
                keep = (1 - decay * active).view(-1, 1, 1)
                share = share * keep
                anchor_share = anchor_share * keep + (work.learning_rate * strength * active).view(-1, 1, 1)
                coefficients *= keep
            coefficients.scatter_add_(1, rows.unsqueeze(-1).expand_as(slope), slope)
        return _Solution(
            share.flatten().tolist(), anchor_share.flatten().tolist(), coefficients, coefficients.sum(dim=1)
        )

    def _outputs(self, clients: Sequence[ClientTensors], sizes: list[int], vectors: Tensor) -> list[Tensor]:
        """(n_k, outputs) of each client's samples under its (d,) vector; one product where all share the vector."""
        if vectors.dim() == 2 or clients[0].is_sparse:
            own = per_client(vectors, len(clients))
            return [self._client_outputs(client, own[place]) for place, client in enumerate(clients)]
        weight, *bias = self.model.split(vectors)
        features = torch.cat([client.features.flatten(1) for client in clients])
        outputs = torch.addmm(bias[0], features, weight) if bias else features @ weight
        return list(torch.split(outputs, sizes))

    def _client_outputs(self, client: ClientTensors, vector: Tensor) -> Tensor:
        weight, *bias = self.model.split(vector)
        if client.is_sparse:
            outputs = torch.from_numpy(client.features @ weight.cpu().numpy()).to(vector.device)
            return outputs + bias[0] if bias else outputs
        features = client.features.flatten(1)
        return torch.addmm(bias[0], features, weight) if bias else features @ weight

    def _gram(self, client: ClientTensors) -> Tensor:
        """X X^T, kept for later rounds where it is small."""
        known = client.derived.get("gram")
        if known is None:
            if client.is_sparse:
                known = torch.from_numpy((client.features @ client.features.T).toarray()).to(client.device)
            else:
                features = client.features.flatten(1)
                known = features @ features.T
            if len(client) <= LARGEST_KEPT:
                client.derived["gram"] = known
        return torch.as_tensor(known)

    def _move(self, work: Work, found: _Solution, place: int, start_share: float, out: Tensor) -> None:
        """out <- start_share W_start + anchor_share W_anchor + X^T C, for one client."""
        client = work.clients[place]
        own = found.coefficients[place, : len(client)]
        weight, *bias = self.model.split(out)
        if client.is_sparse:
            weight.copy_(torch.from_numpy(client.features.T @ own.cpu().numpy()))
        else:
            torch.mm(client.features.flatten(1).T, own, out=weight)
        if bias:
            bias[0].copy_(found.sums[place])
        if self._anchored(work) and work.anchor is not None:
            out.add_(per_client(work.anchor, len(work.clients))[place], alpha=found.anchor_share[place])
        if start_share:
            out.add_(per_client(work.start, len(work.clients))[place], alpha=start_share)

    def _sparse_change(self, client: ClientTensors, coefficients: Tensor, sums: Tensor) -> SparseRows:
        """X^T C in the words that the client has."""
        if "words" not in client.derived:
            client.derived["words"] = _compact(client.features)
        words, compact = client.derived["words"]
        values = torch.from_numpy(compact @ coefficients[: len(client)].cpu().numpy()).to(sums.device)
        tail = sums if len(self.model.names) == 2 else sums[:0]
        return SparseRows(words.to(sums.device), values, tail)


def _compact(features: Any) -> tuple[Tensor, Any]:
    """The words that occur, and the transposed matrix without all others."""
    words, places = np.unique(features.indices, return_inverse=True)
    compact = sparse.csr_matrix((features.data, places, features.indptr), shape=(features.shape[0], len(words)))
    return torch.from_numpy(words.astype(np.int64)), compact.T.tocsr()
