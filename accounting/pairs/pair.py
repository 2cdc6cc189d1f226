"""What every pair of distributions tells of itself; accountants ask no more than this, and name no kind of pair."""

from __future__ import annotations

import math
from typing import Self

from flint import arb

from ...mechanisms.arrays import Floats
from ..losses.atoms.transform import Law


class Pair:
    """A frozen description of (P, Q). Subclasses are frozen dataclasses, and override what they know.

    Methods that return balls are called under a working precision of the caller's.
    """

    __slots__ = ()

    def moved(self, factor: float) -> Self:
        """The pair with its parameters moved by this factor: one that dominates it (above 1), or is dominated.

        A larger shift, rate or epsilon, a smaller scale or flip, give a pair that dominates (docs/theory/lattices.md,
        "Parameters"). Parameters that are taken as the doubles that they are stay.
        """
        return self

    def mirrored(self) -> Pair:
        """(Q, P): itself, for one that serves both orders of the neighbours."""
        return self

    def is_envelope(self) -> bool:
        """Whether this stands for many pairs, each of which it dominates: what it gives is an upper end only."""
        return False

    def words(self) -> str:
        """P against Q, for a witness."""
        return repr(self)

    def has_profile(self) -> bool:
        """Whether `profile` is known: where it is given."""
        return type(self).profile is not Pair.profile

    def profile(self, epsilon: arb) -> arb:
        """A ball that holds delta(epsilon) of one round, at any real epsilon."""
        raise TypeError(f"no formula for {self}")

    def infinite_mass(self) -> arb:
        """A ball that holds P(L = inf)."""
        return arb(0)

    def given_finite(self) -> Pair | None:
        """A pair that dominates this one in both orders given that the loss is finite, for one whose loss may be
        infinite in either order alike; the pair itself where it is finite; None where no such pair is known."""
        return self if self.infinite_mass().is_zero() else None

    def two_valued(self) -> tuple[arb, arb] | None:
        """(e^-c, P(L finite)) where a finite loss is c or -c; None where there are other losses."""
        return None

    def largest_loss(self) -> float:
        """About the largest log(dP/dQ), the Renyi divergence of order infinity; inf where the loss is unbounded."""
        return math.inf

    def supremum(self) -> arb | None:
        """A ball that holds the essential supremum of log(dP/dQ) under P; None where it is infinite, or not known."""
        return None

    def stated_orders(self) -> tuple[float, ...]:
        """Renyi orders at which something is stated: between them, and beyond the last one, bounds are worse."""
        return ()

    def has_divergence(self) -> bool:
        """Whether `divergence` is known: where it is given."""
        return type(self).divergence is not Pair.divergence

    def divergence(self, alpha: float) -> float:
        """An upper bound on D_alpha(P||Q), which is D_alpha(Q||P), for finite alpha > 1; given that the loss is finite
        where it may be infinite."""
        raise TypeError(f"no divergence for {self}")

    def moment(self, alpha: arb) -> arb | None:
        """E_Q[(dP/dQ)^alpha] for alpha > 1, or a ball at most that; None where nothing is known."""
        return None

    def sampled_moment(self, rate: arb, power: arb) -> arb | None:
        """E_Q[(1 - rate + rate dP/dQ)^power], or a ball at most that; None where nothing is known."""
        return None

    def ratios(self) -> tuple[Floats, Floats] | None:
        """log(Q-masses) and log(dP/dQ) on them, to nearest, at least where it is not 0; None where it has more."""
        return None

    def law(self) -> Law | None:
        """The law of log(dP/dQ) under P, where its transform has a formula."""
        return None

    def doubled(self) -> Self | None:
        """The pair of a sum that moves twice as far; None where this is no additive noise."""
        return None


Composition = tuple[tuple[Pair, int], ...]
"""Distinct single-step pairs with the number of rounds that each is used: a product pair."""
