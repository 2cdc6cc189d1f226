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

ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
LOW, WHOLE = 2**32 - 1, 2**64


def words(key: Sequence[int], counter: Sequence[Tensor | int], device: torch.device) -> tuple[Tensor, ...]:
    """Four words for each counter, in its shape. counter: four numbers or int64 tensors that broadcast; key: two."""
    keys = [int(part) for part in key]
    x = [part if isinstance(part, Tensor) else torch.tensor(_signed(part), device=device) for part in counter]
    shape = np.broadcast_shapes(*(tuple(part.shape) for part in x))
    x = [part.expand(shape) for part in x]
    for _ in range(ROUNDS):
        high_0, low_0 = _product(x[0], MULTIPLIERS[0])
        high_1, low_1 = _product(x[2], MULTIPLIERS[1])
        x = [high_1 ^ x[1] ^ _signed(keys[0]), low_1, high_0 ^ x[3] ^ _signed(keys[1]), low_0]
        keys = [(own + step) % WHOLE for own, step in zip(keys, WEYL, strict=True)]
    return tuple(x)


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


def _product(x: Tensor, by: int) -> tuple[Tensor, Tensor]:
    """The high and the low word of the 128-bit product."""
    x_0, x_1, by_0, by_1 = x & LOW, (x >> 32) & LOW, by & LOW, by >> 32
    low, cross_0, cross_1 = x_0 * by_0, x_0 * by_1, x_1 * by_0
    carried = ((low >> 32) & LOW) + (cross_0 & LOW) + (cross_1 & LOW)
    high = x_1 * by_1 + ((cross_0 >> 32) & LOW) + ((cross_1 >> 32) & LOW) + ((carried >> 32) & LOW)
    return high, x * _signed(by)


def _signed(word: int) -> int:
    """The int64 with these bits."""
    return word - WHOLE if word >= WHOLE // 2 else word
