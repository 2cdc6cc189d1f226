"""What every pair of distributions tells of itself; accountants ask no more than this, and name no kind of pair."""

from __future__ import annotations

import math
from typing import ClassVar, Self

from flint import arb, ctx

from ..losses.atoms import laws
from ..rounding import nearest_above
from .order import GaussianRound, Sampling

_BITS = 128


class Pair:
    """A frozen description of (P, Q). Subclasses are frozen dataclasses, and override what they know.

    Methods that return balls are called under a working precision of the caller's.
    """

    __slots__ = ()

    envelope: ClassVar[bool] = False
    """Whether this stands for many pairs, each of which it dominates: what it gives is an upper end only."""

    def moved(self, factor: float) -> Self:
        """The pair with its parameters moved by this factor: one that dominates it (above 1), or is dominated.

        A larger shift, rate or epsilon, a smaller scale or flip, give a pair that dominates (docs/theory/lattices.md,
        "Parameters"). Parameters that are taken as the doubles that they are stay.
        """
        return self

    def mirrored(self) -> Pair:
        """(Q, P): itself, for one that serves both orders of the neighbours."""
        return self

    def gaussian(self) -> GaussianRound | None:
        """The round, where it is Gaussian noise behind at most one coin; None for anything else."""
        return None

    def revealed(self) -> Pair | None:
        """A pair that dominates this one, its hidden coin or choice of rounds shown (docs/theory/dominating_pairs.md,
        section "Revealing the coin"); None where nothing is hidden, or that pair is not known."""
        return None

    def slope(self, order: float) -> tuple[float, float]:
        """What D_alpha / alpha tends to as alpha grows, at least; and what it is at most for every alpha >= order."""
        return 0.0, math.inf

    def words(self) -> str:
        """P against Q, for a witness."""
        return repr(self)

    def profile(self, epsilon: arb) -> arb | None:
        """A ball that holds delta(epsilon) of one round, at any real epsilon; None, at every one, without a formula."""
        return None

    def infinite_mass(self) -> arb:
        """A ball that holds P(L = inf), the larger one of the two orders."""
        return arb(0)

    def given_finite(self) -> Pair | None:
        """A pair that dominates this one in both orders given that the loss is finite, for one whose loss may be
        infinite in either order alike; the pair itself where it is finite; None where no such pair is known."""
        return self if self.infinite_mass().is_zero() else None

    def two_valued(self) -> tuple[arb, arb] | None:
        """(e^-c, P(L finite)) where a finite loss is c or -c; None where there are other losses."""
        return None

    def largest_loss(self) -> float:
        """At least the largest log(dP/dQ), the Renyi divergence of order infinity; inf where that is not known."""
        with ctx.workprec(_BITS):
            most = self.supremum()
            return math.inf if most is None else max(0.0, nearest_above(most))

    def supremum(self) -> arb | None:
        """A ball that holds the essential supremum of log(dP/dQ) under P; None where it is infinite, or not known.

        A pair that neighbours attain must know it: from below (currencies/pure_dp.py) None counts as infinite.
        """
        return None

    def stated_orders(self) -> tuple[float, ...]:
        """Renyi orders at which something is stated: between them, and beyond the last one, bounds are worse."""
        return ()

    def divergence(self, alpha: float) -> float | None:
        """An upper bound on D_alpha(P||Q), which is D_alpha(Q||P), for finite alpha > 1; given that the loss is finite
        where it may be infinite. None where it is not known, at any order."""
        return None

    def behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """At least D_alpha of this pair behind a hidden coin, 0 < rate < 1, for finite alpha > 1; None where it is not
        known, at any order, or the pair cannot be sampled in this way."""
        return None

    def moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """E_Q[(dP/dQ)^power] for power > 1, or a ball at most that; with a rate, E_Q[(1 - rate + rate dP/dQ)^power] for
        any power. None where nothing is known."""
        return None

    def losses(self) -> laws.Losses | None:
        """How the law of log(dP/dQ) under P is bounded from above and from below; None where it is not."""
        return None

    def doubled(self) -> Self | None:
        """The pair of a sum that moves twice as far; None where this is no additive noise."""
        return None


Composition = tuple[tuple[Pair, int], ...]
"""Distinct single-step pairs with the number of rounds that each is used: a product pair."""
