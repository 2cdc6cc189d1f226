"""Renyi divergences of samples of what only Renyi divergences are known of.

D(l) bounds D_l of the releases about the sample, in both orders, at every whole order l. All directions round up.

- two laws, P = (1 - r) Q + r P0 against Q: E_Q[(1 - r + r L)^a] expands by Newton, with E_Q[L^l] <= e^{(l-1) D(l)};
- the same in the other order: Zhu, Wang 2019 ("Poisson subsampled Renyi differential privacy", ICML, Theorem 5): three
  times the terms from the third one on;
- three laws, of which each two are so close (a unit replaced in a cohort of a fixed size): Wang, Balle, Kasiviswanathan
  2019 (arXiv 1808.00087, Theorem 9), with an unbounded largest loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp

from ..pairs.order import Sampling

_SLACK = 2.0**-36
MOST = 1024
"""The largest order for which the sum is taken; beyond, sampling is given up."""

Bound = Callable[[float], float]


def sampled_divergence(bound: Bound, rate: float, how: Sampling, alpha: float) -> float:
    """An upper bound on D_alpha of the sample; infinite where none is computed. 0 < rate < 1, alpha > 1.

    (alpha - 1) D_alpha is convex in alpha and 0 at 1 (van Erven, Harremoes 2014, Corollary 2): between whole orders the
    chord is above it.
    """
    below = math.floor(alpha)
    if below + 1 > MOST:
        return math.inf
    share = alpha - below
    low = _log_moment(bound, rate, how, below) if below > 1 else 0.0
    high = _log_moment(bound, rate, how, below + 1) if share > 0 else 0.0
    return ((1 - share) * low + share * high) / (alpha - 1) * (1 + _SLACK)


def _log_moment(bound: Bound, rate: float, how: Sampling, order: int) -> float:
    if bound(float(order)) == math.inf:
        return math.inf
    at = np.arange(2, order + 1)
    log_choose = gammaln(order + 1.0) - gammaln(at + 1.0) - gammaln(order - at + 1.0)
    moments = np.array([(place - 1) * bound(float(place)) for place in at])
    if how == Sampling.HYBRID:
        second = min(math.log(4) + _log_expm1(moments[0]), math.log(2) + moments[0])
        terms = log_choose + at * math.log(rate) + np.concatenate([[second], math.log(2) + moments[1:]])
        rest = 0.0
    else:
        terms = log_choose + (order - at) * math.log1p(-rate) + at * math.log(rate) + moments
        terms[1:] += math.log(3) if how == Sampling.ADD else 0.0
        rest = (order - 1) * math.log1p(-rate) + math.log1p((order - 1) * rate)
    slack = _SLACK * (1 + order * (math.log(order + 1) - math.log(rate)) + float(np.max(np.abs(moments))))
    return max(0.0, float(np.logaddexp(rest, logsumexp(terms)))) + slack


def _log_expm1(value: float) -> float:
    return value + math.log(-math.expm1(-value)) if value > 0 else -math.inf
