"""What every pair of distributions tells of itself; accountants ask no more than this, and name no kind of pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from flint import arb, ctx

from ..losses.atoms import laws
from ..rounding import PARAMETER, nearest_above
from .order import GaussianRound, Sampling

_BITS = 128

Kind = TypeVar("Kind", bound="Pair")


@dataclass(frozen=True, slots=True)
class Renyi:
    """What is known of D_alpha(P||Q), for finite alpha > 1. Functions of it give None where they know nothing.

    divergence(alpha): at least D_alpha in both orders, given that the loss is finite where it may be infinite.
    behind_coin(rate, coin, alpha): at least that of the pair behind a hidden coin, 0 < rate < 1; None also where the
    pair cannot be sampled in this way.
    moment(power, rate): E_Q[(dP/dQ)^power] for power > 1, or a ball at most that; with a rate that is not None
    E_Q[(1 - rate + rate dP/dQ)^power] for any power.
    slope(order): what D_alpha / alpha tends to as alpha grows, at least; and what it is at most for alpha >= order.
    orders: at which something is stated: between them, and beyond the last one, bounds are worse.
    """

    divergence: Callable[[float], float | None]
    behind_coin: Callable[[float, Sampling, float], float | None]
    moment: Callable[[arb, arb | None], arb | None]
    slope: Callable[[float], tuple[float, float]]
    orders: tuple[float, ...]


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

    def words(self) -> str:
        """P against Q, for a witness."""
        return repr(self)

    def profile(self, epsilon: arb) -> arb | None:
        """A ball that holds delta(epsilon) of one round, at any real epsilon; None, at every one, without a formula."""
        return None

    def failure(self) -> tuple[arb, Pair | None]:
        """A ball that holds P(L = inf), the larger one of the two orders; and a pair that dominates this one in both
        orders given that the loss is finite, itself where it always is; None where no such pair is known."""
        return arb(0), self

    def supremum(self) -> arb | None:
        """A ball that holds the essential supremum of log(dP/dQ) under P; None where it is infinite, or not known.

        A pair that neighbours attain must know it: from below (currencies/pure_dp.py) None counts as infinite.
        """
        return None

    def renyi(self) -> Renyi:
        """What is known of its Renyi divergences: of the five below, those that a subclass overrides."""
        return Renyi(self._divergence, self._behind_coin, self._moment, self._slope, self._stated_orders())

    def _divergence(self, alpha: float) -> float | None:
        return None

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        return None

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        return None

    def _slope(self, order: float) -> tuple[float, float]:
        return 0.0, math.inf

    def _stated_orders(self) -> tuple[float, ...]:
        return ()

    def losses(self) -> laws.Losses | None:
        """How the law of log(dP/dQ) under P is bounded from above and from below; None where it is not."""
        return None


Composition = tuple[tuple[Pair, int], ...]
"""Distinct single-step pairs with the number of rounds that each is used: a product pair."""


def largest_loss(pair: Pair) -> float:
    """At least the largest log(dP/dQ), the Renyi divergence of order infinity; inf where that is not known."""
    with ctx.workprec(_BITS):
        most = pair.supremum()
        return math.inf if most is None else max(0.0, nearest_above(most))


def summed_supremum(product: Composition) -> arb | None:
    """That of all rounds together; None where one's is infinite, or not known."""
    total = arb(0)
    for pair, rounds in product:
        loss = pair.supremum()
        if loss is None:
            return None
        total += rounds * loss
    return total


MOVE = 2 * PARAMETER
"""How far parameters are moved to the far side of their uncertainty: a double stands for a decimal or a quotient
(docs/theory/lattices.md, section "Parameters")."""


def dominating_parameters(pair: Kind) -> Kind:
    """A pair that dominates the given one for all parameters within PARAMETER of the given ones."""
    return pair.moved(1 + MOVE)


def dominated_parameters(pair: Kind) -> Kind:
    """A pair that the given one dominates for all parameters within PARAMETER of the given ones."""
    return pair.moved(1 - MOVE)


def failing(pair: Kind, mass: arb) -> tuple[arb, Kind | None]:
    """A `Pair.failure` of a pair of which nothing is known given that a loss that may be infinite is not."""
    return mass, pair if mass.is_zero() else None
