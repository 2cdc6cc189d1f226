"""A label as smooth as the noise: an outcome x gets it with chance Phi((x - at) / blur)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import wofz

from ....mechanisms.arrays import Complex, Floats
from ...bracket import OutOfReach

FADDEEVA = 400.0
"""Accuracy, in UNITs, assumed of scipy's wofz on the half plane Im >= 0 (measured in
tests/accounting/losses/smooth/test_rare.py)."""

_MOST_RATIO = 0.5


def log_label(x: Floats, height: float, at: float, blur: float) -> tuple[Complex, Floats]:
    """log Phi((x + i height - at) / blur), and its error in UNITs. A negative blur is for outcomes without a label."""
    z = np.empty(x.shape, dtype=np.complex128)
    z.real, z.imag = -(x - at) / (blur * math.sqrt(2.0)), -height / (blur * math.sqrt(2.0))
    below = z.real >= 0.0
    z = np.where(below, z, -z)
    scaled = 0.5 * wofz(1j * z)
    tail = np.exp(-z * z) * scaled
    log = np.where(below, np.log(scaled) - z * z, np.log(1.0 - np.where(below, 0.0, tail)))
    units = FADDEEVA + 16.0 + 16.0 * np.abs(z) ** 2
    error = np.where(below, units, (units * np.abs(tail) + 2.0) / np.abs(1.0 - tail))
    return log, error + 8.0 * np.abs(log)


def log_between(x: Floats, height: float, ends: tuple[float, float], blur: float) -> tuple[Complex, Floats]:
    """log of the chance of a label at the first end and of none at the second, by one and the same coin, and its error
    in UNITs: Phi((x + i height - first) / blur) - Phi((x + i height - second) / blur), for increasing x."""
    first, second = ends
    half = int(np.searchsorted(x, 0.5 * (first + second)))
    left, right = x[:half], x[half:]
    parts = (
        _less(log_label(left, height, first, blur), log_label(left, height, second, blur)),
        _less(log_label(right, height, second, -blur), log_label(right, height, first, -blur)),
    )
    log, error = (np.concatenate(each) for each in zip(*parts, strict=True))
    return log, error


def _less(large: tuple[Complex, Floats], small: tuple[Complex, Floats]) -> tuple[Complex, Floats]:
    """log of the difference of what is given by logarithms and their errors in UNITs."""
    ratio = np.exp(small[0] - large[0])
    size = np.abs(ratio)
    if np.max(size, initial=0.0) > _MOST_RATIO:
        raise OutOfReach("two labels are too near to each other")
    inexact = size * (large[1] + small[1] + 8.0 * np.abs(small[0] - large[0]) + 8.0) / (1.0 - size)
    log: Complex = large[0] + np.log(1.0 - ratio)
    return log, large[1] + 1.01 * inexact + 8.0 * np.abs(log) + 8.0
