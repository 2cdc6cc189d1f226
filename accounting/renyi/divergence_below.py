"""Renyi divergences of attained pairs from below, in ball arithmetic: what refutes a claimed one.

D_alpha(P||Q) = log(E_Q[(dP/dQ)^alpha]) / (alpha - 1), each pair's own moment; of sampled Gaussian noise, whose moments
may be next to 1, their logarithms (sampled_gaussian.py).
"""

from __future__ import annotations

import math
from functools import lru_cache

from flint import arb, ctx

from ..pairs import Composition, Pair, Sampling
from ..pairs.pair import dominated_parameters
from ..rounding import down, float_below
from .sampled_gaussian import log_moments

_BITS = 96


def divergence_below(composition: Composition, alpha: float) -> float:
    """At most D_alpha of the product pair; rounds of which nothing is known from below count as 0.

    It holds for all parameters within rounding.PARAMETER of the given doubles.
    """
    total = 0.0
    for pair, rounds in composition:
        each = _below(pair, alpha)
        if each == math.inf:
            return math.inf
        total = down(total + down(rounds * each))
    return max(0.0, total)


@lru_cache(maxsize=4096)
def _below(pair: Pair, alpha: float) -> float:
    moved = dominated_parameters(pair)
    noise = moved.gaussian()
    if noise is not None and noise.coin in (Sampling.REMOVE, Sampling.ADD, Sampling.REPLACE):
        return down(log_moments(noise.shift, noise.rate, noise.coin, alpha)[0] / (alpha - 1), 2)
    with ctx.workprec(_BITS):
        moment = moved.renyi().moment(arb(alpha), None)
        if moment is None or not moment > 0:
            return 0.0
        if not moment.is_finite():
            return math.inf
        value = float_below(moment.log() / (arb(alpha) - 1))
    return max(0.0, value) if value == value else 0.0  # an indeterminate ball says nothing
