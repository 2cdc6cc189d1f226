"""Linear models in dual form, exactly: n_k x C coefficients and a Gram matrix instead of p x C weights a step.

Every iterate is W = s W_start + a W_anchor + X^T C with scalars s, a and coefficients C (n, outputs), because a
step with the batch's residuals R (loss gradients in the outputs, over the batch size) is
    W <- (1 - eta (strength + decay)) W + eta strength W_anchor - eta X_batch^T R.
So outputs on the client's own samples need only X W_start, X W_anchor and the Gram matrix X X^T (each plus the bias, a
feature that is 1 everywhere). The weights, or what changed in them, are formed once, at the end. Where a client's
samples agree in most features (words that it never used, the margin around its pictures) what changed is a few rows
(features.py), and nothing of the size of the model is touched.
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
from .features import AllFeatures, BagFeatures, Features, ListedFeatures, features_of, gram_of
from .loop import LoopSolver
from .together import first_rows, in_order, most_steps_first, schedule
from .work import Work, per_client

LARGEST_KEPT = 512
"""Gram matrices of more samples are computed again each time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """What is known of the work's clients, in the order of their steps.

    order: their places in the work; ranks: where each client of the work is in it; sizes: their numbers of samples.
    """

    order: list[int]
    ranks: list[int]
    sizes: list[int]
    features: list[Features]


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """The chunk in dual form.

    coefficients: (c, n, outputs), zero beyond a client's own samples.
    """

    chunk: _Chunk
    start_share: list[float]
    anchor_share: list[float]
    coefficients: Tensor

    def moved(self) -> Iterator[tuple[int, Contribution]]:
        """Each client's rank and X^T C."""
        coefficients, chunk = self.coefficients.unbind(0), self.chunk
        for rank in chunk.ranks:
            yield rank, chunk.features[rank].moved(coefficients[rank][: chunk.sizes[rank]])


