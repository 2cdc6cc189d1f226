"""Noisy maxima with Laplace noise: an envelope of all neighbours' pairs.

docs/theory/selection.md, "Exponential and Laplace noise".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .envelope import EnvelopePair


@dataclass(frozen=True, slots=True)
class LaplaceMaximumPair(EnvelopePair):
    """Noise of density 1/3 on [-1/2, 1/2] and Laplace tails, moved by epsilon: any event of the choice changes no
    faster than its distribution function, with min(G, 1 - G, 1/3)."""

    epsilon: float

    def moved(self, factor: float) -> Self:
        return replace(self, epsilon=self.epsilon * factor)

    def words(self) -> str:
        return f"any two laws of a choice whose scores, with Laplace noise, come {self.epsilon:.6g} scales closer"

    def supremum(self) -> arb:
        """Its epsilon: in the tails."""
        return arb(self.epsilon)

    def profile(self, epsilon: arb) -> arb:
        """At eps >= 0 left/3 where left = epsilon - eps is at most 1, else 1 - (2/3) e^(-(left - 1)/2): where the
        odds are e^eps, the one density is in its tail and the other flat, or both are in tails. Below 0 by symmetry."""
        forth = _beyond((arb(self.epsilon) - abs(epsilon)).max(arb(0)))
        if epsilon >= 0:
            return forth
        back = 1 - epsilon.exp() * (1 - forth)
        return back if epsilon < 0 else forth.union(back)


def _beyond(left: arb) -> arb:
    """The same, of what is left of the loss."""
    flat, tails = left / 3, 1 - (arb(2) / 3) * ((1 - left) / 2).exp()
    return flat if left <= 1 else tails if left >= 1 else flat.union(tails)
