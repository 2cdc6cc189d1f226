"""The exponential mechanism: losses within a range of length epsilon (docs/theory/selection.md).

A mechanism has bounded range epsilon where for all neighbours the loss stays in [t - epsilon, t], for some t between 0
and epsilon (Durfee, Rogers 2019, arXiv 1905.04273, Definition 3.1; Dong, Durfee, Rogers 2020, arXiv 1909.13830).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from flint import arb

from .cut import CutPair
from .moments import SLACK


@dataclass(frozen=True, slots=True)
class BoundedRangePair(CutPair):
    """An envelope: P has density proportional to e^x on [0, epsilon], Q to e^-x; the loss is 2 x - epsilon.

    It dominates all pairs of this range, each at its own t, and no single one is it. What is known of the divergence is
    that of the worst t, which is smaller than the envelope's own: brackets of it are upper ends.
    most: the largest t, where it is below epsilon: then x is clamped to where the loss is within 2 most - epsilon.
    """

    envelope: ClassVar[bool] = True

    epsilon: float
    most: float = math.inf

    def moved(self, factor: float) -> Self:
        """In its epsilon, and in the largest t."""
        return replace(self, epsilon=self.epsilon * factor, most=self.most * factor)

    def words(self) -> str:
        return f"any two laws whose loss stays within a range of {self.epsilon:.6g}"

    def ends(self) -> tuple[arb, arb]:
        """The largest t."""
        most = arb(min(self.epsilon, self.most))
        return -most, most

    def knees(self) -> tuple[arb, arb]:
        """Where the worst t would be a larger one: (eps + epsilon)/2 = most."""
        knee = arb(self.epsilon) if self.most >= self.epsilon else 2 * arb(self.most) - arb(self.epsilon)
        return -knee, knee

    def above(self, loss: arb) -> tuple[arb, arb]:
        """The largest over t of (1 - e^(t-E)) (1 - e^(eps-t)) / (1 - e^-E) is at t = (eps + E)/2, or at `most`."""
        whole, (low, high) = arb(self.epsilon), self.knees()
        x = (loss.max(low).min(high) + whole) / 2
        return (1 - (x - whole).exp()) / (1 - (-whole).exp()), ((-x).exp() - (-whole).exp()) / (1 - (-whole).exp())

    def _divergence(self, alpha: float) -> float:
        """alpha epsilon^2 / 8 for every pair of the range (Cesar, Rogers 2021, arXiv 2004.07223, Lemma 3.2)."""
        largest = min(self.epsilon, self.most)
        return min(alpha * self.epsilon * self.epsilon / 8 * (1 + SLACK), largest * (1 + SLACK))
