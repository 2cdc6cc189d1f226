"""The excess x^beta - 1 - beta (x - 1) of a power over its tangent at 1, without cancellation and in logarithms.

Every moment of a likelihood ratio x with E[x] = 1 is 1 plus the mean of this non-negative function, so summing
it keeps full relative accuracy where the moment itself is 1 + 1e-14 (docs/theory/rdp.md, section "Excess").
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats

_SERIES_BELOW = 0.05
_SERIES_TERMS = 14
_FAR = 600.0
"""Powers above e^600 are kept as logarithms."""


def log_mixture(rate: float, log_ratio: Floats) -> Floats:
    """log(1 - rate + rate e^z): the logarithm of the sampled likelihood ratio."""
    change = rate * np.expm1(np.minimum(log_ratio, _FAR))
    near = np.log1p(np.clip(change, -0.5, 0.5))
    far = np.logaddexp(math.log1p(-rate), math.log(rate) + log_ratio)
    result: Floats = np.where(np.abs(change) < 0.5, near, far)
    return result


def log_excess(power: float, log_x: Floats, change: Floats) -> Floats:
    """log(x^power - 1 - power (x - 1)) for power > 1 or power < 0; -inf where x = 1.

    log_x: log x. change: x - 1, only read where it lies in (-0.5, 0.5), where it must be accurate to its last
    digits. The absolute error of the result is at most 2^-53 times
    32 (1 + |result| + (|power| + 1)(1 + e)), e the error of log_x in units of 2^-53
    (measured against 60 digits: tests/accounting/renyi/test_excess.py).
    """
    step = np.where(np.abs(change) < 0.5, change, np.expm1(np.minimum(log_x, _FAR)))
    exponent = np.minimum(power * log_x, _FAR)
    with np.errstate(divide="ignore"):
        near = np.log(np.maximum(np.where(_is_small(power, step), _series(power, step), 0.0), 0.0))
        direct = np.log(np.maximum(_direct(power, np.minimum(log_x, _FAR), exponent, step), 0.0))
    result = np.where(_is_small(power, step), near, direct)
    return np.where(np.maximum(log_x, power * log_x) > _FAR, _far(power, log_x), result)


def _is_small(power: float, step: Floats) -> NDArray[np.bool_]:
    small: NDArray[np.bool_] = np.abs(step) * (abs(power) + 2.0) < _SERIES_BELOW
    return small


def _series(power: float, step: Floats) -> Floats:
    """sum over k >= 2 of binom(power, k) step^k; each term is less than 0.05 of the one before."""
    small = np.clip(step, -_SERIES_BELOW / (abs(power) + 2.0), _SERIES_BELOW / (abs(power) + 2.0))
    term = 0.5 * power * (power - 1.0) * small * small
    total = term.copy()
    for k in range(2, _SERIES_TERMS):
        term = term * (power - k) / (k + 1.0) * small
        total = total + term
    return total


def _direct(power: float, log_x: Floats, exponent: Floats, step: Floats) -> Floats:
    """The closed form that keeps its digits when the power is near 1 (first) or near 0 (second)."""
    if power > 0:
        gain = np.expm1(np.minimum((power - 1.0) * log_x, _FAR - log_x))
        result: Floats = (1.0 + step) * gain - (power - 1.0) * step
    else:
        result = np.expm1(exponent) - power * step
    return result


def _far(power: float, log_x: Floats) -> Floats:
    """Where x or x^power exceeds e^600, the constants 1 and |power| are left out: upward, below a rounding."""
    if power < 0:
        result: Floats = np.where(log_x > 0, math.log(-power) + log_x, power * log_x)
        return result
    gain = (power - 1.0) * np.abs(log_x)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.log(np.expm1(np.minimum(gain, 40.0)) - (power - 1.0))
    return log_x + np.where(gain > 40.0, gain, middle)
