"""A function over an interval by its Taylor polynomial about the middle: what it is everywhere, far closer than balls.

A ball of the whole interval forgets that two things that grow, grow together; the polynomial about the middle does not,
and what it leaves out is a high power of the interval's length (Makino, Berz 2003, Taylor models and other validated
functional inclusion methods, section 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from flint import arb, arb_series

from ..rounding import float_above

_DEGREE = 8
"""Of the polynomials: derivatives of noise fall like powers of the interval's length over the scale."""


class TaylorModel(NamedTuple):
    """A function's Taylor coefficients about the middle, and balls of those about every place within half of it."""

    at: arb_series
    around: arb_series
    half: arb

    @classmethod
    def of(cls, middle: arb, whole: arb, half: arb) -> TaylorModel:
        """The argument itself."""
        at, around = (arb_series([place, 1], prec=_DEGREE + 1) for place in (middle, whole))
        return cls(at, around, half)

    def mapped(self, function: Callable[..., arb_series], *others: TaylorModel) -> TaylorModel:
        """The function of this and others, with its balls made narrow."""
        at = function(self.at, *(other.at for other in others))
        if self.half == 0:
            return TaylorModel(at, at, self.half)
        around = function(self.around, *(other.around for other in others))
        return TaylorModel(at, _narrow(at, around, self.half), self.half)


def _narrow(at: arb_series, around: arb_series, half: arb) -> arb_series:
    """Each coefficient everywhere: the ball it is known in, and the polynomial about the middle, of which the highest
    coefficient alone is taken from everywhere (Lagrange's remainder)."""
    moved, last = arb(0, float_above(half)), around[_DEGREE]
    found = []
    for order in range(_DEGREE):
        polynomial = math.comb(_DEGREE, order) * last
        for degree in range(_DEGREE - 1, order - 1, -1):
            polynomial = polynomial * moved + math.comb(degree, order) * at[degree]
        known = around[order]
        both = polynomial.is_finite() and known.is_finite()
        found.append(known.intersection(polynomial) if both else polynomial if polynomial.is_finite() else known)
    return arb_series([*found, last], prec=_DEGREE + 1)
