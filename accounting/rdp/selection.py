"""Renyi divergences of the best of a random number of private runs.

Papernot, Steinke 2022 (arXiv 2110.03620), Theorem 2: where one run is (alpha, e)-RDP and (beta, e')-RDP, alpha > 1,
beta >= 1, and K is truncated negative binomial, the best of K is (alpha, E)-RDP with

    E = e + (1 + shape) (1 - 1/beta) e' + (1 + shape) log(1/gamma) / beta + log(E[K]) / (alpha - 1).

Every beta gives a bound; a few are tried.

Where K is Poisson distributed with mean m, and one run is (epsilon', delta')-DP with e^epsilon' at
most alpha / (alpha - 1), the same paper's Theorem 6, with the probability that K = 0 kept (docs/theory/selection.md):

    D_alpha <= log(e^-m + m e^((alpha - 1) (e + m delta'))) / (alpha - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from ..pairs import Composition, PoissonSelectionPair, SelectionPair
from ..rounding import widened_down

_OTHER_ORDERS = (*(1.0 + 2.0 ** (k / 4) for k in range(-12, 44)), math.inf)
_SLACK = 2.0**-40

OfProduct = Callable[[Composition, float], float]


def selection_divergence(pair: SelectionPair, alpha: float, single: OfProduct) -> float:
    """At least D_alpha; single: an upper bound on one run's divergence, by its product pair and the order."""
    own = max(single(product, alpha) for product in pair.products)
    return (own + _several(pair, single) + max(0.0, math.log(pair.mean)) / (alpha - 1)) * (1 + _SLACK)


def poisson_divergence(pair: PoissonSelectionPair, alpha: float, single: OfProduct, delta: OfProduct) -> float:
    """At least D_alpha; delta: an upper bound on one run's delta, by its product pair and epsilon."""
    own = max(single(product, alpha) for product in pair.products)
    near = max(0.0, widened_down(math.log1p(1 / (alpha - 1)), _SLACK))
    apart = max(delta(product, near) for product in pair.products)
    exponent = (alpha - 1) * (own + pair.mean * apart) * (1 + _SLACK)
    if math.isinf(exponent):
        return math.inf
    longer, shorter = math.log(pair.mean) + exponent, -pair.mean
    log = max(longer, shorter) + math.log1p(math.exp(-abs(longer - shorter)))
    return (max(0.0, log) + (1 + abs(log) + pair.mean) * _SLACK) / (alpha - 1) * (1 + _SLACK)


@lru_cache(maxsize=256)
def _several(pair: SelectionPair, single: OfProduct) -> float:
    """The least over beta of what does not depend on alpha."""
    factor, log = 1 + pair.shape, -math.log(pair.gamma)
    found = math.inf
    for beta in _OTHER_ORDERS:
        other = max(single(product, beta) for product in pair.products)
        found = min(found, factor * ((1 - 1 / beta) * other + log / beta))
    return found * (1 + _SLACK)
