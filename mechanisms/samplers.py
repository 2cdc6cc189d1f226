"""Noise without floating-point leaks: exact discrete Laplace and Gaussian, and a Gaussian on a fixed grid.

Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Algorithms 1 to 3: rejection samplers on whole numbers and
exact fractions, so that the output has exactly the stated distribution, not one close to it. Textbook
floating-point noise is not safe: its low-order bits show the value underneath (Mironov 2012).
"""

from __future__ import annotations

import math
from fractions import Fraction

from .randomness import BitSource, SecureSource
from .validate import InputError, number, positive

_SECURE = SecureSource()


def discrete_laplace(scale: float | Fraction, source: BitSource = _SECURE) -> int:
    """One sample of P[x] proportional to exp(-|x| / scale) on the integers (Algorithm 2).

    scale: above 0; a float stands for the exact fraction that it is.
    """
    exact = _fraction("scale", scale)
    return _laplace(exact.numerator, exact.denominator, source)


def discrete_gaussian(sigma: float | Fraction, source: BitSource = _SECURE) -> int:
    """One sample of P[x] proportional to exp(-x^2 / (2 sigma^2)) on the integers (Algorithm 3).

    sigma: above 0; a float stands for the exact fraction that it is.
    """
    variance = _fraction("sigma", sigma) ** 2
    scale = math.isqrt(variance.numerator // variance.denominator) + 1  # floor(sigma) + 1
    while True:
        candidate = _laplace(scale, 1, source)
        excess = abs(candidate) - variance / scale
        if _bernoulli_exp(excess * excess / (2 * variance), source):
            return candidate


class GridGaussian:
    """Gaussian noise that is safe to release: value and noise are whole multiples of one grid step.

    The grid is the largest power of two at most sigma * 2^-resolution_bits. Outputs are grid multiples whatever
    the input, so low-order bits carry nothing; the distribution is exactly DiscreteGaussian(sigma / grid).
    Rounding two inputs that are s apart leaves them at most s + grid apart: account for that sensitivity.
    """

    def __init__(self, sigma: float, resolution_bits: int = 20, source: BitSource = _SECURE) -> None:
        positive("sigma", sigma)
        if not 1 <= resolution_bits <= 50:
            raise InputError("resolution_bits", resolution_bits, "a whole number from 1 to 50")
        self.grid = 2.0 ** (math.frexp(sigma)[1] - 1 - resolution_bits)
        if self.grid == 0.0 or math.isinf(sigma / self.grid):
            raise InputError("sigma", sigma, "a number whose grid step is a positive float")
        self.sigma = sigma
        self._source = source

    def release(self, value: float) -> float:
        """The value, rounded to the grid, plus noise; exact as long as the result is below 2^53 grid steps."""
        steps = round(Fraction(number("value", value)) / Fraction(self.grid))
        noise = discrete_gaussian(Fraction(self.sigma) / Fraction(self.grid), self._source)
        return float((steps + noise) * Fraction(self.grid))


def _fraction(field: str, value: float | Fraction) -> Fraction:
    if isinstance(value, Fraction):
        if value <= 0:
            raise InputError(field, value, "a number above 0")
        return value
    return Fraction(positive(field, value))


def _laplace(numerator: int, denominator: int, source: BitSource) -> int:
    """Discrete Laplace with scale numerator / denominator: a geometric magnitude and a sign, -0 rejected."""
    while True:
        low = source.below(numerator)
        if not _bernoulli_exp(Fraction(low, numerator), source):
            continue
        high = 0
        while _bernoulli_exp(Fraction(1), source):
            high += 1
        magnitude = (low + numerator * high) // denominator
        negative = source.below(2) == 1
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


def _bernoulli_exp(exponent: Fraction, source: BitSource) -> bool:
    """True with probability exp(-exponent), exponent at least 0 (Algorithm 1)."""
    while exponent > 1:
        if not _bernoulli_exp(Fraction(1), source):
            return False
        exponent -= 1
    trials = 1
    while source.below(exponent.denominator * trials) < exponent.numerator:
        trials += 1
    return trials % 2 == 1
