"""Where random bits come from: the operating system, unless a test says otherwise by name."""

from __future__ import annotations

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
