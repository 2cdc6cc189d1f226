"""Gaussian differential privacy: exact for Gaussian rounds, a central-limit estimate for sampled ones.

`supports`, `epsilon` and `delta` make the accountant "gdp-clt". For sampled rounds it is an estimate: Dong, Roth
and Su's limit theorem says what the cost tends to as rounds grow and the rate shrinks, and the finite-round cost
is often larger, so the brackets are not certified, never part of "best", and can never make a claim hold.
`error_bar` gives the interval that the Berry-Esseen theorem leaves around the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from ..bracket import Bracket
from ..losses import gaussian_rounds as gaussian
from ..pairs import Composition, GaussianPair, GaussianRound, Order, Pair, Sampling, ZeroOutPair

METHOD = "gdp-clt"

_EQUAL_ROUNDS, _UNEQUAL_ROUNDS = 0.4690, 0.5583
"""Berry-Esseen constants for identical and for any independent summands: Shevtsova 2013, "On the absolute constants
in the Berry-Esseen inequality and its structural and nonuniform improvements"."""


def gdp_epsilon(mu: float, delta: float) -> Bracket:
    """The exact epsilon of a mu-GDP mechanism: Dong, Roth, Su 2022, arXiv 1905.02383, Corollary 2.13."""
    return gaussian.epsilon(((GaussianPair(mu), 1),), delta)


def gdp_delta(mu: float, epsilon: float) -> Bracket:
    """The exact delta of a mu-GDP mechanism at epsilon, from the same corollary."""
    return gaussian.delta(((GaussianPair(mu), 1),), epsilon)


def bu_mu(noise_multiplier: float, sampling_rate: float, rounds: float) -> float:
    """The limit under Poisson sampling, add-remove: rate sqrt(T (e^(1/z^2) - 1)).

    Bu, Dong, Long, Su 2020, arXiv 1911.11607, section 3 ("Deep learning with Gaussian differential privacy").
    """
    return sampling_rate * math.sqrt(rounds * math.expm1(noise_multiplier**-2))


def dong_mu(noise_multiplier: float, sampling_rate: float, rounds: float) -> float:
    """The limit under uniform sampling of a fixed size, replace-one with sensitivity 1:
    sqrt(2) rate sqrt(T) sqrt(e^(1/z^2) Phi(3/(2z)) + 3 Phi(-1/(2z)) - 2).

    Dong, Roth, Su 2022, arXiv 1905.02383, Corollary 5.4; its pair is the hybrid pair.
    """
    move = 1 / noise_multiplier
    return math.sqrt(rounds * _hybrid_variance(move)) * sampling_rate


def _hybrid_variance(shift: float) -> float:
    return 2 * (math.exp(shift * shift) * float(ndtr(1.5 * shift)) + 3 * float(ndtr(-0.5 * shift)) - 2)


def _zeroed_variance(pair: ZeroOutPair) -> float:
    """By the same expansion: E[(e^a - e^b)^2] with a and b the losses of N(2 shift) and N(shift) against N(0). Of a
    zeroed pair where a > b only, and half of the hybrid pair's, for the losses below 0."""
    shift = pair.shift
    if shift > 13:
        return math.inf
    terms = ((4, 2.5, 1), (2, 1.5, -2), (1, 0.5, 1))
    if pair.attained:
        return math.fsum(sign * math.exp(k * shift * shift) for k, _, sign in terms)
    above = math.fsum(sign * math.exp(k * shift * shift) * float(ndtr(x * shift)) for k, x, sign in terms)
    return above + _hybrid_variance(shift) / 2


def supports(composition: Composition) -> bool:
    """Gaussian rounds, sampled or not, with a hidden coin."""
    return all(
        _zeroed(pair) is not None or ((noise := pair.gaussian()) is not None and noise.coin != Sampling.VISIBLE)
        for pair, _ in composition
    )


def clt_mu(composition: Composition) -> float:
    """sqrt(sum of rounds times the limit's mu^2 per round); infinite where the limit overflows."""
    total = 0.0
    for pair, rounds in composition:
        total += rounds * _mu_squared(pair)
    return math.sqrt(total)


def _mu_squared(pair: Pair) -> float:
    """One round's share of the limit's mu^2, as the rate tends to 0; for "replace" by the same expansion:
    rate^2 E[(e^L+ - e^L-)^2] = 4 rate^2 sinh(shift^2)."""
    if (zeroed := _zeroed(pair)) is not None:
        return zeroed.rate**2 * _zeroed_variance(zeroed)
    noise = _hidden_noise(pair)
    shift = noise.shift
    if noise.coin is None:
        return shift**2
    if shift > 26:
        return math.inf
    variance = {
        Sampling.REMOVE: math.expm1(shift * shift),
        Sampling.ADD: math.expm1(shift * shift),
        Sampling.REPLACE: 4 * math.sinh(shift * shift),
        Sampling.HYBRID: _hybrid_variance(shift),
    }[noise.coin]
    return noise.rate**2 * variance


def _zeroed(pair: Pair) -> ZeroOutPair | None:
    return pair if isinstance(pair, ZeroOutPair) else None


