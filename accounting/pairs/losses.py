"""A pair of which the law of its privacy loss is stated, loss by loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from ...mechanisms.arrays import Floats
from .moments import from_terms
from .pair import Pair
from .tails import positive

_MOST_FOR_BALLS = 2048
"""Losses up to which a sum in balls is quicker than a transform."""

_SLACK = 2.0**-39
"""Relative width given to masses: what is stated adds up to 1 within half of that, or its rest is put at infinity."""


@dataclass(frozen=True, slots=True)
class LossesPair(Pair):
    """P has `masses` at these losses log(dP/dQ), and Q each times e^-loss; infinite: P's mass where Q has none; only_q:
    Q's mass where P has none. A pair in this order only: `mirrored` is the other one."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0
    only_q: float = 0.0

    def mirrored(self) -> LossesPair:
        """(Q, P)."""
        p, losses = np.array(self.masses), np.array(self.losses)
        other = (p * np.exp(-losses))[::-1]
        return LossesPair(tuple((-losses[::-1]).tolist()), tuple(other.tolist()), self.only_q, self.infinite)

    def table(self) -> tuple[Floats, Floats, float]:
        """Losses, P's masses, and a relative error of these and of Q's."""
        return np.array(self.losses), np.array(self.masses), _SLACK

    def words(self) -> str:
        """How much is stated."""
        return f"a stated distribution of {len(self.losses)} losses"

    def has_profile(self) -> bool:
        """Where there are few losses."""
        return len(self.losses) <= _MOST_FOR_BALLS

    def profile(self, epsilon: arb) -> arb:
        """E_P[(1 - e^{eps-L})_+], loss by loss."""
        terms = (
            arb(mass) * positive(1 - (epsilon - arb(loss)).exp())
            for loss, mass in zip(self.losses, self.masses, strict=True)
        )
        return (sum(terms, arb(0)) + arb(self.infinite)) * arb(1, _SLACK)

    def infinite_mass(self) -> arb:
        """As stated."""
        return arb(self.infinite)

    def given_finite(self) -> LossesPair | None:
        """Itself, where both orders' losses are finite; nothing else is needed of it."""
        return self if self.infinite == 0.0 and self.only_q == 0.0 else None

    def largest_loss(self) -> float:
        """The last one."""
        return math.inf if self.infinite > 0.0 else max(0.0, *self.losses[-1:])

    def supremum(self) -> arb | None:
        """The last one."""
        return None if self.infinite > 0.0 else arb(self.largest_loss())

    def has_divergence(self) -> bool:
        """Of losses that are finite in both orders."""
        return self.given_finite() is not None

    def divergence(self, alpha: float) -> float:
        """log(sum p e^{(alpha-1) loss}) / (alpha - 1) (van Erven, Harremoes 2014, arXiv 1206.2459, equation 1):
        that of a pair that dominates is no smaller (the same, Theorem 9, data processing)."""
        losses, masses, slack = self.table()
        terms = np.log(masses) + slack + (alpha - 1) * losses
        return from_terms(terms.tolist(), alpha, max(self.losses[-1], -self.losses[0], 0.0))


def lighter(pair: LossesPair, factor: float) -> LossesPair:
    """With all masses times the factor, at most 1: what the pair dominates, as a law of its loss."""
    return replace(pair, masses=tuple(factor * mass for mass in pair.masses), infinite=factor * pair.infinite)
