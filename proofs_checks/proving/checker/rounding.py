"""Exponentials and logarithms of fractions, rounded to a stated side by ball arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

BITS = 200


def ball(value: Fraction) -> Any:
    """The fraction as a ball, and balls as fine from here on."""
    ctx.prec = BITS
    return arb(fmpq(value.numerator, value.denominator))


def exponential_down(value: Fraction) -> Fraction:
    """e^value, rounded down, and never below 1 + value, which it is at least."""
    return max(1 + value, _middle(ball(value).exp().lower()))


def logarithm_up(value: Fraction) -> Fraction:
    """log(value), rounded up."""
    return _middle(ball(value).log().upper())


def _middle(point: Any) -> Fraction:
    """The exact value of a ball without radius."""
    mantissa, exponent = point.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
