"""A chunk of clients of different sizes as rectangular tensors, in which padding weighs exactly nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .work import Work


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """rows: (steps, c, b) sample numbers; weights: (steps, c, b), one over the true batch size for real rows and 0 for
    padding; active: (steps, c), 0 once a client has no steps left."""

    rows: Tensor
    weights: Tensor
    active: Tensor


def schedule(work: Work) -> Schedule:
    """The chunk's batches, padded to the largest batch and the most steps."""
    steps = max(len(plan) for plan in work.batches)
    widest = max((len(batch) for plan in work.batches for batch in plan), default=0)
    rows = np.zeros((steps, len(work.clients), widest), dtype=np.int64)
    weights = np.zeros(rows.shape)
    active = np.zeros(rows.shape[:2])
    for place, plan in enumerate(work.batches):
        active[: len(plan), place] = 1
        for step, batch in enumerate(plan):
            rows[step, place, : len(batch)] = batch
            weights[step, place, : len(batch)] = 1 / len(batch)
    first = work.clients[0]
    return Schedule(
        torch.from_numpy(rows).to(first.device),
        torch.from_numpy(weights).to(device=first.device, dtype=first.dtype),
        torch.from_numpy(active).to(device=first.device, dtype=first.dtype),
    )


def padded(parts: Sequence[Tensor]) -> Tensor:
    """(c, n, ...) of tensors with n_k rows each; zeros beyond a client's own."""
    longest = max(len(part) for part in parts)
    result = parts[0].new_zeros((len(parts), longest, *parts[0].shape[1:]))
    for place, part in enumerate(parts):
        result[place, : len(part)] = part
    return result


def padded_targets(work: Work) -> tuple[Tensor, ...]:
    """Each of the targets, padded."""
    return tuple(padded([client.targets[k] for client in work.clients]) for k in range(len(work.clients[0].targets)))
