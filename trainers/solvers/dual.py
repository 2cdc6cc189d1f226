"""Linear models in dual form, exactly: n_k x C coefficients and a Gram matrix instead of p x C weights a step.

Every iterate is W = s W_start + a W_anchor + X^T C with scalars s, a and coefficients C (n, outputs), because a
step with the batch's residuals R (loss gradients in the outputs, over the batch size) is
    W <- (1 - eta (strength + decay)) W + eta strength W_anchor - eta X_batch^T R.
So outputs on the client's own samples need only X W_start, X W_anchor and the Gram matrix X X^T (each plus the bias, a
feature that is 1 everywhere). The weights, or what changed in them, are formed once, at the end. Where a client's
samples leave most features at zero (words that it never used, the margin around its pictures) what changed is a few
rows, and nothing of the size of the model is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..engine.client_tensors import ClientTensors
from ..engine.contribution import Contribution, SparseRows
from ..engine.losses import LOSSES, residual
from ..engine.parameters import FlatModule
from ..models import Linear
from .features import BagFeatures, DenseFeatures, Features, features_of
from .ragged import in_order, most_steps_first, padded, schedule
from .work import Work, per_client

Pieces = tuple[Tensor, ...]
LARGEST_KEPT = 512
"""Gram matrices of more samples are computed again each time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """The chunk in dual form, the clients in `order`.

    coefficients: (c, n, outputs), zero beyond a client's own samples; sums: (c, outputs), their sums over samples.
    """

    order: list[int]
    start_share: list[float]
    anchor_share: list[float]
    coefficients: Tensor
    sums: Tensor

    def ranks(self) -> list[int]:
        """Where each client of the work is in `order`."""
        return sorted(range(len(self.order)), key=self.order.__getitem__)


class DualSolver:
    """For models.Linear with one of the library's losses."""

    name = "dual"
    streams = True

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
        for place, rank in enumerate(found.ranks()):
            self._move(
                work, found, place, rank, found.start_share[rank], result[place], self.model.split(result[place])
            )
        return result

    @torch.no_grad()
    def changes(self, work: Work) -> Iterator[Contribution]:
        found = self._run(work)
        stays = self._start_cancels(work)
        buffer = work.start.new_empty(self.model.dimension)
        pieces = self.model.split(buffer)
        for place, rank in enumerate(found.ranks()):
            own = _features(work.clients[place])
            if stays and own.columns is not None:
                values = own.transposed_times(found.coefficients[rank, : len(work.clients[place])])
                yield SparseRows(own.columns, values, found.sums[rank] if len(pieces) == 2 else found.sums[rank, :0])
            else:
                self._move(work, found, place, rank, found.start_share[rank] - 1, buffer, pieces)
                yield buffer

    def _start_cancels(self, work: Work) -> bool:
        """Whether s W_start + a W_anchor is W_start: no pull and no decay, or a pull towards the start itself."""
        return work.weight_decay == 0 and (not self._anchored(work) or work.anchor is work.start)

    @staticmethod
    def _anchored(work: Work) -> bool:
        return work.anchor is not None and work.strength > 0

    def _run(self, work: Work) -> _Solution:
        """All steps of all clients."""
        order = most_steps_first(work)
        from_start = self._outputs(work, order, work.start)
        from_anchor = None
        if self._anchored(work) and work.anchor is not None:
            same = work.anchor is work.start
            from_anchor = from_start if same else self._outputs(work, order, work.anchor)
        gram = from_start.new_zeros(len(order), from_start.shape[1], from_start.shape[1])
        for own, place in zip(gram, order, strict=True):
            size = len(work.clients[place])
            own[:size, :size] = self._gram(work.clients[place])
        if len(self.model.names) == 2:
            gram += 1
        return self._steps(in_order(work, order), order, gram, from_start, from_anchor)

    def _steps(
        self, work: Work, order: list[int], gram: Tensor, from_start: Tensor, from_anchor: Tensor | None
    ) -> _Solution:
        """work: in order, but for its starts and anchors."""
        targets, steps = padded([client.targets[0] for client in work.clients]), schedule(work)
        share, anchor_share = gram.new_ones(len(gram), 1, 1), gram.new_zeros(len(gram), 1, 1)
        coefficients = torch.zeros_like(from_start)
        every = torch.arange(len(gram), device=gram.device).unsqueeze(1)
        strength = work.strength if from_anchor is not None else 0.0
        keep = 1 - work.learning_rate * (strength + work.weight_decay)
        for rows, weights in steps:
            busy, own = len(rows), every[: len(rows)]
            base = from_start[own, rows]
            if keep != 1:
                base *= share[:busy]
            outputs = torch.baddbmm(base, gram[own, rows], coefficients[:busy])
            if from_anchor is not None:
                outputs += anchor_share[:busy] * from_anchor[own, rows]
            slope = residual(work.loss, outputs, targets[own, rows])
            slope *= weights.unsqueeze(-1) * -work.learning_rate
            if keep != 1:
                for shrinking in (share, anchor_share, coefficients):
                    shrinking[:busy] *= keep
                anchor_share[:busy] += work.learning_rate * strength
            coefficients.scatter_add_(1, rows.unsqueeze(-1).expand_as(slope), slope)
        shares = (share.flatten().tolist(), anchor_share.flatten().tolist())
        return _Solution(order, *shares, coefficients, coefficients.sum(dim=1))

    def _outputs(self, work: Work, order: list[int], vectors: Tensor) -> Tensor:
        """(c, n, outputs) of each client's samples under its vector, in order; zeros beyond its own."""
        shared = self.model.split(vectors) if vectors.dim() == 1 else None
        longest = max(len(client) for client in work.clients)
        result = vectors.new_zeros(len(order), longest, self.model.shapes[0][1])
        for own, place in zip(result, order, strict=True):
            weight, *bias = shared or self.model.split(vectors[place])
            out = own[: len(work.clients[place])]
            _features(work.clients[place]).outputs(weight, out)
            if bias:
                out += bias[0]
        return result

    def _gram(self, client: ClientTensors) -> Tensor:
        """X X^T, kept for later rounds where it is small."""
        known = client.derived.get("gram")
        if known is None:
            known = _features(client).gram()
            if len(client) <= LARGEST_KEPT:
                client.derived["gram"] = known
        return torch.as_tensor(known)

    def _move(
        self, work: Work, found: _Solution, place: int, rank: int, start_share: float, out: Tensor, pieces: Pieces
    ) -> None:
        """out <- start_share W_start + anchor_share W_anchor + X^T C, for one client. pieces: the parameters in out."""
        client = work.clients[place]
        own, features = found.coefficients[rank, : len(client)], _features(client)
        weight, *bias = pieces
        if features.columns is None:
            features.transposed_times(own, out=weight)
        else:
            weight.zero_().index_copy_(0, features.columns, features.transposed_times(own))
        if bias:
            bias[0].copy_(found.sums[rank])
        if self._anchored(work) and work.anchor is not None:
            out.add_(per_client(work.anchor, len(work.clients))[place], alpha=found.anchor_share[rank])
        if start_share:
            out.add_(per_client(work.start, len(work.clients))[place], alpha=start_share)


def _features(client: ClientTensors) -> Features:
    """The client's samples as this solver uses them, kept for later rounds."""
    known = client.derived.get("features")
    if known is None:
        known = client.derived["features"] = features_of(client)
    assert isinstance(known, DenseFeatures | BagFeatures)
    return known
