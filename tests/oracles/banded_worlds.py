"""Banded noise with cyclic Poisson cohorts, as it is released: C x + z, with the coins of a unit in its own rounds.

In exact rationals: the encoder C, the contributions, the coins' rate and the noise z's variance. The prefix sums that
a server shows are an invertible function of this.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import federation as fed
from hockey_stick import Ends
from sides import ONE, ZERO

Encoder = tuple[tuple[Fraction, ...], ...]
Sent = dict[int, Fraction] | None
"""By round what a client sends where it takes part; None: not there."""

TILTED: Encoder = (
    (Fraction(3, 5), ZERO, ZERO),
    (Fraction(4, 5), Fraction(4, 5), ZERO),
    (ZERO, Fraction(3, 5), ONE),
)
"""Two bands, columns of norm 1."""

ENCODERS: dict[str, tuple[Encoder, int]] = {
    "one group, plain": (((ONE, ZERO), (ZERO, ONE)), 1),
    "one group, uneven": (((ONE, ZERO), (ZERO, Fraction(1, 2))), 1),
    "two groups, one pass": (((Fraction(3, 5), ZERO), (Fraction(4, 5), ONE)), 2),
    "two groups, two passes": (TILTED, 2),
    "three groups": (TILTED, 3),
}
"""With the number of groups."""


@dataclass(frozen=True)
class Banded:
    """A unit of one group and another client of the same or another group."""

    encoder: Encoder
    groups: int
    rate: Fraction
    noise: Fraction
    relation: str
    sees: str

    def norms(self) -> tuple[float, ...]:
        """Of the columns; the encoders' are rational."""
        squares = [sum((row[t] ** 2 for row in self.encoder), ZERO) for t in range(len(self.encoder))]
        return tuple(math.sqrt(square) for square in squares)

    def rounds(self, group: int) -> list[int]:
        """Those of a group."""
        return list(range(group, len(self.encoder), self.groups))

    def _view(self, unit: Sent, other: Sent) -> fed.Law:
        """Each takes part by a coin of its own in each of its rounds."""
        there = [(name, t, sent[t]) for name, sent in (("unit", unit), ("other", other)) if sent for t in sent]
        law: fed.Law = defaultdict(lambda: defaultdict(Fraction))
        known = {"hidden": (), "visible": ("unit",), "pooled": ("other",)}[self.sees]
        for coins in itertools.product((False, True), repeat=len(there)):
            mass = math.prod((self.rate if coin else 1 - self.rate for coin in coins), start=ONE)
            x = [ZERO] * len(self.encoder)
            for coin, (_, t, value) in zip(coins, there, strict=True):
                x[t] += coin * value
            centres = tuple(sum((c * v for c, v in zip(row, x, strict=True)), ZERO) for row in self.encoder)
            seen = tuple((n, t, coin) for coin, (n, t, _) in zip(coins, there, strict=True) if n in known)
            law[seen][centres, (self.noise**2,) * len(centres)] += mass
        return law

    def _neighbours(self) -> Iterator[tuple[tuple[Sent, Sent], tuple[Sent, Sent]]]:
        for group, elsewhere in itertools.product(range(self.groups), repeat=2):
            others: list[Sent] = [None, dict.fromkeys(self.rounds(elsewhere), -ONE)]
            mine = [
                dict(zip(self.rounds(group), values, strict=True))
                for values in itertools.product((-ONE, ONE), repeat=len(self.rounds(group)))
            ]
            nothing = None if self.relation == "add-remove" else dict.fromkeys(self.rounds(group), ZERO)
            for other, one in itertools.product(others, mine):
                for changed in mine if self.relation == "replace-one" else [nothing]:
                    if changed != one:
                        yield (one, other), (changed, other)

    def most(self, epsilon: float, resolution: float, decided: fed.Decided = lambda low, high: False) -> Ends:
        """Ends of the largest divergence over all neighbours."""
        views = ((self._view(*one), self._view(*other)) for one, other in self._neighbours())
        return fed.largest(views, "gaussian", None, epsilon, resolution, decided)
