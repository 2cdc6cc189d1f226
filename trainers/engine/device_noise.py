"""A round's noise, drawn on the training device: the law of noise.py's, from the same key and counters.

Its generator is that of streams.py, in torch: Philox4x64-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers:
as easy as 1, 2, 3", section 3.3 and Table 2). Block i is a function of the key and the counter, with no state that is
handed on: every process draws the whole noise, the same to the bit for any number of them. It is statistical, not
cryptographic. Words are unsigned 64-bit numbers in the bits of int64, whose products wrap around. Another kind of
device may round a logarithm or a cosine otherwise, which the grid mostly hides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from .device import on_device
from .noise import RoundNoise, nothing
from .streams import Purpose

ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
LOW = 2**32 - 1


def words(key: Sequence[int], counter: Sequence[Tensor | int], device: torch.device) -> tuple[Tensor, ...]:
    """Four words for each counter, in its shape. counter: four numbers or int64 tensors that broadcast; key: two.

    The two products of a round are one of twice the size: on a GPU the calls cost more than the numbers.
    """
    x = [
        part if isinstance(part, Tensor) else torch.full((), int(np.uint64(part).view(np.int64)), device=device)
        for part in counter
    ]
    shape = np.broadcast_shapes(*(tuple(part.shape) for part in x))
    x = [part.expand(shape) for part in x]
    even, odd = torch.stack(x[::2]), torch.stack(x[1::2])
    ones = (1,) * (even.dim() - 1)
    factors = on_device(np.array(MULTIPLIERS, dtype=np.uint64).view(np.int64), device).view(2, *ones)
    turns = np.arange(ROUNDS, dtype=np.uint64).reshape(-1, 1)
    keys = np.array([int(part) for part in key], dtype=np.uint64) + turns * np.array(WEYL, dtype=np.uint64)
    for own in on_device(keys.view(np.int64), device):
        high, low = _product(even, factors)
        even, odd = high.flip(0) ^ odd ^ own.view(2, *ones), low.flip(0)
    return even[0], odd[0], even[1], odd[1]


def normals(found: tuple[Tensor, ...]) -> Tensor:
    """(..., 4) standard normal numbers in double precision from four words each, by Box and Muller (1958).

    The radius comes from 53 bits in (0, 1], so no number is further out than 8.6.
    """
    pairs = []
    for first, second in (found[:2], found[2:]):
        radius = ((_high_bits(first) + 1) * 2.0**-53).log_().mul_(-2).sqrt_()
        angle = _high_bits(second).mul_(2.0**-53 * 2 * math.pi)
        pairs += [radius * angle.cos(), radius * angle.sin()]
    return torch.stack(pairs, dim=-1)


def _high_bits(word: Tensor) -> Tensor:
    """The upper 53 bits, as doubles from 0 to 2^53 - 1."""
    return ((word >> 11) & (2**53 - 1)).to(torch.float64)


def _product(x: Tensor, by: Tensor) -> tuple[Tensor, Tensor]:
    """The high and the low word of the 128-bit products, by halves: no sum of one product and one half overflows."""
    x_0, x_1, by_0, by_1 = x & LOW, _upper(x), by & LOW, _upper(by)
    middle = x_0 * by_1 + _upper(x_0 * by_0)
    high = x_1 * by_1 + _upper(middle) + _upper(x_1 * by_0 + (middle & LOW))
    return high, x * by


def _upper(word: Tensor) -> Tensor:
    """The upper 32 bits, as a number from 0 on."""
    return (word >> 32) & LOW


PIECE = 2**22
"""Numbers that are drawn at once; their words take a hundred bytes each while they are."""


class DeviceNoise(RoundNoise):
    """On any device, in pieces."""

    def on_sum(self, attempt: int, round_index: int, shape: tuple[int, ...], deviation: float, unit: float) -> Tensor:
        if deviation == 0:
            return nothing(shape, self.device)
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
