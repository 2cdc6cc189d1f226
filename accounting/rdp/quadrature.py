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

from ...mechanisms.arrays import Floats

_RHO = 8.0
_NODES = 24
_LOG_RULE_ERROR = math.log(64 / 15) - 2 * _NODES * math.log(_RHO) - math.log1p(-(_RHO**-2))
_HEIGHT = (_RHO - 1 / _RHO) / 2
_REACH = (_RHO + 1 / _RHO) / 2
_WIDEST = 0.5
_MOST_PANELS = 4_000
_ENOUGH = 50 * math.log(2)
_NEGLIGIBLE = 45.0


class Integrand(Protocol):
    """A positive function of a real variable with an analytic continuation."""

    @property
    def singular(self) -> tuple[float, ...]:
        """Real parts of its singularities."""

    @property
    def clearance(self) -> float:
        """A height that stays clear of them even there."""

    def log_value(self, at: Floats) -> Floats:
        """log of the integrand."""

    def log_rounding(self, at: Floats, log_value: Floats) -> Floats:
        """Bound on the absolute rounding error of log_value."""

    def log_bound(self, left: Floats, right: Floats, height: Floats) -> Floats:
        """log of a bound on the modulus for real parts in [left, right] and imaginary parts up to height.

        inf where a singularity may lie there.
        """


@cache
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def log_integral_upper(integrand: Integrand, low: float, high: float) -> float:
    """log of an upper bound on the integral from low to high; inf when that would take too many panels.

    The panels are halved until the proven error is below 2^-50 of the value, or no further than is affordable:
    the error bound is added in any case, so the result is always an upper bound.
    """
    if high <= low:
        return -math.inf
    ends = _graded(low, high, integrand.singular, integrand.clearance / _HEIGHT)
    value = error = math.inf
    while ends is not None and len(ends) <= _MOST_PANELS:
        value, error = _composite(integrand, ends)
        if error < value - _ENOUGH or value == -math.inf:
            break
        ends = np.sort(np.concatenate((ends, (ends[1:] + ends[:-1]) / 2)))
    return float(np.logaddexp(value, error))


def _graded(low: float, high: float, singular: tuple[float, ...], narrowest: float) -> Floats | None:
    """Ends of panels whose width grows with the distance from the singularities, up to 2 _WIDEST; None if too many.

    At a quarter of that distance a panel's ellipse, 1.5 panel widths longer on each side, does not reach them.
    """
    if high - low > 2 * _WIDEST * _MOST_PANELS:
        return None
    ends = [low]
    while ends[-1] < high:
        if len(ends) > _MOST_PANELS:
            return None
        distance = min((abs(ends[-1] - at) for at in singular), default=math.inf)
        width = min(2 * _WIDEST, max(2 * narrowest, distance / 4))
        ends.append(min(high, ends[-1] + width))
    return np.array(ends)


def _composite(integrand: Integrand, ends: Floats) -> tuple[float, float]:
    """(log of the rounded-up sum, log of the bound on the quadrature error)."""
    half: Floats = (ends[1:] - ends[:-1]) / 2
    middle: Floats = (ends[1:] + ends[:-1]) / 2
    nodes, weights = _rule()
    at = (middle[:, None] + half[:, None] * nodes).ravel()
    value = integrand.log_value(at)
    terms = value + np.log(half[:, None] * weights).ravel()
    top = float(np.max(terms))
    if top == -math.inf:
        return -math.inf, -math.inf
    counted = terms > top - _NEGLIGIBLE
    slack = float(np.max(integrand.log_rounding(at[counted], value[counted])))
    slack += len(terms) * (2.0**-52 + math.exp(-_NEGLIGIBLE))
    left: Floats = middle - half * _REACH
    right: Floats = middle + half * _REACH
    bound = integrand.log_bound(left, right, half * _HEIGHT) + np.log(half)
    return float(logsumexp(terms)) + slack, float(logsumexp(bound)) + _LOG_RULE_ERROR
