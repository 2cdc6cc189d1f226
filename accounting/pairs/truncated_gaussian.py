"""Two values' Gaussian noise, each within a public range (docs/theory/public_ranges.md, "Truncated Gaussian noise")."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from .cut import CutPair
from .tails import normal_tail


@dataclass(frozen=True, slots=True)
class TruncatedGaussianPair(CutPair):
    """P about at + 1, Q about at: Gaussian noise of this sigma given that the output is in [0, width], all in units of
    the sensitivity. Not symmetric: for lower bounds only, in this order. Its numbers are the doubles that they are.
    """

    sigma: float
    width: float
    at: float

    def words(self) -> str:
        values = f"{self.at + 1:.6g} against {self.at:.6g}"
        return f"Gaussian noise of {self.sigma:.6g} about {values}, each given that it is in [0, {self.width:.6g}]"

    def ends(self) -> tuple[arb, arb]:
        """The loss at either end of the range."""
        return self._loss(arb(0)), self._loss(arb(self.width))

    def above(self, loss: arb) -> tuple[arb, arb]:
        """The loss grows with x."""
        x = (loss - self._offset()) * arb(self.sigma) ** 2 + arb(self.at) + arb(0.5)
        return self._tail(x, arb(self.at) + 1), self._tail(x, arb(self.at))

    def bulk(self, tail: float) -> tuple[float, float]:
        """Most of both laws is within 40 standard deviations of their values."""
        reach = 40 * self.sigma
        low, high = max(0.0, self.at - reach), min(self.width, self.at + 1 + reach)
        return float(self._loss(arb(low)).mid()), float(self._loss(arb(high)).mid())

    def _loss(self, x: arb) -> arb:
        return (x - arb(self.at) - arb(0.5)) / arb(self.sigma) ** 2 + self._offset()

    def _offset(self) -> arb:
        """The log of the normalisers' ratio."""
        return (self._mass(arb(self.at)) / self._mass(arb(self.at) + 1)).log()

    def _mass(self, at: arb) -> arb:
        """What noise about `at` has within the range."""
        return normal_tail(-at / arb(self.sigma)) - normal_tail((self.width - at) / arb(self.sigma))

    def _tail(self, x: arb, at: arb) -> arb:
        """P(output > x)."""
        end = normal_tail((self.width - at) / arb(self.sigma))
        return (normal_tail((x - at) / arb(self.sigma)) - end) / self._mass(at)
