"""An adversary of several stages who chooses each mechanism from what came out before: the worst one, by enumeration.

Outputs are put into cells, and the adversary chooses one mechanism a cell, which is an adversary that may really be
faced; so what is found is a lower bound of the worst divergence, to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr

Masses = tuple[np.ndarray, np.ndarray]  # of the cells of one release, under the two neighbours


def sampled_gaussian(noise_multiplier: float, rate: float = 1.0, *, added: bool = False, cells: int = 90) -> Masses:
    """(1 - rate) N(0, z^2) + rate N(1, z^2) against N(0, z^2), in cells; added: the other way round."""
    edges = np.concatenate([[-np.inf], np.linspace(-6 * noise_multiplier, 1 + 6 * noise_multiplier, cells), [np.inf]])
    absent, there = (np.diff(ndtr((edges - mean) / noise_multiplier)) for mean in (0.0, 1.0))
    mixed = (1 - rate) * absent + rate * there
    return (absent, mixed) if added else (mixed, absent)


def laplace(noise_multiplier: float, *, added: bool = False, cells: int = 40) -> Masses:
    """Laplace noise about 1 against about 0, in cells."""
    edges = np.concatenate([[-np.inf], np.linspace(-2.0, 3.0, cells), [np.inf]])
    there, absent = (np.diff(_laplace_below((edges - mean) / noise_multiplier)) for mean in (1.0, 0.0))
    return (absent, there) if added else (there, absent)


def _laplace_below(x: np.ndarray) -> np.ndarray:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


Gain = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""What is summed over outcomes of masses p and q: convex, and homogeneous, so that to stop is never better."""


def excess(epsilon: float) -> Gain:
    """(p - e^epsilon q)_+, for delta."""
    return lambda p, q: np.maximum(0.0, p - math.exp(epsilon) * q)


def moment(order: float) -> Gain:
    """p^a q^(1 - a), for e^((a - 1) D_a)."""
    return lambda p, q: p**order * q ** (1 - order)


def worst(stages: int, options: Callable[[tuple[int, ...]], Sequence[tuple[int, Masses]]], gain: Gain) -> float:
    """The largest sum of the gain over all adversaries of so many stages.

    options(chosen so far): what may be run next, by number; none: the adversary has to stop. Given p and q of the past,
    the future's worth is a function of log(p/q) only, so the cells of a stage are searched one by one.
    """

    def future(p: float, q: float, chosen: tuple[int, ...]) -> float:
        best = float(gain(np.float64(p), np.float64(q)))
        if len(chosen) == stages or p <= 0:
            return best
        for number, (first, second) in options(chosen):
            there, back = p * first, q * second
            if len(chosen) + 1 == stages:
                worth = float(gain(there, back).sum())
            else:
                worth = sum(future(float(a), float(b), (*chosen, number)) for a, b in zip(there, back, strict=True))
            best = max(best, worth)
        return best

    return future(1.0, 1.0, ())


Report = Sequence[tuple[float, float]]
"""By outcome, its masses under the two neighbours."""


def most_exceeded(stages: int, menu: Sequence[Report], reading: Callable[[tuple[int, ...]], float]) -> float:
    """The largest probability, over adversaries of so many stages, that the loss exceeds the reading at some moment."""

    def future(loss: float, chosen: tuple[int, ...]) -> float:
        if chosen and loss > reading(chosen):
            return 1.0
        if len(chosen) == stages:
            return 0.0
        return max(
            sum(p * future(loss + math.log(p / q), (*chosen, number)) for p, q in report)
            for number, report in enumerate(menu)
        )

    return future(0.0, ())
