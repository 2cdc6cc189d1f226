"""One of several pairs, by a public coin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .pair import Pair


@dataclass(frozen=True, slots=True)
class MixturePair(Pair):
    """A public coin, with the same law under P and Q, says which of several pairs it is.

    parts: (probability, pair); each probability stands for one within a relative 2^-40 of it.
    """

    parts: tuple[tuple[float, Pair], ...]

    def moved(self, factor: float) -> Self:
        """In each part's parameters."""
        return replace(self, parts=tuple((weight, part.moved(factor)) for weight, part in self.parts))

    def has_profile(self) -> bool:
        """Where every part has one."""
        return all(part.has_profile() for _, part in self.parts)

    def profile(self, epsilon: arb) -> arb:
        """The parts' profiles, weighted."""
        return sum((arb(weight, weight * 2.0**-40) * part.profile(epsilon) for weight, part in self.parts), arb(0))
