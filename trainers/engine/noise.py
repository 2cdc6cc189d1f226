"""Gaussian noise on the integer grid.

The sum on the grid is an integer vector, so adding rounded Gaussian noise is rounding the noisy sum: a function of
the Gaussian mechanism's output, which costs no privacy and leaves no low-order bits to attack
(Mironov 2012 attacks those of double-precision noise). The noise itself comes from a statistical generator in
double precision: its tails end where the generator's do. It is drawn on the host, or on the training device
(device_noise.py); both are Philox with the same key and counters, and the numbers differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ...mechanisms.arrays import Floats
from .streams import Streams

SOURCES = ("auto", "host", "device")

BLOCK = 2**14
"""Numbers that stay in a core's cache while they are drawn, scaled and rounded."""


class RoundNoise(Protocol):
    """Draws a round's noise, the same in every process."""

    def on_sum(self, attempt: int, round_index: int, shape: tuple[int, ...], deviation: float, unit: float) -> Tensor:
        """The (blocks, D) noise on the sum, multiples of unit, which the next round may overwrite."""
        ...

    def of_clients(
        self, attempt: int, round_index: int, clients: Sequence[int], dimension: int, deviation: float, unit: float
    ) -> Tensor:
        """(1, dimension): the sum of what these clients add to their contributions."""
        ...


class HostNoise:
    """By numpy, on one thread of the host."""

    def __init__(self, streams: Streams, device: torch.device) -> None:
        self.streams, self.device = streams, device
        self._memory: Floats | None = None

    def on_sum(self, attempt: int, round_index: int, shape: tuple[int, ...], deviation: float, unit: float) -> Tensor:
        if self._memory is None or self._memory.shape != shape:
            self._memory = np.empty(shape)
        rng = self.streams.generator("noise", attempt, round_index)
        return grid_noise(rng, shape, deviation, unit, self.device, self._memory)

    def of_clients(
        self, attempt: int, round_index: int, clients: Sequence[int], dimension: int, deviation: float, unit: float
    ) -> Tensor:
        return clients_noise(self.streams, attempt, round_index, clients, dimension, deviation, unit, self.device)


def round_noise(source: str, streams: Streams, device: torch.device) -> RoundNoise:
    """source: one of SOURCES; "auto" is the device where that is no CPU, on which numpy is faster."""
    if source == "device" or (source == "auto" and device.type != "cpu"):
        from .device_noise import DeviceNoise

        return DeviceNoise(streams, device)
    return HostNoise(streams, device)


def grid_noise(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    deviation: float,
    unit: float,
    device: torch.device,
    memory: Floats | None = None,
) -> Tensor:
    """Multiples of unit: unit round(N(0, (deviation / unit)^2)). deviation 0 gives zeros, which take no memory.

    memory: an array of this shape, to be overwritten: fresh megabytes cost as much as drawing the numbers.
    """
    if deviation == 0:
        return torch.zeros((), dtype=torch.float64, device=device).expand(shape)
    noise = np.empty(shape) if memory is None else memory
    flat = noise.reshape(-1)
    for first in range(0, len(flat), BLOCK):
        block = flat[first : first + BLOCK]
        rng.standard_normal(out=block)
        block *= deviation / unit
        np.rint(block, out=block)
        block *= unit
    return torch.from_numpy(noise).to(device)


def clients_noise(
    streams: Streams,
    attempt: int,
    round_index: int,
    clients: Iterable[int],
    dimension: int,
    deviation: float,
    unit: float,
    device: torch.device,
) -> Tensor:
    """(1, dimension): the sum of the noise that each of these clients adds to its own contribution.

    Each client's noise is a multiple of unit from a stream of its own, so an upload by itself is a rounded noisy
    contribution, and sums do not depend on which process drew which client's.
    """
    total = torch.zeros(1, dimension, dtype=torch.float64, device=device)
    for client in clients:
        rng = streams.generator("client-noise", attempt, round_index, client)
        total += grid_noise(rng, (1, dimension), deviation, unit, device)
    return total
