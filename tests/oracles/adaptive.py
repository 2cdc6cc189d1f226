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


def worst(stages: int, options: Callable[[tuple[int, ...]], Sequence[tuple[int, Masses]]], epsilon: float) -> float:
    """The largest sum of (P - e^epsilon Q)_+ over all adversaries of so many stages.

    options(chosen so far): what may be run next, by number; none: the adversary has to stop. Given p and q of the past,
    the future's worth is a function of log(p/q) only, so the cells of a stage are searched one by one.
    """
    factor = math.exp(epsilon)

    def future(p: float, q: float, chosen: tuple[int, ...]) -> float:
        best = max(0.0, p - factor * q)
        if len(chosen) == stages or p <= 0:
            return best
        for number, (first, second) in options(chosen):
            there, back = p * first, q * second
            if len(chosen) + 1 == stages:
                worth = float(np.maximum(there - factor * back, 0.0).sum())
            else:
                worth = sum(future(float(a), float(b), (*chosen, number)) for a, b in zip(there, back, strict=True))
            best = max(best, worth)
        return best

    return future(1.0, 1.0, ())
