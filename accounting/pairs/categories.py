"""Pairs that report one category out of several: only two of them tell P and Q apart."""

from __future__ import annotations

from abc import abstractmethod

from flint import arb

from .pair import Pair


class CategoriesPair(Pair):
    """P gives the first category `high`, the second `low`, Q the reverse, and both `low` to each of `others`."""

    __slots__ = ()

    @abstractmethod
    def likely(self) -> tuple[arb, arb, int]:
        """high, low, others, given that no round fails."""

    @abstractmethod
    def doubles(self) -> tuple[list[float], float, float]:
        """P's masses of the two categories and of the others together, to nearest; the log of their odds; failure."""

    def moment(self, alpha: arb) -> arb | None:
        """A sum over the categories."""
        high, low, others = self.likely()
        return high**alpha * low ** (1 - alpha) + low**alpha * high ** (1 - alpha) + others * low

    def sampled_moment(self, rate: arb, power: arb) -> arb | None:
        """A sum over the categories."""
        high, low, others = self.likely()
        rarer, commoner = 1 - rate + rate * high / low, 1 - rate + rate * low / high
        return low * rarer**power + high * commoner**power + others * low
