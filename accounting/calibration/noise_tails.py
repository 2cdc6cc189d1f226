"""How likely noise is to be farther from 0 than a distance, in balls: one function for each kind of noise.

`tail.register(Mechanism, ...)` with tail(mechanism, distance, unit): P[|noise| > distance], `unit` what the mechanism's
own numbers are multiples of (the clip bound; 1 for noise on a grid of integers).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch

from flint import arb, fmpq

from ...mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Skellam,
    Staircase,
    TruncatedLaplace,
)

ON_A_GRID = (DiscreteGaussian, DiscreteLaplace, Skellam)
"""Noise that is a whole number."""

SUMMED = 1000.0
"""Up to this deviation the masses on a grid are summed one by one; above, sums are held between integrals."""


@singledispatch
def tail(mechanism: Mechanism, distance: float, unit: float) -> arb:
    """P[|noise| > distance]. Raises InputError for a mechanism that does not add noise whose law is known."""
    expected = "noise that is added to a number: Gaussian, Laplace, TruncatedLaplace, Staircase, DiscreteGaussian, "
    raise InputError("mechanism", mechanism, expected + "DiscreteLaplace or Skellam")


@tail.register
def _(noise: Gaussian, distance: float, unit: float) -> arb:
    return (exact(distance) / (exact(noise.noise_multiplier) * exact(unit) * arb(2).sqrt())).erfc()


@tail.register
def _(noise: Laplace, distance: float, unit: float) -> arb:
    return (-exact(distance) / (exact(noise.noise_multiplier) * exact(unit))).exp()


@tail.register
def _(noise: TruncatedLaplace, distance: float, unit: float) -> arb:
    bound = exact(noise.bound) * exact(unit)
    if exact(distance) >= bound:
        return arb(0)
    scale = exact(noise.noise_multiplier) * exact(unit)
    beyond = (-bound / scale).exp()
    return ((-exact(distance) / scale).exp() - beyond) / (1 - beyond)


@tail.register
def _(noise: Staircase, distance: float, unit: float) -> arb:
    """Geng, Viswanath 2014 (arXiv 1212.1186), equation (7): from a step to the next the density falls by e^-epsilon."""
    steps = exact(distance) / exact(unit)
    whole = int(float(steps.mid()))
    while steps < whole:
        whole -= 1
    fall, gamma = (-exact(noise.epsilon)).exp(), exact(noise.gamma)
    inside = (steps - whole).max(arb(0)).min(arb(1))
    first = inside.min(gamma)
    share = (first + fall * (inside - first)) / (gamma + fall * (1 - gamma))
    return fall**whole * (1 - (1 - fall) * share)


@tail.register
def _(noise: DiscreteLaplace, distance: float, unit: float) -> arb:
    fall = (-1 / exact(noise.scale)).exp()
    return 2 * fall ** (math.floor(distance) + 1) / (1 + fall)


@tail.register
def _(noise: DiscreteGaussian, distance: float, unit: float) -> arb:
    """Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Definition 1."""
    whole, sigma = math.floor(distance), exact(noise.sigma)
    if noise.sigma > SUMMED:
        return 2 * _between_integrals(sigma, whole) / _whole_sum(sigma)
    last = whole + math.ceil(20 * noise.sigma) + 2
    halves = [(-(arb(k) ** 2) / (2 * sigma**2)).exp() for k in range(last + 1)]
    rest = _between_integrals(sigma, last)
    inside, outside = sum(halves[1 : whole + 1], arb(0)), sum(halves[whole + 1 :], rest)
    return 2 * outside / (halves[0] + 2 * (inside + outside))


def _between_integrals(sigma: arb, whole: int) -> arb:
    """The sum of e^{-k^2/(2 sigma^2)} over k > whole, between the integrals from whole + 1 and from whole on."""
    low, high = (
        sigma * (arb.pi() / 2).sqrt() * (start / (sigma * arb(2).sqrt())).erfc() for start in (whole + 1, whole)
    )
    return low.union(high)


def _whole_sum(sigma: arb) -> arb:
    """The sum over all whole k, by Poisson's summation: sigma sqrt(2 pi) and hardly more."""
    more = 3 * (-2 * (arb.pi() * sigma) ** 2).exp()
    return sigma * (2 * arb.pi()).sqrt() * arb(1).union(1 + more)


@tail.register
def _(noise: Skellam, distance: float, unit: float) -> arb:
    """The difference of two Poisson variables of mean variance/2 each: P[k] = e^-variance I_k(variance)."""
    variance = exact(noise.variance)
    inside = [variance.bessel_i(k, scaled=True) for k in range(math.floor(distance) + 1)]
    return (1 - inside[0] - 2 * sum(inside[1:], arb(0))).max(arb(0))


def exact(number: float) -> arb:
    """The decimal that is written."""
    written = Fraction(repr(float(number)))
    return arb(fmpq(written.numerator, written.denominator))
