"""A label as smooth as the noise: an outcome x gets it with chance Phi((x - at) / blur)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import wofz

from ....mechanisms.arrays import Complex, Floats

FADDEEVA = 400.0
"""Accuracy, in UNITs, assumed of scipy's wofz on the half plane Im >= 0 (measured in
tests/accounting/measures/densities/test_rare.py)."""


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
