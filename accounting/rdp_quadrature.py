"""Gauss-Legendre quadrature of an analytic, positive integrand with a proven error bound.

On a panel of half-width H the n-point rule errs by at most H (64/15) B rho^(-2n) / (1 - rho^-2), where B bounds
the modulus of the integrand on the Bernstein ellipse rho around the panel (Trefethen, Approximation Theory and
Approximation Practice, 2013, Theorem 19.3). The ellipse lies in a rectangle, on which the integrand says how
large it can get.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

from .rdp_excess import Array

_RHO = 8.0
_NODES = 24
_LOG_RULE_ERROR = math.log(64 / 15) - 2 * _NODES * math.log(_RHO) - math.log1p(-(_RHO**-2))
_HEIGHT = (_RHO - 1 / _RHO) / 2
_REACH = (_RHO + 1 / _RHO) / 2
_WIDEST = 0.5
_MOST_PANELS = 20_000
_ENOUGH = 50 * math.log(2)
_NEGLIGIBLE = 45.0


class Integrand(Protocol):
    """A positive function of a real variable with an analytic continuation."""

    @property
    def tallest(self) -> float:
        """Largest height above the real line at which `log_bound` may be asked."""

    def log_value(self, at: Array) -> Array:
        """log of the integrand."""

    def log_rounding(self, at: Array, log_value: Array) -> Array:
        """Bound on the absolute rounding error of log_value."""

    def log_bound(self, left: Array, right: Array, height: float) -> Array:
        """log of a bound on the modulus for real parts in [left, right] and imaginary parts up to height."""


@cache
def _rule() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def log_integral_upper(integrand: Integrand, low: float, high: float) -> float:
    """log of an upper bound on the integral from low to high; inf when that would take too many panels.

    The panels are halved until the proven error is below 2^-50 of the value, or no further than is affordable:
    the error bound is added in any case, so the result is always an upper bound.
    """
    if high <= low:
        return -math.inf
    half_width = min(_WIDEST, integrand.tallest / _HEIGHT)
    value = error = math.inf
    while (high - low) / (2 * half_width) <= _MOST_PANELS:
        value, error = _composite(integrand, low, high, math.ceil((high - low) / (2 * half_width)))
        if error < value - _ENOUGH or value == -math.inf:
            break
        half_width /= 2
    return float(np.logaddexp(value, error))


def _composite(integrand: Integrand, low: float, high: float, panels: int) -> tuple[float, float]:
    """(log of the rounded-up sum, log of the bound on the quadrature error)."""
    half = (high - low) / (2 * panels)
    middles: Array = low + half * (2 * np.arange(panels, dtype=np.float64) + 1)
    nodes, weights = _rule()
    at = (middles[:, None] + half * nodes).ravel()
    value = integrand.log_value(at)
    terms = value + np.log(np.tile(weights, panels))
    top = float(np.max(terms))
    if top == -math.inf:
        return -math.inf, -math.inf
    counted = terms > top - _NEGLIGIBLE
    slack = float(np.max(integrand.log_rounding(at[counted], value[counted])))
    slack += len(terms) * (2.0**-52 + math.exp(-_NEGLIGIBLE))
    left: Array = middles - half * _REACH
    right: Array = middles + half * _REACH
    bound = integrand.log_bound(left, right, half * _HEIGHT)
    log_half = math.log(half)
    return float(logsumexp(terms)) + log_half + slack, float(logsumexp(bound)) + log_half + _LOG_RULE_ERROR
