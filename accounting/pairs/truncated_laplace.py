"""Truncated Laplace noise that is moved (docs/theory/public_ranges.md, "Truncated Laplace noise")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from ...mechanisms import InputError
from ..rounding import widened_up
from .approximate_dp import ApproximateDpPair
from .cut import CutPair

_SLACK = 2.0**-40


@dataclass(frozen=True, slots=True)
class TruncatedLaplacePair(CutPair):
    """P = shift + N, Q = N, where N is Laplace noise of scale 1 given that |N| <= bound: symmetric; shift < 2 bound."""

    shift: float
    bound: float

    def __post_init__(self) -> None:
        if self.shift >= 2 * self.bound:
            raise InputError(
                "bound", self.bound, f"above {self.shift / 2:g} scales: else neighbours' outputs are apart"
            )

    def moved(self, factor: float) -> Self:
        """In its shift, and in its bound the other way: both dominate."""
        return replace(self, shift=self.shift * factor, bound=self.bound / factor)

    def words(self) -> str:
        return f"Laplace({self.shift:.6g}, 1) against Laplace(0, 1), each within {self.bound:.6g} of its centre"

    def ends(self) -> tuple[arb, arb]:
        """The shift, where the centres lie in both ranges."""
        s = arb(self.shift)
        most = s if self.shift <= self.bound else 2 * arb(self.bound) - s
        return -most, most

    def above(self, loss: arb) -> tuple[arb, arb]:
        """The loss is 2 x - shift between the centres: it is x > (loss + shift)/2, and what only P has."""
        s = arb(self.shift)
        x = (loss + s) / 2
        return self._tail(x - s), self._tail(x)

    def failure(self) -> tuple[arb, ApproximateDpPair]:
        """Beyond the bound about 0; else randomized response with the largest finite loss: given that it is finite, any
        mechanism with that delta shows no more (Kairouz, Oh, Viswanath 2015, arXiv 1311.0776, Theorem 3.1)."""
        rest = ApproximateDpPair(widened_up(float(self.ends()[1].mid()), _SLACK), 0.0)
        return self._tail(arb(self.bound) - arb(self.shift)), rest

    def _divergence(self, alpha: float) -> float | None:
        """Given that the loss is finite."""
        return self.failure()[1].renyi().divergence(alpha)

    def _tail(self, x: arb) -> arb:
        """P(N > x) for |x| <= bound; the sign of a ball about 0 does not matter."""
        most = arb(self.bound)
        near = 1 - (-most).exp()
        if x >= 0:
            return ((-x).exp() - (-most).exp()) / (2 * near)
        if x <= 0:
            return arb(0.5) + (1 - x.exp()) / (2 * near)
        return self._tail(x.max(arb(0))).union(self._tail(x.min(arb(0))))
