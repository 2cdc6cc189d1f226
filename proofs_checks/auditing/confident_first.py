"""One run, guess by guess: the most conspicuous canaries first, looking at the evidence after each of them.

Nothing has to be chosen in advance, neither a number of guesses nor when to stop. Let the order of the canaries and
what is guessed of each be fixed by the scores alone. Under epsilon-DP the next guess is right with probability at most
p = e^epsilon / (1 + e^epsilon), whatever the output was and whatever the coins revealed so far are: flipping a coin is
a neighbouring change. So a bet at odds that are fair at p is a test supermartingale, and reaches 1/error with
probability at most `error` (Ville 1939). For delta > 0 guesses may be right with probability p + l_i for some outputs,
where sum_i E[l_i] <= canaries delta / (1 + e^epsilon): call a right guess a leak with probability l_i over its own.
More than k leaks have at most the probability sum_i E[l_i] / (k + 1) (Markov), which is taken off the error; k right
guesses are counted as wrong. Proof: docs/auditing-methods.md, section "One run". Sequential tests for repeated runs:
eprocess.py; the idea of betting on guesses: Gonzalez, Dulce-Rubio, Ramdas, Ribero 2025 (arXiv 2509.07055).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import delta_below_one, nonnegative, open_probability
from .guesses import scored

STEP, HIGHEST = 0.02, 20.0
"""The ladder of epsilons that a bound is searched on."""
BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95])
"""Wrong guesses that each bet reckons with, as a part of what the claim forces; all get the same wealth."""
LEAK_SHARE = 0.2
"""Part of the error that is spent on the number of leaks."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """largest: of the e-value after any number of guesses. made: guesses by then. leak: chance of more leaks than
    reckoned.

    epsilon, delta: what it speaks against.
    """

    epsilon: float
    delta: float

    largest: float
    made: int
    leak: float

    @property
    def p_value(self) -> float:
        """Valid whenever one stops, to be compared with the error that it was asked for."""
        return min(1.0, 1.0 / self.largest + self.leak)


def right_guesses(scores: ArrayLike, included: ArrayLike) -> NDArray[np.bool_]:
    """Whether each guess is right, from the most conspicuous canary on; shape (canaries,).

    scores, included: shape (canaries,). "In" is guessed above the median score, "out" below; what is farthest from the
    median, counted in ranks, comes first (ties by position). Raises InputError for shapes that differ.
    """
    value, truth = scored(scores, included)
    rank = np.empty(len(value))
    rank[np.argsort(value, kind="stable")] = np.arange(len(value)) - (len(value) - 1) / 2
    order = np.argsort(-np.abs(rank), kind="stable")
    return np.asarray((rank[order] > 0) == truth[order])


def against(
    scores: ArrayLike, included: ArrayLike, epsilon: float, delta: float = 0.0, error: float = 0.05
) -> Evidence:
    """The evidence of one run against (epsilon, delta)-DP.

    error: what its p-value will be compared with; for delta > 0 it says how many leaks are reckoned with.

    >>> coins = np.arange(40) % 2 == 0
    >>> against(coins.astype(float), coins, epsilon=1.0).p_value < 0.001
    True
    """
    nonnegative("epsilon", epsilon)
    delta_below_one("delta", delta)
    return _played(right_guesses(scores, included), epsilon, delta, open_probability("error", error))


def epsilon_lower(scores: ArrayLike, included: ArrayLike, delta: float, error: float) -> tuple[float, int]:
    """Above the true epsilon at delta with probability at most `error`; and the guesses made when the last rung fell.

    The rungs of a ladder are refuted from the lowest on. To exceed the truth, the bound needs the first true rung to be
    refuted, whose probability is at most `error`: nothing is lost for asking all.
    """
    open_probability("error", error)
    delta_below_one("delta", delta)
    right = right_guesses(scores, included)
    found, made = 0.0, 0
    for epsilon in np.arange(1, round(HIGHEST / STEP) + 1) * STEP:
        seen = _played(right, float(epsilon), delta, error)
        if seen.p_value > error:
            break
        found, made = float(epsilon), seen.made
    return found, made


def _leaks(canaries: int, epsilon: float, delta: float, error: float) -> tuple[int, float]:
    """(k, the probability of more than k leaks), the latter LEAK_SHARE of the error at most."""
    expected = canaries * delta / (1 + math.exp(epsilon))
    most = max(0, math.ceil(expected / (LEAK_SHARE * error)) - 1)
    return most, expected / (most + 1)


def _played(right: NDArray[np.bool_], epsilon: float, delta: float, error: float) -> Evidence:
    most, leak = _leaks(len(right), epsilon, delta, error)
    wrong = 1 / (1 + math.exp(epsilon))
    expected = wrong * BETS
    win, loss = np.log1p(-expected) - math.log1p(-wrong), np.log(BETS)
    steps: Floats = np.where(right[:, None], win, loss)
    excused = most * (win - loss)
    wealth = np.logaddexp.reduce(np.cumsum(steps, axis=0) - excused, axis=1) - math.log(len(BETS))
    best = int(np.argmax(wealth)) if len(wealth) else 0
    if not len(wealth) or wealth[best] <= 0:
        return Evidence(epsilon, delta, 1.0, 0, leak)
    return Evidence(epsilon, delta, math.exp(min(700.0, float(wealth[best]))), best + 1, leak)
