"""One run, if its canaries answer independently and all alike: exact for any number of guesses, which a split chooses.

**The assumption**: the (coin, score) pairs of the canaries are independent and have one law. Of both it needs
the second, too (docs/auditing-methods.md has a mechanism without it): what is here refutes nothing.

A canary is guessed "in" above a centre and "out" below; the r canaries farthest from it are guessed, m - r are not. Let
W be the quantile of the farthest one that is not: W has the law Beta(m - r, r + 1), and given W the r guesses are
independent, each wrong with probability e(1 - W)/(1 - W), where e(g) is the probability of a wrong guess of the rule
that guesses the most conspicuous part g. Under a claimed curve e is at least `least_errors` of it, so that few wrong
guesses are no more likely than with that. The law of such counts is due to Xiang et al. 2025 (arXiv 2509.08704; we read
their abstract and their published programme); the argument for claimed curves, the rounding and the split are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import delta_below_one, open_probability
from . import clopper_pearson
from .curve import ClaimedCurve, approximate_dp
from .guesses import last_refuted, scored
from .result import LowerBound

SPLIT = 0.1
"""Part of the canaries that choose the centre and the number of guesses, and are used for nothing else."""
PARTS: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Numbers of guesses to choose from, as parts of the other canaries."""
LEVELS = np.concatenate([np.linspace(0.0, 0.98, 200), 1 - np.geomspace(0.02, 1e-9, 50)])
"""Probabilities that cut the law of W into cells; within a cell the largest W decides, which rounds up."""

_largest = partial(last_refuted, first=0.125, tolerance=1e-3)

Errors = Callable[[Floats], Floats]
"""g -> the least probability of a wrong guess, for a rule that guesses with probability g; never rounded up."""


@dataclass(frozen=True, slots=True)
class Released:
    """guessed of the canaries, of which `wrong` guesses were wrong."""

    canaries: int
    guessed: int
    wrong: int


def bounds(scores: ArrayLike, included: ArrayLike, delta: float, error: float) -> tuple[LowerBound, LowerBound]:
    """Lower bounds on epsilon at delta and on mu, each with half of `error`, if the canaries are independent and alike.

    scores, included: shape (canaries,). Raises InputError for bad shapes, delta or error.

    >>> coins = np.random.default_rng(1).random(1000) < 0.5
    >>> noisy = coins + np.random.default_rng(2).normal(0.0, 1.0, 1000)  # mu = 1
    >>> [(bound.quantity, bound.value, bound.assumes) for bound in bounds(noisy, coins, 1e-5, 0.05)]
    [('epsilon', 1.5..., 'alike canaries'), ('mu', 0.8..., 'alike canaries')]
    """
    value, truth = scored(scores, included)
    delta_below_one("delta", delta)
    half = open_probability("error", error) / 2
    return (
        LowerBound("epsilon", epsilon_lower(value, truth, delta, half), delta, half, "alike", "alike canaries"),
        LowerBound("mu", mu_lower(value, truth, half), None, half, "alike", "alike canaries"),
    )


def epsilon_lower(scores: Floats, included: np.ndarray, delta: float, error: float) -> float:
    """Above the true epsilon at delta with probability at most `error`, if the canaries are independent and alike."""
    return _best(scores, included, lambda seen: _epsilon(seen, delta, error))


def mu_lower(scores: Floats, included: np.ndarray, error: float) -> float:
    """Above the true mu with probability at most `error`, if the canaries are independent and alike."""
    return _best(scores, included, lambda seen: _mu(seen, error))


def p_value(seen: Released, errors: Errors) -> float:
    """P(at most so many wrong guesses) is at most this, where no rule has fewer than `errors` says."""
    m, r = seen.canaries, seen.guessed
    if r == m:
        return float(clopper_pearson.at_most(seen.wrong, m, errors(np.ones(1))[0]))
    largest = special.betaincinv(m - r, r + 1, LEVELS[1:])
    rate = errors(1 - largest) / np.maximum(1 - largest, 1e-300)
    cells = np.append(np.diff(LEVELS), 1 - LEVELS[-1])
    return min(1.0, float(cells @ np.append(clopper_pearson.at_most(seen.wrong, r, rate), 1.0)) + 1e-9)


def least_errors(claim: ClaimedCurve) -> Errors:
    """By the lines of a claim: g - e correct guesses are at most exp(epsilon) e + delta."""
    epsilons, deltas = np.array(claim.epsilons), np.array(claim.deltas)

    def errors(g: Floats) -> Floats:
        lines = np.maximum(np.asarray(g)[:, None] - deltas, 0.0) / (1 + np.exp(epsilons))
        return np.asarray(lines.max(axis=1) * (1 - 1e-12), float)

    return errors


def least_errors_of_gdp(mu: float) -> Errors:
    """Of mu-GDP: guesses where |privacy loss| > mu s are right with Phi(mu/2 - s), wrong with Phi(-mu/2 - s).

    By Neyman and Pearson no rule that guesses as often errs less on the two Gaussians, nor on what is made of them.
    """

    def errors(g: Floats) -> Floats:
        low, high = np.zeros(len(g)), np.full(len(g), mu / 2 + 40.0)
        for _ in range(36):
            middle = (low + high) / 2
            more = special.ndtr(mu / 2 - middle) + special.ndtr(-mu / 2 - middle) >= g
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.asarray(special.ndtr(-mu / 2 - high) * (1 - 1e-9), float)

    return errors


def _best(scores: Floats, included: np.ndarray, bound: Callable[[Released], float]) -> float:
    """The bound of the last canaries, guessed around the centre of the first and as often as was best for those."""
    first = max(1, round(SPLIT * len(scores)))
    rest = len(scores) - first
    if rest < 1:
        return 0.0
    centre = float(np.median(scores[:first]))
    tried = _farthest(scores[:first], included[:first], centre)

    def hoped(part: float) -> float:
        made = max(1, round(part * first))
        guessed = max(1, round(part * rest))
        rate = (np.count_nonzero(tried[:made]) + 0.5) / (made + 1)
        return bound(Released(rest, guessed, round(rate * guessed)))

    guessed = max(1, round(max(PARTS, key=hoped) * rest))
    wrong = _farthest(scores[first:], included[first:], centre)[:guessed]
    return bound(Released(rest, guessed, int(np.count_nonzero(wrong))))


def _farthest(scores: Floats, included: np.ndarray, centre: float) -> np.ndarray:
    """Whether each guess is wrong, from the farthest to the nearest (ties by position: canaries are exchangeable)."""
    order = np.argsort(-np.abs(scores - centre), kind="stable")
    return np.asarray((scores > centre) != included, bool)[order]


def _epsilon(seen: Released, delta: float, error: float) -> float:
    return last_refuted(
        lambda epsilon: p_value(seen, least_errors(approximate_dp(epsilon, delta))) <= error, 0.125, 1e-3
    )


def _mu(seen: Released, error: float) -> float:
    return _largest(lambda mu: p_value(seen, least_errors_of_gdp(mu)) <= error)
