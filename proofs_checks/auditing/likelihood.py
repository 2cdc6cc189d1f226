"""Lower bounds from known densities: sample the privacy loss itself.

With the loss L = log(p/q) known, delta(epsilon) = E_P[(1 - exp(epsilon - L))_+] is the mean of a bounded variable
under the dataset's outputs alone, so no rare event needs to be seen on the other side. The bound is only as true
as the densities: it is typed so, and refutes nothing. As a score (`Loss`), the same function needs no trust.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from .outputs import Outputs
from .scores import Scorer, finite

BETS = 40


@dataclass(frozen=True, slots=True)
class Loss:
    """The log likelihood ratio, dataset over neighbour, as a score: the optimal one when it is right.

    loss: from rows, shape (trials, width), to log(p/q), shape (trials,).
    """

    loss: Callable[[Floats], Floats]
    name: str = "the given log likelihood ratio"
    learns: bool = False

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        return lambda outputs: finite(np.asarray(self.loss(outputs.rows), float).reshape(len(outputs)))


def mean_exceeds(values: Floats, mean: float, trials: int, error: float) -> bool:
    """Whether E[X] <= mean is rejected, for X in [0, 1]; wrongly with probability at most `error`.

    values: the positive ones among `trials` independent draws; the others are 0. Betting: for each fraction
    b, the product of 1 + b (X - mean)/mean is an e-value, so is their average (Waudby-Smith, Ramdas 2024, JRSSB
    86(1), Section 4), and an e-value reaches 1/error with probability at most `error` (Markov).
    """
    if mean <= 0.0:
        return len(values) > 0
    if mean >= 1.0:
        return False
    # Bets between 0 and 1/mean; spread geometrically, as the best one is about (true mean - mean) / variance.
    bets = np.geomspace(1e-4, 0.999, BETS) / mean
    growth = np.log1p(bets[:, None] * (values[None, :] - mean)).sum(axis=1)
    growth += (trials - len(values)) * np.log1p(-bets * mean)
    return bool(np.logaddexp.reduce(growth) - np.log(BETS) >= -np.log(error))


def epsilon_lower(loss: Floats, delta: float, error: float) -> float:
    """The largest epsilon found with delta(epsilon) > delta, from losses at the dataset's outputs.

    Tests for larger epsilons are nested, so that the first failure of a monotone search spends the error once.
    """
    if len(loss) == 0:
        return 0.0

    def refuted(epsilon: float) -> bool:
        inside = loss > epsilon
        return mean_exceeds(-np.expm1(epsilon - loss[inside]), delta, len(loss), error)

    low, high = 0.0, float(np.max(loss, initial=0.0))
    if high <= 0.0 or not refuted(0.0):
        return 0.0
    high = min(high, 1e4)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
