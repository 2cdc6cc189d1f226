"""A chunk of clients of different sizes as rectangular tensors, in which padding weighs exactly nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .work import Work


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """features: (c, n, ...), targets: (c, n, ...), zeros beyond a client's own samples.

    rows: (steps, c, b) indices into the n axis; weights: (steps, c, b), one over the true batch size for real rows
    and 0 for padding; active: (steps, c), 0 once a client has no steps left.
    """

    features: Tensor
    targets: tuple[Tensor, ...]
    rows: Tensor
    weights: Tensor
    active: Tensor


def pad(work: Work) -> Ragged:
    """The chunk, padded to its longest client, largest batch and most steps."""
    first = work.clients[0]
    device, dtype = first.features.device, first.features.dtype
    longest = max(len(client) for client in work.clients)
    features = _stack([client.features for client in work.clients], longest)
    targets = tuple(
        _stack([client.targets[place] for client in work.clients], longest) for place in range(len(first.targets))
    )
    steps = max(len(plan) for plan in work.batches)
    widest = max(len(batch) for plan in work.batches for batch in plan)
    rows = np.zeros((steps, len(work.clients), widest), dtype=np.int64)
    weights = np.zeros(rows.shape)
    active = np.zeros(rows.shape[:2])
    for place, plan in enumerate(work.batches):
        active[: len(plan), place] = 1
        for step, batch in enumerate(plan):
            rows[step, place, : len(batch)] = batch
            weights[step, place, : len(batch)] = 1 / len(batch)
    return Ragged(
        features,
        targets,
        torch.from_numpy(rows).to(device),
        torch.from_numpy(weights).to(device=device, dtype=dtype),
        torch.from_numpy(active).to(device=device, dtype=dtype),
    )


def _stack(parts: Sequence[Tensor], longest: int) -> Tensor:
    result = parts[0].new_zeros((len(parts), longest, *parts[0].shape[1:]))
    for place, part in enumerate(parts):
        result[place, : len(part)] = part
    return result
