"""The worst pair of an (epsilon, delta)-DP mechanism of which nothing else is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from .categories import CategoriesPair
from .moments import from_terms
from .pair import largest_loss
from .tails import positive


@dataclass(frozen=True, slots=True)
class ApproximateDpPair(CategoriesPair):
    """The worst (epsilon, delta)-DP pair.

    P and Q put mass delta where the other has none, and are randomized response with odds e^epsilon on the
    rest (Kairouz, Oh, Viswanath 2015, Theorem 3.1). delta may be 0.
    """

    epsilon: float
    delta: float

    def moved(self, factor: float) -> Self:
        """In its epsilon; a stated delta is taken as the double that it is."""
        return replace(self, epsilon=self.epsilon * factor)

    def profile(self, epsilon: arb) -> arb:
        """delta, and randomized response on the rest."""
        odds, claimed = epsilon.exp(), arb(self.epsilon).exp()
        finite = (positive(claimed - odds) + positive(1 - odds * claimed)) / (1 + claimed)
        return arb(self.delta) + (1 - arb(self.delta)) * finite

    def failure(self) -> tuple[arb, Self]:
        """delta; else randomized response."""
        return arb(self.delta), replace(self, delta=0.0)

    def supremum(self) -> arb | None:
        """epsilon, unless it may fail."""
        return arb(self.epsilon) if self.delta == 0 else None

    def _divergence(self, alpha: float) -> float:
        """Of the rest, given that it does not fail."""
        high = -math.log1p(math.exp(-self.epsilon))
        terms = [high + (alpha - 1) * self.epsilon, high - alpha * self.epsilon]
        return from_terms(terms, alpha, largest_loss(self))

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """Infinite where it may fail and everybody takes part; else of the rest."""
        if rate is None and self.delta > 0:
            return arb.pos_inf()
        return super(ApproximateDpPair, self)._moment(power, rate)

    def likely(self) -> tuple[arb, arb, int]:
        """Of the rest, given that it does not fail."""
        return 1 / (1 + (-arb(self.epsilon)).exp()), 1 / (1 + arb(self.epsilon).exp()), 0

    def doubles(self) -> tuple[list[float], float, float]:
        """Of the rest, and delta."""
        rest = (1 - self.delta) / (1 + math.exp(-self.epsilon))
        return [rest, rest * math.exp(-self.epsilon), 0.0], self.epsilon, self.delta
