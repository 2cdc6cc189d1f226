"""How likely a number is to be farther from the truth than a distance, in balls: one function per kind of noise.

`tail.register(Mechanism, ...)` with tail(mechanism, distance): P[|error| > distance], in units of what the mechanism's
own numbers are multiples of (the clip bound; the sensitivity of noise in a public range; 1 for noise on a grid).
Where the noise depends on the truth, the largest such probability of all truths in the range (`worst_truth` says of
which).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

from flint import acb, arb, ctx, fmpq

from ...mechanisms import (
    BoundedLaplace,
    ClampedGaussian,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributedDiscreteGaussian,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Skellam,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
)

ON_A_GRID = (DiscreteGaussian, DiscreteLaplace, DistributedDiscreteGaussian, Skellam)
"""Noise that is a whole number."""

IN_A_RANGE = (BoundedLaplace, ClampedGaussian, TruncatedGaussian)
"""Noise that keeps a number within a public range: how large it is depends on where in the range the truth lies."""

_LEFT_OUT = 90
"""-log of the mass that a circle of whole numbers may hold twice."""


@singledispatch
def tail(mechanism: Mechanism, distance: Fraction) -> arb:
    """P[|error| > distance]. Raises InputError for a mechanism that does not add noise whose law is known."""
    expected = (
        "noise that is added to a number: Gaussian, Laplace, TruncatedLaplace, Staircase, BoundedLaplace, "
        "ClampedGaussian, TruncatedGaussian, DiscreteGaussian, DiscreteLaplace, Skellam or DistributedDiscreteGaussian"
    )
    raise InputError("mechanism", mechanism, expected)


@tail.register
def _(noise: Gaussian, distance: Fraction) -> arb:
    return _normal(noise.noise_multiplier, distance)


@tail.register
def _(noise: Laplace, distance: Fraction) -> arb:
    return (-exact(distance) / exact(noise.noise_multiplier)).exp()


@tail.register
def _(noise: TruncatedLaplace, distance: Fraction) -> arb:
    return _of_noise_at_most(noise.bound, distance, lambda place: tail(Laplace(noise.noise_multiplier), place))


@tail.register
def _(noise: BoundedLaplace, distance: Fraction) -> arb:
    return _of_noise_at_most(noise.width, distance, lambda place: tail(Laplace(noise.scale), place))


@tail.register
def _(noise: TruncatedGaussian, distance: Fraction) -> arb:
    return _of_noise_at_most(noise.width, distance, lambda place: _normal(noise.sigma, place))


@tail.register
def _(noise: ClampedGaussian, distance: Fraction) -> arb:
    """To either side the noise shows where the range goes on for more than the distance: to both from some truth only
    in a range of more than twice the distance."""
    sides = sum(times * distance < decimal(noise.width) for times in (1, 2))
    return _normal(noise.sigma, distance) * sides / 2


def _normal(sigma: float, distance: Fraction) -> arb:
    return (exact(distance) / (exact(sigma) * arb(2).sqrt())).erfc()


def _of_noise_at_most(most: float, distance: Fraction, untruncated: Callable[[Fraction], arb]) -> arb:
    """Of noise that is drawn anew until it is at most `most`; or until the output is in a range of that width, and then
    this is the worst truth's, one at an end of the range (docs/theory/public_ranges.md, "How far the output is")."""
    if distance >= decimal(most):
        return arb(0)
    beyond = untruncated(decimal(most))
    return (untruncated(distance) - beyond) / (1 - beyond)


def worst_truth(mechanism: Mechanism, distance: Fraction) -> str | None:
    """Which truth in a public range `tail` is about; None where the error is the same whatever the truth."""
    if not isinstance(mechanism, IN_A_RANGE):
        return None
    inner = isinstance(mechanism, ClampedGaussian) and 2 * distance < decimal(mechanism.width)
    return "farther than this distance from both ends of the range" if inner else "at an end of the range"


def jumps(mechanism: Mechanism) -> tuple[Fraction, ...]:
    """The distances at which `tail` of a continuous error falls at once."""
    width = decimal(mechanism.width) if isinstance(mechanism, ClampedGaussian) else Fraction(0)
    return (width / 2, width) if width else ()


