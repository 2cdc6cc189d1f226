"""A round's noise, drawn on the training device: the law of noise.py's, from the same key and counters (philox.py).

Every process draws the whole of it from the counter, so it is the same to the bit for any number of processes. Another
kind of device may round a logarithm or a cosine otherwise, which the grid mostly hides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from .device import on_device
from .philox import normals, words
from .streams import Purpose, Streams

PIECE = 2**22
"""Numbers that are drawn at once; their words take a hundred bytes each while they are."""


class DeviceNoise:
    """See noise.HostNoise."""

    def __init__(self, streams: Streams, device: torch.device) -> None:
        self.streams, self.device = streams, device

    def begin(
        self, attempt: int, round_index: int, shape: tuple[int, int], deviation: float, unit: float
    ) -> Callable[[], Tensor]:
        return partial(self.on_sum, attempt, round_index, shape, deviation, unit)

    def on_sum(self, attempt: int, round_index: int, shape: tuple[int, ...], deviation: float, unit: float) -> Tensor:
        if deviation == 0:
            return torch.zeros((), dtype=torch.float64, device=self.device).expand(shape)
        size = int(torch.Size(shape).numel())
        noise = torch.empty(size, dtype=torch.float64, device=self.device)
        for first in range(0, size, PIECE):
            part = noise[first : first + PIECE]
            drawn = self._normals("noise", attempt, round_index, first // 4, len(part))
            part.copy_(_on_grid(drawn[0], deviation, unit))
        return noise.view(shape)

    def of_clients(
        self, attempt: int, round_index: int, clients: Sequence[int], dimension: int, deviation: float, unit: float
    ) -> Tensor:
        total = torch.zeros(1, dimension, dtype=torch.float64, device=self.device)
        together = max(1, PIECE // dimension)
        for first in range(0, len(clients) if deviation else 0, together):
            chunk = clients[first : first + together]
            drawn = self._normals("client-noise", attempt, round_index, 0, dimension, chunk)
            total += _on_grid(drawn, deviation, unit).sum(0)  # exact: whole multiples of the unit
        return total

    def _normals(
        self, purpose: Purpose, attempt: int, round_index: int, block: int, size: int, clients: Sequence[int] = (0,)
    ) -> Tensor:
        """(clients, size) numbers of each client's stream from this block of four on."""
        counters = [self.streams.counter(purpose, attempt, round_index, client) for client in clients]
        blocks = torch.arange(block + 1, block + 1 + -(-size // 4), device=self.device)  # numpy counts before it draws
        last = on_device(np.array([counter[3] for counter in counters]), self.device).unsqueeze(1)
        drawn = normals(words(self.streams.key, (blocks, *counters[0][1:3], last), self.device))
        return drawn.flatten(1)[:, :size]


def _on_grid(drawn: Tensor, deviation: float, unit: float) -> Tensor:
    """Multiples of the unit."""
    return drawn.mul_(deviation / unit).round_().mul_(unit)
