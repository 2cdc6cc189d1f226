"""Confidence bounds for the mean of draws in [0, most] that are far from coins: few large ones, many zeros.

For a mean of at most m and 0 <= b < 1 the product over draws x of 1 + b (x/m - 1) has expectation at most 1, and so has
its average over several b; by Markov's inequality it reaches 1/error with probability at most `error`. It falls as m
grows: every m below the largest one at which it is reached is refuted. Nothing is used of the draws but that they are
independent and not negative; where they are at most `most`, so it is with 1 - b (x - m)/(most - m) from above.
(Waudby-Smith, Ramdas 2024, arXiv 2010.09686, Section 4; bets are fixed here: the order of draws does not matter.)
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from ...mechanisms.arrays import Floats

_BETS = np.geomspace(2.0**-20, 0.75, 24)
_ROUNDING = 1e-6
"""By how much a logarithm of a product is taken smaller: far more than sums of 10^9 rounded logarithms are off."""
_STEPS = 40


def lower(draws: Floats, error: float) -> float:
    """What the mean is below with probability at most `error`. draws: shape (n,), each at least 0."""
    hits = draws[draws > 0]
    if not hits.size:
        return 0.0
    misses = draws.size - hits.size

    def reached(mean: float) -> bool:
        logs = [float(np.sum(np.log1p(bet * (hits / mean - 1)))) + misses * math.log1p(-bet) for bet in _BETS]
        return _reaches(logs, error)

    average = float(np.mean(draws))
    return _nearest(reached, average, average * 2.0**-_STEPS, 0.0)


def upper(draws: Floats, most: float, error: float) -> float:
    """What the mean is above with probability at most `error`. draws: shape (n,), from 0 to `most`."""
    hits = draws[draws > 0]
    misses = draws.size - hits.size

    def reached(mean: float) -> bool:
        share = mean / (most - mean)
        logs = [
            float(np.sum(np.log1p(bet * (mean - hits) / (most - mean)))) + misses * math.log1p(bet * share)
            for bet in _BETS
        ]
        return _reaches(logs, error)

    return _nearest(reached, float(np.mean(draws)), most * (1 - 2.0**-_STEPS), most)


def _reaches(logs: list[float], error: float) -> bool:
    return float(logsumexp(logs)) - math.log(len(logs)) - _ROUNDING >= -math.log(error)


def _nearest(reached: Callable[[float], bool], mean: float, far: float, trivial: float) -> float:
    """About the value nearest to the mean at which it is reached, where it is; `trivial` if not at `far`."""
    if not reached(far):
        return trivial
    near = mean
    while abs(near - far) > 1e-4 * min(near, far) and min(near, far) > 0:
        middle = math.sqrt(near * far) if max(near, far) > 2 * min(near, far) else 0.5 * (near + far)
        near, far = (near, middle) if reached(middle) else (middle, far)
    return far
