"""Gaussian noise on the integer grid.

The sum on the grid is an integer vector, so adding rounded Gaussian noise is rounding the noisy sum: a function of
the Gaussian mechanism's output, which costs no privacy and leaves no low-order bits to attack
(Mironov 2012 attacks those of double-precision noise). The noise itself comes from a statistical generator in
double precision: its tails end where the generator's do.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from ...mechanisms.arrays import Floats
from .streams import Streams

BLOCK = 2**14
"""Numbers that stay in a core's cache while they are drawn, scaled and rounded."""


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
