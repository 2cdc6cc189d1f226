"""Exponentials and logarithms of fractions, and the profile of Gaussian noise, to a stated side by balls."""

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


def delta_is_enough(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) at mu = sqrt(2 rho), for certain.

    What is shown with a cost of rho is more than zCDP: on the neighbour the mechanism is the same function of Gaussian
    noise moved by s, with sum s^2 / scale^2 <= mu^2 = 2 rho, so that no attack does better than telling N(0, 1) from
    N(mu, 1): mu-GDP (Dong, Roth, Su 2019, arXiv 1905.02383, Theorem 2.7); where shifts hang on what was released
    before, by the filter of Smith, Thakurta 2022 (arXiv 2210.17520). Its profile is that of Balle, Wang 2018 (arXiv
    1805.06530, Theorem 8).
    """
    if rho == 0:
        return True
    mu, at = ball(2 * rho).sqrt(), ball(epsilon)
    value = _normal(mu / 2 - at / mu) - at.exp() * _normal(-mu / 2 - at / mu)
    return bool(value <= ball(delta))


def _normal(x: Any) -> Any:
    """The distribution function of N(0, 1)."""
    return (-x / arb(2).sqrt()).erfc() / 2