def _hidden_noise(pair: Pair) -> GaussianRound:
    """Raises TypeError unless it is Gaussian noise, behind no coin that is seen."""
    noise = pair.gaussian()
    if noise is None or noise.coin == Sampling.VISIBLE:
        raise TypeError(f"a Gaussian pair, sampled or not, is needed, not {pair!r}")
    return noise


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The limit's epsilon: certified for Gaussian rounds, else an estimate with both ends equal."""
    if gaussian.supports(composition):
        return gaussian.epsilon(composition, delta)
    mu = clt_mu(composition)
    value = gdp_epsilon(mu, delta).upper if mu < math.inf else math.inf
    return Bracket(value, value, False, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The limit's delta: certified for Gaussian rounds, else an estimate with both ends equal."""
    if gaussian.supports(composition):
        return gaussian.delta(composition, epsilon)
    mu = clt_mu(composition)
    value = gdp_delta(mu, epsilon).upper if mu < math.inf else 1.0
    return Bracket(value, value, False, METHOD)


@dataclass(frozen=True, slots=True)
class LossMoments:
    """Mean, variance and third absolute central moment of a round's privacy loss under P, in double precision."""

    mean: float
    variance: float
    third: float


def loss_moments(pair: Pair) -> LossMoments:
    """Moments of log(dP/dQ) under P. The trapezoidal rule over 14 standard deviations; an estimate, not a bound."""
    if (zeroed := _zeroed(pair)) is not None:
        losses, masses = _zeroed_law(zeroed)
    elif (noise := _hidden_noise(pair)).coin is None:
        absolute_third = 2 * math.sqrt(2 / math.pi)
        return LossMoments(noise.shift**2 / 2, noise.shift**2, absolute_third * noise.shift**3)
    else:
        losses, masses = _loss_law(noise)
    mean = float(np.sum(masses * losses))
    centred = losses - mean
    return LossMoments(mean, float(np.sum(masses * centred**2)), float(np.sum(masses * np.abs(centred) ** 3)))


def _loss_law(noise: GaussianRound) -> tuple[np.ndarray, np.ndarray]:
    """Values of the loss and their masses under P, on a fine grid of the noise behind a coin."""
    shift, rate = noise.shift, noise.rate
    y = np.linspace(-shift - 14, shift + 14, 40_001)
    mass = np.exp(-y * y / 2) / math.sqrt(2 * math.pi) * (y[1] - y[0])
    with np.errstate(over="ignore"):
        up, down = (np.log1p(rate * np.expm1(sign * shift * y - shift * shift / 2)) for sign in (1, -1))
    if noise.coin == Sampling.REMOVE:
        return up, mass * np.exp(up)
    if noise.coin == Sampling.ADD:
        return -up, mass
    if noise.coin == Sampling.REPLACE:
        return up - down, mass * np.exp(up)
    above = y > shift / 2
    losses = np.concatenate((up[above], -up[above], [0.0]))
    masses = np.concatenate((mass[above] * np.exp(up[above]), mass[above], [0.0]))
    masses[-1] = 1 - float(np.sum(masses))
    return losses, masses


def _zeroed_law(pair: ZeroOutPair) -> tuple[np.ndarray, np.ndarray]:
    """The same for these pairs: y = 0 is where the substitute's contribution is."""
    s, rate = pair.shift, pair.rate
    y = np.linspace(-14, 2 * s + 14, 40_001)
    mass = np.exp(-y * y / 2) / math.sqrt(2 * math.pi) * (y[1] - y[0])
    with np.errstate(over="ignore"):
        unit, zero = (np.log1p(rate * np.expm1(k * s * y - (k * s) ** 2 / 2)) for k in (2, 1))
    losses, p, q = unit - zero, mass * np.exp(unit), mass * np.exp(zero)
    if not pair.attained:
        above, below = y > 1.5 * s, y > 0.5 * s
        losses = np.concatenate((losses[above], -zero[below], [0.0]))
        p, q = (
            np.concatenate((p[above], mass[below], [0.0])),
            np.concatenate((q[above], mass[below] * np.exp(zero[below]), [0.0])),
        )
        p[-1] = q[-1] = 1 - float(np.sum(p))
    return (losses, p) if pair.order == Order.REMOVE else (-losses, q)


def error_bar(composition: Composition, epsilon: float) -> Bracket:
    """The interval around a normal loss that the Berry-Esseen theorem allows for delta at epsilon.

    delta(eps) = integral over t > eps of e^(eps - t) P[L > t] dt, so replacing the law of the total loss L by
    the normal one of the same mean and variance moves delta by at most the Kolmogorov distance between them,
    0.469 (0.5583 for unequal rounds) sum of third moments / variance^1.5. Marked uncertified because the moments
    are computed in plain double precision. Raises TypeError for pairs that `supports` refuses.
    """
    moments = [(loss_moments(pair), rounds) for pair, rounds in composition]
    mean, variance, third = (
        math.fsum(rounds * getattr(m, name) for m, rounds in moments) for name in ("mean", "variance", "third")
    )
    constant = _EQUAL_ROUNDS if len(composition) == 1 else _UNEQUAL_ROUNDS
    distance = constant * third / variance**1.5
    centre = _normal_delta(mean, variance, epsilon)
    return Bracket(max(0.0, centre - distance), min(1.0, centre + distance), False, "berry-esseen")


def _normal_delta(mean: float, variance: float, epsilon: float) -> float:
    """E[(1 - e^(eps - L))_+] for L normal: Phi(-u) - e^(-u^2/2) erfcx((u + sd)/sqrt 2)/2, u = (eps - mean)/sd."""
    deviation = math.sqrt(variance)
    u = (epsilon - mean) / deviation
    if u + deviation < 0:
        return float(ndtr(-u)) - math.exp(epsilon - mean + variance / 2 + float(log_ndtr(-u - deviation)))
    return float(ndtr(-u)) - math.exp(-u * u / 2) * float(erfcx((u + deviation) / math.sqrt(2))) / 2
