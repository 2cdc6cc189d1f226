"""Fixed-size sampling as it was bounded before the hybrid pair: Wang, Balle, Kasiviswanathan 2019 (Theorem 27).

Kept to show the gap (docs/theory/rdp.md, section "Fixed-size sampling") and to recognise numbers that were
printed with it; no accountant uses it.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import gammaln, logsumexp

_SLACK = 2.0**-40


def wang_balle_kasiviswanathan(shift: float, rate: float, alpha: float) -> float:
    """Bound on D_alpha of a Gaussian of the given shift after sampling without replacement, replace-one.

    arXiv 1808.00087, Theorem 27, for whole orders: 1 + sum over j >= 2 of binom(alpha, j) rate^j times the
    smaller of 4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))) and 2 e^((j-1) D_j), with B(l) = E_Q[(P/Q - 1)^l]; other
    orders by convexity of the log-moment (Corollary 10). Rounded up. shift > 0, 0 < rate <= 1, alpha > 1.
    """
    floor = math.floor(alpha)
    share = alpha - floor
    low = _log_moment(shift, rate, floor) if floor > 1 else 0.0
    high = _log_moment(shift, rate, floor + 1) if share > 0 else 0.0
    return ((1 - share) * low + share * high) / (alpha - 1) * (1 + _SLACK)


def _log_moment(shift: float, rate: float, order: int) -> float:
    j = np.arange(2, order + 1)
    log_choose = gammaln(order + 1.0) - gammaln(j + 1.0) - gammaln(order - j + 1.0)
    even = np.array([_log_even_moment(shift, 2 * k) for k in range(1, (order + 1) // 2 + 1)])
    by_parts = math.log(4) + 0.5 * (even[j // 2 - 1] + even[(j + 1) // 2 - 1])
    terms = log_choose + j * math.log(rate) + np.minimum(by_parts, math.log(2) + j * (j - 1) * shift * shift / 2)
    slack = _SLACK * (1 + order * (order * shift * shift + math.log(order + 1) - math.log(rate)))
    return float(np.logaddexp(0.0, logsumexp(terms) + slack))


@cache
def _log_even_moment(shift: float, power: int) -> float:
    """log E_Q[(e^(shift y - shift^2/2) - 1)^power]: a positive integrand, so no differences of large numbers.

    The trapezoidal rule of step 1/16 on an entire function with Gaussian decay is exact to rounding.
    """
    step = min(1 / 16, 1 / (16 * shift))
    y = np.arange(-14.0, power * shift + 14.0, step)
    with np.errstate(divide="ignore", over="ignore"):
        z = shift * y - shift * shift / 2
        log_gap = np.where(z > 30, z, np.log(np.abs(np.expm1(np.minimum(z, 30.0)))))
    return float(logsumexp(power * log_gap - y * y / 2)) + math.log(step) - 0.5 * math.log(2 * math.pi)
