"""Lower bounds on mu.

`mu_lower` assumes nothing: it says for which mu the pair is not mu-GDP. `epsilon_if_gaussian` turns it into an
epsilon at a delta, which is right only for mechanisms whose trade-off curve is Gaussian; it is typed as such and
never refutes anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms.arrays import Floats
from . import clopper_pearson
from .curve import gdp_delta


def mu_lower(correct: ArrayLike, trials: int, error: float) -> Floats:
    """From a rule that never abstains: the pair is mu-GDP for no mu below this, but for an error of `error`.

    mu-GDP bounds the total variation distance by 2 Phi(mu/2) - 1, hence P(correct) by Phi(mu/2)
    (Dong, Roth, Su 2022, Corollary 1 at epsilon = 0); P(correct) has an exact binomial bound.
    """
    rate = clopper_pearson.lower(correct, trials, error)
    return np.asarray(np.maximum(0.0, 2 * special.ndtri(rate)), float)


def epsilon_if_gaussian(mu: float, delta: float) -> float:
    """The largest epsilon (rounded down) that mu-GDP, attained, does not grant at delta; 0 when there is none."""
    if mu <= 0 or float(gdp_delta(0.0, mu)) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while float(gdp_delta(high, mu)) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if float(gdp_delta(middle, mu)) > delta else (low, middle)
    return low
