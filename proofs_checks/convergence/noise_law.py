"""Whether numbers are the Gaussian noise that a run was told to add."""

from __future__ import annotations

from scipy.stats import chi2

from ...mechanisms.arrays import Floats

CHANCE = 1e-7
"""The probability of accusing right noise."""

ENOUGH = 64
"""So many numbers of three times the deviation, or of none, pass with a probability below 1e-9."""


def right_noise(noise: Floats, deviation: float, rounding: float = 0.0) -> bool:
    """A chi-square test of both sides that the numbers' variance is deviation^2.

    Of deviation 0, that none of them is beyond `rounding`.
    """
    if deviation == 0:
        return bool(abs(noise).max() <= rounding)
    total = float((noise**2).sum()) / deviation**2
    return bool(chi2.isf(1 - CHANCE / 2, noise.size) <= total <= chi2.isf(CHANCE / 2, noise.size))
