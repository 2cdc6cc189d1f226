"""Renyi divergences from the terms of a moment, rounded up; moments that are integrals.

Every result of terms is inflated by 2^-40 of the sizes that entered it, thousands of roundings, so the exact value
never exceeds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import acb, arb
from scipy.special import logsumexp

from ..rounding import UNIT

SLACK = 2.0**-40


def from_terms(log_terms: list[float], alpha: float, largest: float) -> float:
    """log(sum) / (alpha - 1), rounded up; never above the largest loss. log_terms: of E_Q[(dP/dQ)^alpha].

    The terms' sum is 1 plus little when the loss is small; its absolute error then decides, and the bound
    alpha largest^2 / 2 (Bun, Steinke 2016, Proposition 3.3) is used where it is smaller.
    """
    bound = largest + SLACK * largest
    total = float(logsumexp(np.array(log_terms)))
    size = max(abs(term) for term in log_terms if term >= total - 45)
    value = (max(total, 0.0) + 64 * UNIT * (2 + size)) / (alpha - 1)
    return min(value * (1 + SLACK), bound, alpha * bound * bound / 2 * (1 + SLACK))


def integrated(integrand: Callable[[acb, bool], acb], left: arb, right: arb) -> arb:
    """Arb's rigorous integral over the range, in pieces whose integrands are alike in size."""
    pieces = max(1, min(64, math.ceil(float((right - left).mid()) / 12)))
    total = arb(0)
    for k in range(pieces):
        start, end = (acb(left + (right - left) * arb(i) / pieces) for i in (k, k + 1))
        total += acb.integral(integrand, start, end, rel_tol=arb(2) ** -50, eval_limit=20_000).real
    return total
