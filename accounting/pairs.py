"""Dominating pairs: two distributions (P, Q) that one step's outputs on neighbours cannot be told apart better than.

Everything an accountant needs to know of a step is its pair. The hockey-stick profile of a pair is
delta(eps) = E_P[(1 - exp(eps - L))_+] with the privacy loss L = log(dP/dQ). Pairs of independent (or
adaptive) steps compose: the profile of the product pair bounds the whole run
(Zhu, Dong, Wang 2022, arXiv 2106.08567, Theorem 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


class Pair:
    """A frozen description of (P, Q). Subclasses are frozen dataclasses."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """P = N(shift, 1), Q = N(0, 1): symmetric in P and Q; shift > 0."""

    shift: float


@dataclass(frozen=True, slots=True)
class LaplacePair(Pair):
    """P = Laplace(shift, 1), Q = Laplace(0, 1): symmetric; shift > 0."""

    shift: float


@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair(Pair):
    """P = N_Z(shift, sigma^2), Q = N_Z(0, sigma^2), on the integers; symmetric; shift a positive integer."""

    sigma: float
    shift: int


@dataclass(frozen=True, slots=True)
class DiscreteLaplacePair(Pair):
    """P[x] proportional to exp(-|x - shift| / scale), Q the same about 0; symmetric; shift a positive integer."""

    scale: float
    shift: int


@dataclass(frozen=True, slots=True)
class RandomizedResponsePair(Pair):
    """P reports category 0 with probability 1 - flip, Q category 1; each other one with flip/(categories-1)."""

    flip: float
    categories: int


@dataclass(frozen=True, slots=True)
class ApproximateDpPair(Pair):
    """The worst (epsilon, delta)-DP pair.

    P and Q put mass delta where the other has none, and are randomized response with odds e^epsilon on the
    rest (Kairouz, Oh, Viswanath 2015, Theorem 3.1). delta may be 0.
    """

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class ZcdpBound(Pair):
    """No pair is known, only D_alpha(P||Q) <= rho alpha for every alpha > 1, in both orders."""

    rho: float


@dataclass(frozen=True, slots=True)
class AllocationPair(Pair):
    """A block of rounds, of which `participations`, hidden and uniform, have the law P0 of the base and the others Q0.

    order: "remove": against Q0 in all of them; "add": the other way round. fineness: how finely its law is cut, as the
    step of the grid over the spread of log P/Q; .0075 leaves less than 1e-4 of epsilon.
    """

    base: Pair
    rounds: int
    participations: int
    order: Literal["remove", "add"]
    fineness: float = 0.0075


@dataclass(frozen=True, slots=True)
class ReplacedAllocationPair(Pair):
    """No pair is known: a unit that is replaced, whose rounds are drawn anew. Both neighbours' blocks are compared with
    those without any unit, an AllocationPair."""

    apart: AllocationPair


@dataclass(frozen=True, slots=True)
class RenyiLines(Pair):
    """No pair is known, only D_alpha(P||Q) <= slope * alpha + constant at every integer alpha > 1, in both orders.

    lines: several (slope, constant), each of which holds.
    """

    lines: tuple[tuple[float, float], ...]


Order = Literal["remove", "add", "replace", "hybrid", "visible"]


@dataclass(frozen=True, slots=True)
class SubsampledPair(Pair):
    """A base pair (P0, Q0) that applies only when the unit is sampled, with probability rate < 1.

    order:
    - "remove":  P = (1 - rate) Q0 + rate P0 against Q0.
    - "add":     Q0 against (1 - rate) Q0 + rate P0.
    - "replace": location families only, with noise N of scale 1 and base shift s:
                 P = (1 - rate) N(0) + rate N(s) against Q = (1 - rate) N(0) + rate N(-s).
    - "hybrid":  the symmetric pair whose profile is that of "remove" for eps >= 0, and
                 1 - e^eps + e^eps delta_remove(-eps) for eps < 0.
    - "visible": the coin is public: with probability rate the outcome is (1, P0) against (1, Q0), else (0, .)
                 under both.
    """

    base: Pair
    rate: float
    order: Order


@dataclass(frozen=True, slots=True)
class OpposedPair(Pair):
    """A cohort of fixed size, zero-out, Gaussian noise of scale 1; the unit's substitute contributes its opposite.

    order: "remove": P = (1 - rate) N(-shift) + rate N(shift) against Q = (1 - rate) N(-shift) + rate N(0); "add": Q
    against P. shift > 0, 0 < rate < 1.
    """

    shift: float
    rate: float
    order: Literal["remove", "add"]


@dataclass(frozen=True, slots=True)
class ZeroedPair(Pair):
    """The tight pair of one round of a cohort of fixed size under zero-out, with Gaussian noise of scale 1.

    order: "remove": the profile is that of the OpposedPair "remove" for eps >= 0, and for eps < 0 that of "add" of a
    SubsampledPair with this shift (its substitute contributes the same as the unit); "add": with P and Q exchanged.
    """

    shift: float
    rate: float
    order: Literal["remove", "add"]


@dataclass(frozen=True, slots=True)
class MixturePair(Pair):
    """A public coin, with the same law under P and Q, says which of several pairs it is.

    parts: (probability, pair); each probability stands for one within a relative 2^-40 of it.
    """

    parts: tuple[tuple[float, Pair], ...]


Composition = tuple[tuple[Pair, int], ...]
"""Distinct single-step pairs with the number of rounds that each is used: a product pair."""
