"""The whole chunk in one vectorised call (torch.func). For GPUs and small models."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap

from ..engine.parameters import FlatModule
from .ragged import padded, padded_targets, schedule
from .work import Work, per_client


class VmapSolver:
    """Gradients of all clients of the chunk at once; clients that are done keep their models."""

    name = "vmap"

    def __init__(self, model: FlatModule) -> None:
        self.model = model

    def refuses(self, work: Work) -> str | None:
        if self.model.is_random:
            return "the model draws random numbers, which have no order over a vectorised chunk"
        return None

    def changes(self, work: Work) -> Iterator[Tensor]:
        yield from self.solve(work) - work.start

    def solve(self, work: Work) -> Tensor:
        features = padded([client.rows(slice(None)) for client in work.clients])
        targets, steps = padded_targets(work), schedule(work)
        vector = per_client(work.start, len(work.clients)).clone()
        anchor = None if work.anchor is None else per_client(work.anchor, len(work.clients))
        self.model.module.train()

        def batch_loss(own: Tensor, features: Tensor, weights: Tensor, *targets: Tensor) -> Tensor:
            outputs = functional_call(self.model.module, self.model.named(own), (features,))
            # Selecting, not multiplying: what padding computes is discarded even where it is infinite.
            losses = work.loss(outputs, *targets)
            return torch.where(weights > 0, losses * weights, losses.new_zeros(())).sum()

        slopes = vmap(grad(batch_loss), randomness="error")
        every = torch.arange(len(work.clients), device=vector.device).unsqueeze(1)
        for rows, weights, active in zip(steps.rows, steps.weights, steps.active, strict=True):
            gradient = slopes(vector, features[every, rows], weights, *(target[every, rows] for target in targets))
            if work.strength and anchor is not None:
                pull = vector - anchor
                gradient.add_(pull if work.curvature is None else pull * work.curvature, alpha=work.strength)
            if work.weight_decay:
                gradient.add_(vector, alpha=work.weight_decay)
            stepped = vector - work.learning_rate * gradient
            vector = stepped if bool(active.all()) else torch.where(active.unsqueeze(1) > 0, stepped, vector)
        return vector
