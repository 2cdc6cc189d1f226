"""Two values' Laplace noise, each within a public range (docs/theory/public_ranges.md, "Bounded Laplace noise")."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from .cut import CutPair


@dataclass(frozen=True, slots=True)
class BoundedLaplacePair(CutPair):
    """P about at + 1, Q about at: Laplace noise of this scale given that the output is in [0, width], all in units of
    the sensitivity. Not symmetric: for lower bounds only, in this order. Its numbers are the doubles that they are.
    """

    scale: float
    width: float
    at: float

    def words(self) -> str:
        values = f"{self.at + 1:.6g} against {self.at:.6g}"
        return f"Laplace noise of scale {self.scale:.6g} about {values}, each given that it is in [0, {self.width:.6g}]"

    def ends(self) -> tuple[arb, arb]:
        """The loss where x is at most, or at least, both values."""
        step, offset = 1 / arb(self.scale), self._offset()
        return offset - step, offset + step

    def above(self, loss: arb) -> tuple[arb, arb]:
        """The loss is 2 (x - at) - 1 scales, but for the offset, between the values."""
        x = (arb(self.scale) * (loss - self._offset()) + 1) / 2  # from at on, from 0 to 1
        return self._tail(x - 1, arb(self.at) + 1), self._tail(x, arb(self.at))

    def _offset(self) -> arb:
        """The log of the normalisers' ratio."""
        return (self._mass(arb(self.at)) / self._mass(arb(self.at) + 1)).log()

    def _mass(self, at: arb) -> arb:
        """What noise about `at` has within the range."""
        b = arb(self.scale)
        return 1 - ((-at / b).exp() + ((at - self.width) / b).exp()) / 2

    def _tail(self, x: arb, at: arb) -> arb:
        """P(output > at + x), by whether x is above 0; of a ball about 0 the two agree there."""
        b, end = arb(self.scale), ((at - self.width) / arb(self.scale)).exp() / 2
        over, under = (-x.max(arb(0)) / b).exp() / 2, 1 - (x.min(arb(0)) / b).exp() / 2
        return ((over if x >= 0 else under if x <= 0 else over.union(under)) - end) / self._mass(at)
