"""Theorem S' for one share of clones, term by term, in double precision and by sums over outcomes: nothing shared."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

GRID = np.linspace(-8.5, 9.5, 181)


def masses(centre: float) -> np.ndarray:
    """Of the cells, by the smaller tail."""
    x = GRID - centre
    return np.asarray(np.where(x[:-1] > 0, norm.sf(x[:-1]) - norm.sf(x[1:]), np.diff(norm.cdf(x))))


def one_of(rounds: int, shift: float, gamma: float, order: str) -> float:
    """The profile of one of 1, 2 or 3 rounds, over all outcomes."""
    q = masses(0.0)
    ratio = masses(shift) / q
    mean, mass = ratio, q
    for done in range(1, rounds):
        mean = np.add.outer(done * mean, ratio) / (done + 1)
        mass = np.multiply.outer(mass, q)
    gain = mean - gamma if order == "remove" else 1 - gamma * mean
    return float((mass * np.maximum(gain, 0.0)).sum())


def revealed(mass: float, shift: float, gamma: float, order: str) -> float:
    """R: the best test of that size without the unit."""
    if order == "remove":  # all above the larger of two thresholds
        start = max(norm.isf(min(mass, 1.0)), math.log(gamma) / shift + shift / 2)
        return float(norm.sf(start - shift) - gamma * norm.sf(start))
    end = min(norm.ppf(min(mass, 1.0)), -math.log(gamma) / shift + shift / 2)
    return float(norm.cdf(end) - gamma * norm.cdf(end - shift))


def bound(share: float, failing: float, batches: int, shift: float, gamma: float, order: str) -> float:
    """The right side of (S'), without a cap, for up to three batches."""
    total = 0.0
    for clones in range(batches):
        weight = math.comb(batches - 1, clones) * share**clones
        weight *= (1 - share + share * failing) ** (batches - 1 - clones)
        for failed in range(clones + 1):
            part = math.comb(clones, failed) * (max(clones - 1, 0) * failing) ** failed
            total += weight * part * one_of(clones + 1 - failed, shift, gamma, order)
        total += weight * revealed(clones * failing, shift, gamma, order)
    return total
