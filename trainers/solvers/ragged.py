"""A chunk of clients of different sizes as rectangular tensors, in which padding weighs exactly nothing.

Clients are put in the order of their number of steps: those that have steps left are then the first ones, and nobody
computes for a client that is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from ..engine.device import on_device
from .work import Work


def most_steps_first(work: Work) -> list[int]:
    """The clients' places in the work, those with the most steps first."""
    return sorted(range(len(work.clients)), key=lambda place: -len(work.batches[place]))


def in_order(work: Work, order: Sequence[int]) -> Work:
    """The same work with its clients and batches in this order; vectors stay as they are."""
    clients = [work.clients[place] for place in order]
    return replace(work, clients=clients, batches=[work.batches[place] for place in order])


def schedule(work: Work) -> Iterator[tuple[Tensor, Tensor]]:
    """For each step, of the clients that have it: the sample numbers (busy, b) of their batches, b the widest, and
    their weights, one over the true batch size for real rows and 0 for padding.

    The work's clients must be in the order of most_steps_first.
    """
    batches = [batch for plan in work.batches for batch in plan]
    steps = np.array([len(plan) for plan in work.batches])
    lengths = np.array([len(batch) for batch in batches], dtype=np.int64)
    client, turn = np.repeat(np.arange(len(steps)), steps), np.concatenate([np.arange(count) for count in steps])
    widest = int(lengths.max(initial=0))
    sizes = np.zeros((steps[0], len(steps), 1), dtype=np.int64)
    sizes[turn, client, 0] = lengths
    rows = np.zeros((steps[0], len(steps), widest), dtype=np.int64)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows[np.repeat(turn, lengths), np.repeat(client, lengths), within] = np.concatenate(batches) if batches else ()
    real = np.arange(widest) < sizes
    first = work.clients[0]
    moved = on_device(rows, first.device)
    weights = on_device(real / np.maximum(sizes, 1), first.device).to(first.dtype)
    for step, (busy, width) in enumerate(zip((sizes > 0).sum(axis=(1, 2)), sizes.max(axis=(1, 2)), strict=True)):
        yield moved[step, :busy, :width], weights[step, :busy, :width]


def first_rows(work: Work) -> Tensor:
    """(c,): where each client's samples begin when all of them are one after the other."""
    sizes = np.array([len(client) for client in work.clients])
    return on_device(np.cumsum(sizes) - sizes, work.clients[0].device)
