"""Sums of exponentials between cuts, and their integrals in balls: what comparisons of Laplace variables come to."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from flint import arb
from hockey_stick import ball

Terms = dict[Fraction, arb]
"""By rate r, the coefficient of e^(r x)."""

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Piecewise:
    """cuts: sorted; pieces: one more than cuts, from left to right."""

    cuts: tuple[Fraction, ...]
    pieces: tuple[Terms, ...]

    def piece(self, at: Fraction) -> Terms:
        """That of the points just left of `at`."""
        return self.pieces[bisect_left(self.cuts, at)]

    def __mul__(self, other: Piecewise) -> Piecewise:
        cuts = tuple(sorted({*self.cuts, *other.cuts}))
        inside = [*cuts, cuts[-1] + 1]
        return Piecewise(cuts, tuple(_times(self.piece(at), other.piece(at)) for at in inside))

    def integral(self) -> arb:
        """Over the line; the outer pieces have to vanish there."""
        total = arb(0)
        for at, terms in enumerate(self.pieces):
            for rate, coefficient in terms.items():
                left = self.cuts[at - 1] if at else None
                right = self.cuts[at] if at < len(self.cuts) else None
                total += coefficient * _area(rate, left, right)
        return total


def _times(one: Terms, other: Terms) -> Terms:
    found: Terms = {}
    for rate, coefficient in one.items():
        for more, factor in other.items():
            found[rate + more] = found.get(rate + more, arb(0)) + coefficient * factor
    return found


def _area(rate: Fraction, left: Fraction | None, right: Fraction | None) -> arb:
    assert left is not None or rate > 0, "an integral that is infinite"
    assert right is not None or rate < 0, "an integral that is infinite"
    if rate == 0:
        assert left is not None
        assert right is not None
        return ball(right - left)
    ends = [arb(0) if at is None else ball(rate * at).exp() / ball(rate) for at in (left, right)]
    return ends[1] - ends[0]


def density(centre: Fraction, scale: Fraction) -> Piecewise:
    """Of Laplace noise about a centre."""
    top = 1 / (2 * ball(scale))
    rate = 1 / scale
    return Piecewise((centre,), ({rate: top * ball(-rate * centre).exp()}, {-rate: top * ball(rate * centre).exp()}))


def below(centre: Fraction, scale: Fraction) -> Piecewise:
    """By x, the probability that it is below x."""
    rate = 1 / scale
    rising, falling = ball(-rate * centre).exp() / 2, ball(rate * centre).exp() / 2
    return Piecewise((centre,), ({rate: rising}, {Fraction(0): arb(1), -rate: -falling}))


def above(centre: Fraction, scale: Fraction) -> Piecewise:
    """By x, the probability that it is above x."""
    rate = 1 / scale
    rising, falling = ball(-rate * centre).exp() / 2, ball(rate * centre).exp() / 2
    return Piecewise((centre,), ({Fraction(0): arb(1), rate: -rising}, {-rate: falling}))
