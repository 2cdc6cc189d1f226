"""Every conversion of the literature from Renyi to approximate differential privacy, each under its authors' name.

A mechanism with D_alpha(P||Q) <= rdp for one order alpha > 1 (and both orders of every neighbouring pair) is
(epsilon, delta)-DP for the values below. Each function is an upper bound on the best epsilon for a given delta,
or on the best delta for a given epsilon, rounded up by `_SLACK` of the sizes that enter. alpha may be infinite,
with rdp then the largest privacy loss. How they compare: docs/theory/rdp.md, section "Conversions".
"""

from __future__ import annotations

import math

from ..rounding import widened_up
from .optimal_conversion import CLOSE, asoodeh_delta, asoodeh_epsilon

__all__ = [
    "asoodeh_delta",
    "asoodeh_epsilon",
    "best_delta",
    "best_epsilon",
    "canonne_delta",
    "canonne_epsilon",
    "mironov_delta",
    "mironov_epsilon",
]

_SLACK = 2.0**-44


def mironov_epsilon(alpha: float, rdp: float, delta: float) -> float:
    """rdp + log(1/delta) / (alpha - 1): Mironov 2017, arXiv 1702.07476 v3, Proposition 3.

    The same tail bound as the moments accountant's: Abadi et al. 2016, arXiv 1607.00133, Theorem 2.2.
    """
    return widened_up(rdp - math.log(delta) / (alpha - 1), _SLACK)


def mironov_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """exp((alpha - 1)(rdp - epsilon)): Mironov 2017, Proposition 3, solved for delta; at most 1."""
    if math.isinf(alpha):
        return 0.0 if rdp <= epsilon else 1.0
    return _exp_up((alpha - 1) * (rdp - epsilon), (alpha - 1) * (rdp + epsilon))


def canonne_epsilon(alpha: float, rdp: float, delta: float) -> float:
    """rdp + log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1), at least 0.

    Canonne, Kamath, Steinke 2020, arXiv 2004.00010 v4, Proposition 12; found independently by Balle, Barthe, Gaboardi,
    Hsu, Sato 2020, arXiv 1905.09982, Theorem 21, the source that Opacus cites.
    """
    if math.isinf(alpha):
        return rdp
    shrink, rest = math.log1p(-1 / alpha), (math.log(delta) + math.log(alpha)) / (alpha - 1)
    size = abs(rdp) + abs(shrink) + (abs(math.log(delta)) + math.log(alpha)) / (alpha - 1)
    return max(0.0, rdp + shrink - rest + _SLACK * size)


def canonne_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """exp((alpha - 1)(rdp - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha, at most 1: the same Proposition 12."""
    if math.isinf(alpha):
        return 0.0 if rdp <= epsilon else 1.0
    shrink = (alpha - 1) * math.log1p(-1 / alpha)
    return _exp_up(
        (alpha - 1) * (rdp - epsilon) + shrink - math.log(alpha),
        (alpha - 1) * (rdp + epsilon) + abs(shrink) + math.log(alpha),
    )


def best_epsilon(alpha: float, rdp: float, delta: float, close: float = CLOSE) -> float:
    """The smallest of the above. By construction Asoodeh et al.'s, up to its own rounding, and to `close`."""
    known = mironov_epsilon(alpha, rdp, delta), canonne_epsilon(alpha, rdp, delta)
    return min(*known, asoodeh_epsilon(alpha, rdp, delta, close))


def best_delta(alpha: float, rdp: float, epsilon: float, close: float = CLOSE) -> float:
    """The smallest of the above; `close` likewise."""
    known = mironov_delta(alpha, rdp, epsilon), canonne_delta(alpha, rdp, epsilon)
    return min(*known, asoodeh_delta(alpha, rdp, epsilon, close))


def _exp_up(exponent: float, size: float) -> float:
    """min(1, e^exponent), rounded up; size: the magnitudes that made the exponent."""
    return 1.0 if exponent >= 0 else min(1.0, widened_up(math.exp(exponent), _SLACK * (1 + size)))
