"""Outcomes in which some round has a far loss, about twice epsilon or more: their profile is next to linear.

With F these outcomes, by put-call parity

    E_F (1 - e^{eps-L})_+ = P(F) - e^eps Q(F) + E_F (e^{eps-L} - 1)_+,

the first two terms are closed forms, and the last asks the other rounds to make up for the far loss: given it, that is
at most the profile of the pair the other way round, at the far loss less epsilon (docs/theory/inversion.md, section
13).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, ctx

from ...pairs.order import Sampling
from ...pairs.tails import normal_tail
from ...rounding import PARAMETER, UNIT, float_above, widened_down
from .paths import Sampled

_BITS = 128


@dataclass(frozen=True, slots=True)
class Least:
    """Outcomes whose profile is at most exp(start - c eps), for every eps."""

    c: float
    start: float

    def delta(self, epsilon: float) -> tuple[float, float, float]:
        """(0, at least their profile at epsilon, its derivative)."""
        most = math.exp(min(0.0, self.start - self.c * epsilon)) * (1.0 + 8.0 * UNIT)
        return 0.0, most, -self.c * most


@dataclass(frozen=True, slots=True)
class FarOutcomes:
    """F: P(F) - Q(F) and Q(F), each within its error.

    loss: at most any far round's, but for outcomes whose e^{-L} has a mean of at most `close`. reverse: the profile of
    the pair the other way round, or None where the pair is symmetric.
    """

    apart: tuple[float, float]
    under_q: tuple[float, float]
    loss: float
    close: float
    reverse: Least | None

    @property
    def many(self) -> float:
        """At least the expected number of far rounds."""
        return -math.log1p(-self.probability) * (1.0 + 8.0 * UNIT)

    @property
    def share(self) -> float:
        """At least what the last term is of delta itself, where the pair is symmetric, else 0."""
        return 0.0 if self.reverse else self.many

    @property
    def probability(self) -> float:
        """At least P(F)."""
        return (self.apart[0] + self.under_q[0] + self.apart[1] + self.under_q[1]) * (1.0 + 8.0 * UNIT)

    def delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most their profile at epsilon, at least it less share times the whole's, about its derivative)."""
        grown, turned = math.expm1(epsilon), math.exp(epsilon)
        linear = self.apart[0] - grown * self.under_q[0]
        inexact = self.apart[1] + grown * self.under_q[1] + 8.0 * UNIT * (abs(self.apart[0]) + grown * self.under_q[0])
        most = linear + inexact + turned * self.close * (1.0 + 8.0 * UNIT)
        if epsilon > (0.5 if self.reverse is None else 1.0) * self.loss:
            most = math.inf
        elif self.reverse is not None:
            most += self.many * self.reverse.delta(widened_down(self.loss - epsilon, 2.0 * UNIT))[1]
        return max(0.0, linear - inexact), min(most, self.probability), -turned * self.under_q[0]


def far_outcomes(
    labels: Sequence[tuple[Sampled, int]], loss: float, close: float, reverse: Least | None
) -> FarOutcomes:
    """labels: pairs whose place and blur are the far label's, and their numbers of rounds."""
    with ctx.workprec(_BITS):
        stay, more = arb(0), arb(0)
        for pair, rounds in labels:
            shift, rate = (arb(value, value * PARAMETER) for value in (pair.shift, pair.rate))
            wide = (1 + arb(pair.blur) ** 2).sqrt()
            none, up = normal_tail(pair.place / wide), normal_tail((pair.place - shift) / wide)
            down = normal_tail((pair.place + shift) / wide) if pair.order == Sampling.REPLACE else none
            under_q = none + rate * (down - none)
            stay += rounds * (-under_q).log1p()
            more += rounds * (-rate * (up - down) / (1 - under_q)).log1p()
        balls = -stay.exp() * more.expm1(), -stay.expm1()
        apart, mass = ((float(ball.mid()), float_above(ball.rad() + abs(ball) * PARAMETER)) for ball in balls)
    return FarOutcomes(apart, mass, loss, close, reverse)
