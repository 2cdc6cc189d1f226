"""DPFedMTL's Algorithm 1, one round, as printed and as corrected.

As printed: K of M clients each add N(0, sigma^2 S^2) to their gradient, S = 2 C K / M, and the server averages;
Lemma 4.2 claims (1/sigma)-GDP for a participating client. Replacing one client moves the average by 2C/K, the
noise on it is sigma S / sqrt K: mu = M / (sigma K^1.5), which exceeds 1/sigma whenever M > K^1.5. Besides, the
algorithm contains no clipping. Corrected: clipped, and S = 2C.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from ....mechanisms.arrays import Floats

POPULATION, COHORT, CLIP, SIGMA = 174, 3, 1.0, 9.69
"""The FEMNIST setting of the paper at its largest noise."""


def _round(gradients: Sequence[float], rng: Generator, size: int, sensitivity: float) -> Floats:
    noise = rng.normal(0.0, SIGMA * sensitivity, (size, COHORT))
    return np.asarray((np.asarray(gradients, float)[None, :COHORT] + noise).mean(axis=1), float)


def as_printed(gradients: Sequence[float], rng: Generator, size: int) -> Floats:
    """Algorithm 1, with S = 2 C K / M (Lemma 4.1) and without clipping."""
    return _round(gradients, rng, size, 2 * CLIP * COHORT / POPULATION)


def corrected(gradients: Sequence[float], rng: Generator, size: int) -> Floats:
    """Clipped, and with S = 2C."""
    return _round(np.clip(gradients, -CLIP, CLIP).tolist(), rng, size, 2 * CLIP)
