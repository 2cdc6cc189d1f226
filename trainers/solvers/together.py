"""The steps of all clients of a chunk at once, whatever computes their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from ..engine.device import on_device
from .ragged import first_rows, in_order, most_steps_first, schedule
from .work import Work, per_client

Slopes = Callable[..., Tensor]
"""(models (c, d), features (c, b, ...), weights (c, b), target (c, b, ...), ...) -> (c, d) gradients of each client's
weighted sum of losses."""


def solve_together(work: Work, slopes: Slopes) -> Tensor:
    """The (c, d) models after the last step."""
    order = most_steps_first(work)
    places = on_device(np.array(order), work.start.device)
    work = _reordered(work, order, places)
    first = work.clients[0]
    features = torch.cat([client.rows(slice(None)) for client in work.clients])
    targets = [torch.cat([client.targets[k] for client in work.clients]) for k in range(len(first.targets))]
    offsets = first_rows(work).unsqueeze(1)
    vector = per_client(work.start, len(order)).clone()
    anchor = None if work.anchor is None else per_client(work.anchor, len(order))
    for rows, weights in schedule(work):
        busy, chosen = len(rows), rows + offsets[: len(rows)]
        gradient = slopes(vector[:busy], features[chosen], weights, *(target[chosen] for target in targets))
        _pull(work, gradient, vector[:busy], anchor)
        vector[:busy].sub_(gradient, alpha=work.learning_rate)
    result = torch.empty_like(vector)
    result[places] = vector
    return result


def weighted_sum(losses: Tensor, weights: Tensor) -> Tensor:
    """Selecting, not multiplying: what padding computes is discarded even where it is infinite."""
    return torch.where(weights > 0, losses * weights, losses.new_zeros(())).sum()


def _pull(work: Work, gradient: Tensor, vector: Tensor, anchor: Tensor | None) -> None:
    """Add the gradient of the penalties, in place."""
    if work.strength and anchor is not None:
        pull = vector - anchor[: len(vector)]
        gradient.add_(pull if work.curvature is None else pull * work.curvature[: len(vector)], alpha=work.strength)
    if work.weight_decay:
        gradient.add_(vector, alpha=work.weight_decay)


def _reordered(work: Work, order: Sequence[int], places: Tensor) -> Work:
    """The same work with its clients, and whatever is theirs, in this order. places: the order, on the device."""

    def rows(vector: Tensor) -> Tensor:
        return vector[places] if vector.dim() == 2 else vector

    return replace(
        in_order(work, order),
        start=rows(work.start),
        anchor=None if work.anchor is None else rows(work.anchor),
        curvature=None if work.curvature is None else rows(work.curvature),
    )
