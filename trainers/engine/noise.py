"""Gaussian noise on the integer grid.

The sum on the grid is an integer vector, so adding rounded Gaussian noise is rounding the noisy sum: a function of
the Gaussian mechanism's output, which costs no privacy and leaves no low-order bits to attack
(Mironov 2012 attacks those of double-precision noise). The noise itself comes from a statistical generator in
double precision: its tails end where the generator's do. It is drawn on the host, or on the training device
(device_noise.py); both are Philox with the same key and counters, and the numbers differ.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ...mechanisms.arrays import Floats
from .streams import Streams

SOURCES = ("auto", "host", "device")
HOST = torch.device("cpu")

BLOCK = 2**14
"""Numbers that stay in a core's cache while they are drawn, scaled and rounded."""

PIECE = 2**20
"""Of a longer sum each piece of so many numbers has a stream of its own, and the cores draw them at the same time."""


class RoundNoise:
    """Draws a round's noise, the same in every process."""

    def __init__(self, streams: Streams, device: torch.device) -> None:
        self.streams, self.device = streams, device

    def begin(
        self, attempt: int, round_index: int, shape: tuple[int, int], deviation: float, unit: float
    ) -> Callable[[], Tensor]:
        """on_sum, to be called when its result is needed; a long one is begun at once, beside the clients' work."""
        return partial(self.on_sum, attempt, round_index, shape, deviation, unit)

    def on_sum(self, attempt: int, round_index: int, shape: tuple[int, ...], deviation: float, unit: float) -> Tensor:
        """The (blocks, D) noise on the sum, multiples of unit, which the next round may overwrite."""
        raise NotImplementedError

    def of_clients(
        self, attempt: int, round_index: int, clients: Sequence[int], dimension: int, deviation: float, unit: float
    ) -> Tensor:
        """(1, dimension): the sum of what these clients add to their contributions.

        Each client's is a multiple of unit from a stream of its own: an upload by itself is a rounded noisy
        contribution, and sums do not depend on which process drew which client's.
        """
        raise NotImplementedError


class HostNoise(RoundNoise):
    """By numpy, on the host: on one thread, but for a sum of several pieces."""

    def __init__(self, streams: Streams, device: torch.device) -> None:
        super().__init__(streams, device)
        self._memory: Floats | None = None
        self._begun: Future[Tensor] | None = None

    def begin(
        self, attempt: int, round_index: int, shape: tuple[int, int], deviation: float, unit: float
    ) -> Callable[[], Tensor]:
        draw = super().begin(attempt, round_index, shape, deviation, unit)
        if deviation == 0 or shape[0] * shape[1] <= PIECE:
            return draw
        if self._begun is not None:
            wait([self._begun])  # a round that was broken off left it drawing into the same memory
        thread = ThreadPoolExecutor(1)
        self._begun = thread.submit(draw)
        thread.shutdown(wait=False)
        return self._begun.result

    def on_sum(self, attempt: int, round_index: int, shape: tuple[int, ...], deviation: float, unit: float) -> Tensor:
        if deviation == 0:
            return nothing(shape, self.device)
        if self._memory is None or self._memory.shape != shape:
            self._memory = np.empty(shape)
        flat = self._memory.reshape(-1)

        def draw(place: int) -> None:
            piece = flat[place * PIECE : (place + 1) * PIECE]
            rng = self.streams.generator("noise", attempt, round_index, place)
            grid_noise(rng, piece.shape, deviation, unit, HOST, piece)

        pieces = -(-flat.size // PIECE)
        if pieces == 1:
            draw(0)  # starting a thread takes longer
        else:
            with ThreadPoolExecutor(os.cpu_count()) as cores:
                list(cores.map(draw, range(pieces)))
        return torch.from_numpy(self._memory).to(self.device)

    def of_clients(
        self, attempt: int, round_index: int, clients: Sequence[int], dimension: int, deviation: float, unit: float
    ) -> Tensor:
        total = torch.zeros(1, dimension, dtype=torch.float64, device=self.device)
        for client in clients:
            rng = self.streams.generator("client-noise", attempt, round_index, client)
            total += grid_noise(rng, (1, dimension), deviation, unit, self.device)
        return total


def grid_noise(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    deviation: float,
    unit: float,
    device: torch.device,
    memory: Floats | None = None,
) -> Tensor:
    """Multiples of unit: unit round(N(0, (deviation / unit)^2)).

    memory: an array of this shape, to be overwritten: fresh megabytes cost as much as drawing the numbers.
    """
    if deviation == 0:
        return nothing(shape, device)
    noise = np.empty(shape) if memory is None else memory
    flat = noise.reshape(-1)
    for first in range(0, len(flat), BLOCK):
        block = flat[first : first + BLOCK]
        rng.standard_normal(out=block)
        block *= deviation / unit
        np.rint(block, out=block)
        block *= unit
    return torch.from_numpy(noise).to(device)


def nothing(shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Zeros, which take no memory."""
    return torch.zeros((), dtype=torch.float64, device=device).expand(shape)
