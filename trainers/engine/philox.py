"""Philox4x64-10, the generator of streams.py, in torch: the same words on every device, as many at once as it likes.

A counter-based generator (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3", section 3.3
and Table 2): block i is a function of the key and the counter, with no state that is handed on. It is statistical, not
cryptographic. Words are unsigned 64-bit numbers in the bits of int64, whose products wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from .device import on_device

ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
LOW, WHOLE = 2**32 - 1, 2**64


def words(key: Sequence[int], counter: Sequence[Tensor | int], device: torch.device) -> tuple[Tensor, ...]:
    """Four words for each counter, in its shape. counter: four numbers or int64 tensors that broadcast; key: two.

    The two products of a round are one of twice the size: on a GPU the calls cost more than the numbers.
    """
    x = [
        part if isinstance(part, Tensor) else torch.full((), _signed(part), dtype=torch.int64, device=device)
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


def _signed(word: int) -> int:
    """The int64 with these bits."""
    return word - WHOLE if word >= WHOLE // 2 else word