@tail.register
def _(noise: Staircase, distance: Fraction) -> arb:
    """Geng, Viswanath 2014 (arXiv 1212.1186), equation (7): from a step to the next the density falls by e^-epsilon."""
    whole = math.floor(distance)
    fall, gamma = (-exact(noise.epsilon)).exp(), exact(noise.gamma)
    inside = exact(distance - whole)
    first = inside.min(gamma)
    share = (first + fall * (inside - first)) / (gamma + fall * (1 - gamma))
    return fall**whole * (1 - (1 - fall) * share)


@tail.register
def _(noise: DiscreteLaplace, distance: Fraction) -> arb:
    fall = (-1 / exact(noise.scale)).exp()
    return 2 * fall ** (math.floor(distance) + 1) / (1 + fall)


@tail.register
def _(noise: DiscreteGaussian, distance: Fraction) -> arb:
    """Canonne, Kamath, Steinke 2020 (arXiv 2004.00010), Definition 1."""
    return _on_a_grid(math.floor(distance), exact(noise.sigma) ** 2, _theta(noise.sigma, 1))


@tail.register
def _(noise: DistributedDiscreteGaussian, distance: Fraction) -> arb:
    """The sum of all clients' noise: a power of one client's transform."""
    variance = noise.clients * exact(noise.sigma) ** 2
    return _on_a_grid(math.floor(distance), variance, _theta(noise.sigma, noise.clients))


@tail.register
def _(noise: Skellam, distance: Fraction) -> arb:
    """The difference of two Poisson variables of mean variance/2 each."""
    variance = exact(noise.variance)
    return _on_a_grid(math.floor(distance), variance, lambda turn: (-2 * variance * (arb.pi() * turn).sin() ** 2).exp())


def _theta(sigma: float, clients: int) -> Callable[[arb], arb]:
    """E[e^(2 pi i turn X)] of the sum of discrete Gaussians: Jacobi's third theta function, over its value at 0."""
    tau = acb(0, 1 / (2 * arb.pi() * exact(sigma) ** 2))
    whole = _third(arb(0), tau)
    return lambda turn: (_third(turn, tau) / whole) ** clients


def _third(turn: arb, tau: acb) -> arb:
    """theta_3 of a real number, whose first argument the library's types forget."""
    found: arb = acb(turn).modular_theta(tau)[2].real  # type: ignore[call-arg]
    return found


def _on_a_grid(distance: int, variance: arb, transform: Callable[[arb], arb]) -> arb:
    """P[|X| > distance], by the sum over a circle of so many whole numbers that hardly any mass is beyond.

    transform: E[e^(2 pi i turn X)], positive and falling for turns in [0, 1/2]; of what is left out from a turn on, the
    sum is at most that turn's. log E[e^(tX)] <= variance (cosh t - 1) (of discrete Gaussians: variance t^2/2, Canonne,
    Kamath, Steinke 2020, Corollary 17), so that by Bernstein's inequality P[|X| > y] <= 2 e^(-y^2/(2 variance + 2y/3)).
    """
    reach = _LEFT_OUT / 3 + math.sqrt((_LEFT_OUT / 3) ** 2 + 2 * _LEFT_OUT * float(variance.upper()))
    around = 2 * (distance + math.ceil(reach / 2)) + 1
    inside, few = arb(2 * distance + 1), arb(2) ** -ctx.prec
    for j in range(1, (around + 1) // 2):
        turn = arb(fmpq(j, around))
        each = transform(turn)
        if each * (2 * distance + 1) < few:
            inside += (around * few).union(-around * few)
            break
        inside += 2 * each * ((2 * distance + 1) * arb.pi() * turn).sin() / (arb.pi() * turn).sin()
    twice = 2 * arb(-_LEFT_OUT).exp()
    return (1 - inside / around + arb(0).union(twice)).max(arb(0))


def decimal(number: float) -> Fraction:
    """The decimal that is written."""
    return Fraction(repr(float(number)))


def exact(number: float | Fraction) -> arb:
    """The same as a ball."""
    written = number if isinstance(number, Fraction) else decimal(number)
    return arb(fmpq(written.numerator, written.denominator))
