"""The exponential mechanism: losses within a range of length epsilon (docs/theory/selection.md).

A mechanism has bounded range epsilon where for all neighbours the loss stays in [t - epsilon, t], for some t between 0
and epsilon (Durfee, Rogers 2019, arXiv 1905.04273, Definition 3.1; Dong, Durfee, Rogers 2020, arXiv 1909.13830).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .moments import SLACK
from .pair import Pair


@dataclass(frozen=True, slots=True)
class BoundedRangePair(Pair):
    """An envelope: P has density proportional to e^x on [0, epsilon], Q to e^-x; the loss is 2 x - epsilon.

    It dominates all pairs of this range, each at its own t, and no single one is it. What is known of the divergence is
    that of the worst t, which is smaller than the envelope's own: brackets of it are upper ends.
    """

    epsilon: float

    def moved(self, factor: float) -> Self:
        """In its epsilon."""
        return replace(self, epsilon=self.epsilon * factor)

    def is_envelope(self) -> bool:
        """Of all pairs of the range."""
        return True

    def words(self) -> str:
        """P against Q."""
        return f"any two laws whose loss stays within a range of {self.epsilon:.6g}"

    def has_profile(self) -> bool:
        """A formula."""
        return True

    def profile(self, epsilon: arb) -> arb:
        """The largest over t of (1 - e^(t-E)) (1 - e^(eps-t)) / (1 - e^-E), at t = (eps + E)/2:
        (1 - e^((eps-E)/2))^2 / (1 - e^-E) for |eps| <= E; 0 above, 1 - e^eps below."""
        most = arb(self.epsilon)
        if epsilon >= most:
            return arb(0)
        if epsilon <= -most:
            return 1 - epsilon.exp()
        root = (1 - ((epsilon - most) / 2).exp()) ** 2 / (1 - (-most).exp())
        return root if abs(epsilon) < most else root.union(arb(0).max(1 - epsilon.exp()))

    def largest_loss(self) -> float:
        """The range."""
        return self.epsilon

    def supremum(self) -> arb | None:
        """The range."""
        return arb(self.epsilon)

    def has_divergence(self) -> bool:
        """A bound."""
        return True

    def divergence(self, alpha: float) -> float:
        """alpha epsilon^2 / 8 for every pair of the range (Cesar, Rogers 2021, arXiv 2004.07223, Lemma 3.2)."""
        return min(alpha * self.epsilon * self.epsilon / 8 * (1 + SLACK), self.epsilon * (1 + SLACK))
