"""Where random bits come from: the operating system, unless a test says otherwise by name."""

from __future__ import annotations

import hashlib
import random
import secrets
from typing import Protocol


class BitSource(Protocol):
    """Uniform random bits."""

    def below(self, bound: int) -> int:
        """A uniformly random whole number from 0 to bound - 1, bound at least 1."""


class SecureSource:
    """The operating system's cryptographically secure generator: the default everywhere."""

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)


class SeededTestSource:
    """Reproducible bits for tests and simulations. Noise made from them protects nobody: the seed reveals it."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)

    def below(self, bound: int) -> int:
        return self._generator.randrange(bound)


class KeyedSource:
    """Reproducible bits that nobody tells from the operating system's without the key: SHAKE-256 of key and counter.

    key: at least 16 bytes from the operating system, kept secret, where the bits are to protect anybody.
    """

    _BLOCK = 512  # bytes

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._blocks = 0
        self._bits = 0
        self._left = 0

    def below(self, bound: int) -> int:
        need = (bound - 1).bit_length()
        while True:
            value = self._take(need)
            if value < bound:
                return value

    def _take(self, need: int) -> int:
        while self._left < need:
            block = hashlib.shake_256(self._key + self._blocks.to_bytes(8, "big")).digest(self._BLOCK)
            self._bits |= int.from_bytes(block, "little") << self._left
            self._blocks += 1
            self._left += 8 * self._BLOCK
        value = self._bits & ((1 << need) - 1)
        self._bits >>= need
        self._left -= need
        return value
