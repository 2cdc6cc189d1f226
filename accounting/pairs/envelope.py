"""Envelopes: pairs whose profile is a bound of many pairs' (docs/theory/public_ranges.md, "Envelopes").

Composed, such a pair is the one with that profile at some losses and chords between them: a profile is convex in
e^epsilon, so that it is below its chords.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Self

from flint import arb, ctx

from ..rounding import float_above
from .finite import FinitePair
from .pair import largest_loss

_BITS = 128
_CHORDS = 96
_STRICTLY = 1 + 2.0**-40


class EnvelopePair(FinitePair):
    """A pair that a subclass, a frozen dataclass, describes by `profile` and `supremum`; symmetric."""

    envelope: ClassVar[bool] = True

    __slots__ = ()

    def __post_init__(self) -> None:
        """What outcomes there are is found when it is asked."""

    def supremum(self) -> arb:
        """A ball that holds the largest loss."""
        raise NotImplementedError

    def bound(self, epsilon: float) -> float:
        """At least the profile, close enough to it for a chord."""
        return float_above(self.profile(arb(epsilon)))

    def failure(self) -> tuple[arb, Self]:
        """Never."""
        return arb(0), self

    def outcomes(self) -> list[tuple[arb, arb]]:
        """A loss of every chord's end, and of its negative: what the chords' slopes change by is Q's mass."""
        losses, deltas = _ends(self)
        odds = [arb(loss).exp() for loss in losses]
        slopes = [(arb(d) - c) / (b - a) for (a, b), (c, d) in zip(pairwise(odds), pairwise(deltas), strict=True)]
        found = []
        for ratio, before, after in zip(odds[1:], slopes, [*slopes[1:], arb(0)], strict=True):
            rare = after - before
            found += [(ratio * rare, rare), (rare, ratio * rare)]
        rest = 1 - sum((p for p, _ in found), arb(0))
        return [*found, (rest, rest)]


@lru_cache(maxsize=64)
def _ends(pair: EnvelopePair) -> tuple[list[float], list[float]]:
    """The chords' ends: losses from 0 to the largest, and deltas that are convex in e^loss, raised where rounding made
    them concave."""
    largest = largest_loss(pair)
    losses = [largest * k / _CHORDS for k in range(_CHORDS)] + [largest]
    deltas = [0.0]
    with ctx.workprec(_BITS):
        odds = [arb(loss).exp() for loss in losses]
        for at in reversed(range(_CHORDS)):
            least = pair.bound(losses[at])
            if len(deltas) > 1:
                slope = float(((odds[at] - odds[at + 1]) / (odds[at + 2] - odds[at + 1])).mid())
                least = max(least, (deltas[0] + slope * (deltas[1] - deltas[0])) * _STRICTLY)
            deltas.insert(0, least)
    return losses, deltas