class DualSolver:
    """For models.Linear with one of the library's losses."""

    name = "dual"
    streams = True

    def __init__(self, model: FlatModule) -> None:
        self.model = model
        self._bias = len(model.names) > 1

    def refuses(self, work: Work) -> str | None:
        if self.model.multiplies_in is not None:
            return f"the dual form has no {self.model.multiplies_in}"
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
        for place, (rank, moved) in enumerate(found.moved()):
            self._finish(work, found, place, rank, moved, found.start_share[rank], result[place])
        return result

    @torch.no_grad()
    def changes(self, work: Work) -> Iterator[Contribution]:
        found = self._run(work)
        stays, buffer = self._start_cancels(work), None
        for place, (rank, moved) in enumerate(found.moved()):
            if stays:
                yield moved
                continue
            buffer = work.start.new_empty(self.model.dimension) if buffer is None else buffer
            self._finish(work, found, place, rank, moved, found.start_share[rank] - 1, buffer)
            yield buffer

    def predict(self, work: Work) -> Tensor:
        return LoopSolver(self.model).predict(work)

    def _finish(
        self, work: Work, found: _Solution, place: int, rank: int, moved: Contribution, start_share: float, out: Tensor
    ) -> None:
        """out <- start_share W_start + anchor_share W_anchor + moved."""
        torch.mul(per_client(work.start, len(work.clients))[place], start_share, out=out)
        if self._anchored(work) and work.anchor is not None:
            out.add_(per_client(work.anchor, len(work.clients))[place], alpha=found.anchor_share[rank])
        if isinstance(moved, SparseRows):
            moved.add_to(out)
        else:
            out.add_(moved)

    def _start_cancels(self, work: Work) -> bool:
        """Whether s W_start + a W_anchor is W_start: no pull and no decay, or a pull towards the start itself."""
        return work.weight_decay == 0 and (not self._anchored(work) or work.anchor is work.start)

    @staticmethod
    def _anchored(work: Work) -> bool:
        return work.anchor is not None and work.strength > 0

    def _run(self, work: Work) -> _Solution:
        """All steps of all clients."""
        order = most_steps_first(work)
        ranks = sorted(range(len(order)), key=order.__getitem__)
        ordered = in_order(work, order)
        sizes = [len(client) for client in ordered.clients]
        chunk = _Chunk(order, ranks, sizes, [self._features(client) for client in ordered.clients])
        for client in ordered.clients:
            if len(client) <= LARGEST_KEPT:  # what stays comes before what is large and goes, or it fills the holes
                self._gram(client)
        from_start = self._outputs(chunk, work.start)
        from_anchor = None
        if self._anchored(work) and work.anchor is not None:
            same = work.anchor is work.start
            from_anchor = from_start if same else self._outputs(chunk, work.anchor)
        return self._steps(ordered, chunk, self._grams(ordered, sizes), from_start, from_anchor)

    def _grams(self, work: Work, sizes: list[int]) -> Tensor:
        """(all samples, most samples of a client): each client's X X^T with the bias."""
        grams = work.start.new_zeros(sum(sizes), max(sizes))
        for own, client, size in zip(grams.split_with_sizes(sizes), work.clients, sizes, strict=True):
            own[:, :size] = self._gram(client)
        return grams

    def _steps(
        self, work: Work, chunk: _Chunk, gram: Tensor, from_start: Tensor, from_anchor: Tensor | None
    ) -> _Solution:
        """work: in order, but for its starts and anchors. gram, from_start, from_anchor: one row a sample."""
        clients, outputs, longest = len(chunk.order), from_start.shape[1], gram.shape[1]
        targets = torch.cat([client.targets[0] for client in work.clients])
        share, anchor_share = gram.new_ones(clients, 1, 1), gram.new_zeros(clients, 1, 1)
        coefficients = gram.new_zeros(clients, longest, outputs)
        places = torch.arange(clients, device=gram.device).unsqueeze(1) * longest
        offsets = first_rows(work).unsqueeze(1)
        strength = work.strength if from_anchor is not None else 0.0
        keep = 1 - work.learning_rate * (strength + work.weight_decay)
        for step, (rows, weights) in enumerate(schedule(work)):
            busy, samples = len(rows), rows + offsets[: len(rows)]
            reached = _rows(from_start, samples)
            if keep != 1:
                reached *= share[:busy]
            if step:  # nothing has moved before the first one
                reached.baddbmm_(_rows(gram, samples), coefficients[:busy])
            if from_anchor is not None:
                reached += anchor_share[:busy] * _rows(from_anchor, samples)
            slope = residual(work.loss, reached, _rows(targets, samples))
            slope *= weights.unsqueeze(-1) * -work.learning_rate
            if keep != 1:
                for shrinking in (share, anchor_share, coefficients):
                    shrinking[:busy] *= keep
                anchor_share[:busy] += work.learning_rate * strength
            coefficients.view(-1, outputs).index_add_(0, (rows + places[:busy]).flatten(), slope.flatten(0, 1))
        return _Solution(chunk, share.flatten().tolist(), anchor_share.flatten().tolist(), coefficients)

    def _outputs(self, chunk: _Chunk, vectors: Tensor) -> Tensor:
        """(all samples, outputs) of each client's samples under its vector, (d,) or (c, d) as the work has them."""
        outputs = self.model.shapes[0][1]
        tables = vectors.view(*vectors.shape[:-1], -1, outputs)
        result = vectors.new_empty(sum(chunk.sizes), outputs)
        outs = result.split_with_sizes(chunk.sizes)
        for own, place, out in zip(chunk.features, chunk.order, outs, strict=True):
            own.outputs(tables if tables.dim() == 2 else tables[place], out)
        return result

    def _features(self, client: ClientTensors) -> Features:
        """The client's samples as this solver uses them, kept for later rounds."""
        known = client.derived.get(f"features {self._bias}")
        if known is None:
            known = client.derived[f"features {self._bias}"] = features_of(client, self._bias)
        assert isinstance(known, AllFeatures | ListedFeatures | BagFeatures)
        return known

    def _gram(self, client: ClientTensors) -> Tensor:
        """X X^T with the bias, kept for later rounds where it is small."""
        known = client.derived.get(f"gram {self._bias}")
        if known is None:
            known = gram_of(client)
            if self._bias:
                known += 1
            if len(client) <= LARGEST_KEPT:
                client.derived[f"gram {self._bias}"] = known
        return torch.as_tensor(known)


def _rows(table: Tensor, numbers: Tensor) -> Tensor:
    """The table's rows of these numbers, in their place."""
    return table.index_select(0, numbers.flatten()).view(*numbers.shape, *table.shape[1:])
