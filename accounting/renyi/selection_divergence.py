"""Renyi divergences of the best of a random number of private runs.

Papernot, Steinke 2022 (arXiv 2110.03620), Theorem 2: where one run is (alpha, e)-RDP and (beta, e')-RDP, alpha > 1,
beta >= 1, and K is truncated negative binomial, the best of K is (alpha, E)-RDP with

    E = e + (1 + shape) (1 - 1/beta) e' + (1 + shape) log(1/gamma) / beta + log(E[K]) / (alpha - 1).

Every beta gives a bound, and the best one is searched. A divergence of a larger order is one of a smaller order as well
(Mironov 2017, arXiv 1702.07476, Proposition 9), and E rises again at small ones.

Where K is Poisson distributed with mean m, and one run is (epsilon', delta')-DP with e^epsilon' at
most alpha / (alpha - 1), with w = m e^((alpha - 1) m delta') (docs/theory/selection.md):

    D_alpha <= log(1 + w (e^((alpha - 1) e) - 1)) / (alpha - 1),

which for w >= 1 is at most the same paper's Theorem 6, e + m delta' + log(m) / (alpha - 1), and that is taken there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from ..pairs import Composition, PoissonSelectionPair, SelectionPair
from ..rounding import widened_down
from .orders import best_order

_OTHER_ORDERS = tuple(1.0 + 2.0**k for k in range(-3, 12))
"""From the best of which the search goes on."""

_NEAR = 1e-3
"""Relative distance from the best order at which a search ends."""

_SLACK = 2.0**-40

OfProduct = Callable[[Composition, float], float]


def selection_divergence(pair: SelectionPair, alpha: float, single: OfProduct) -> float:
    """At least D_alpha; single: an upper bound on one run's divergence, by its product pair and the order."""
    least = _least_order(pair, single)
    return min(_at(pair, order, single) for order in {alpha, max(alpha, least)})


def _at(pair: SelectionPair, alpha: float, single: OfProduct) -> float:
    own = max(single(product, alpha) for product in pair.products)
    return (own + _several(pair, single) + max(0.0, math.log(pair.mean)) / (alpha - 1)) * (1 + _SLACK)


@lru_cache(maxsize=256)
def _least_order(pair: SelectionPair, single: OfProduct) -> float:
    """Near the order whose bound is least."""
    return best_order(lambda order: _at(pair, order, single), tolerance=_NEAR)


def poisson_divergence(pair: PoissonSelectionPair, alpha: float, single: OfProduct, delta: OfProduct) -> float:
    """At least D_alpha; delta: an upper bound on one run's delta, by its product pair and epsilon."""
    own = max(single(product, alpha) for product in pair.products)
    near = max(0.0, widened_down(math.log1p(1 / (alpha - 1)), _SLACK))
    apart = max(delta(product, near) for product in pair.products)
    one, several = (alpha - 1) * own, math.log(pair.mean) + (alpha - 1) * pair.mean * apart
    if math.isinf(one + several):
        return math.inf
    size = one + abs(math.log(pair.mean)) + abs(several)
    log = one + several if several >= 0 else _log_few(one, several)
    return (max(0.0, log) + (1 + size) * _SLACK) / (alpha - 1) * (1 + _SLACK)


def _log_few(one: float, several: float) -> float:
    """log(1 + e^several (e^one - 1)), also where e^one is too large for a double."""
    if one < 700:
        return math.log1p(math.exp(several) * math.expm1(one))
    both = one + several
    return max(0.0, both) + math.log1p(math.exp(-abs(both)))  # without the -1


@lru_cache(maxsize=256)
def _several(pair: SelectionPair, single: OfProduct) -> float:
    """The least over beta of what does not depend on alpha."""
    log = -math.log(pair.gamma)

    def at(beta: float) -> float:
        share = 1.0 if math.isinf(beta) else 1 - 1 / beta
        return share * max(single(product, beta) for product in pair.products) + log / beta

    near = best_order(at, min(_OTHER_ORDERS, key=at), _NEAR)
    return (1 + pair.shape) * min(at(near), at(math.inf)) * (1 + _SLACK)
