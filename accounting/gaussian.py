"""Accountant of plain Gaussian rounds: exact, in ball arithmetic.

T adaptive Gaussian rounds with shifts s_i compose to one Gaussian pair of shift mu = sqrt(sum T_i s_i^2)
(Dong, Roth, Su 2022, arXiv 1905.02383, Corollary 3.3), whose profile is

    delta(eps; mu) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)

(Balle, Wang 2018, arXiv 1805.06530, Theorem 8). It decreases in eps and increases in mu. The difference
cancels for small mu, so it is evaluated in balls whose precision grows until the relative radius is small:
the result is rigorous whatever libm does, and the float ends are rounded outwards.
"""

from __future__ import annotations

import math
import sys

from flint import arb, ctx

from .bracket import Bracket
from .pairs import Composition, GaussianPair
from .rounding import PARAMETER, TARGET, float_above, float_below, widened_down, widened_up

METHOD = "gaussian"

_BITS = (128, 256, 512, 1024, 4096)
_ENOUGH = 64
"""Relative accuracy, in bits, at which a ball is narrow enough to be rounded to double."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds only."""
    return all(isinstance(pair, GaussianPair) for pair, _ in composition)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0.

    Both ends hold for every epsilon within TARGET of the given double, and all shifts within PARAMETER.
    """
    low_mu, high_mu = composed_shift(composition)
    return Bracket(
        profile_below(widened_up(epsilon, TARGET) if epsilon else 0.0, low_mu),
        profile_above(max(0.0, widened_down(epsilon, TARGET)), high_mu),
        True,
        METHOD,
    )


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    low_mu, high_mu = composed_shift(composition)
    return Bracket(
        epsilon_below(widened_up(delta, TARGET), low_mu),
        epsilon_above(widened_down(delta, TARGET), high_mu),
        True,
        METHOD,
    )


def composed_shift(composition: Composition) -> tuple[float, float]:
    """(at most, at least) sqrt(sum rounds * shift^2), for all shifts within PARAMETER of the given ones."""
    with ctx.workprec(_BITS[0]):
        total = arb(0)
        for pair, rounds in composition:
            if not isinstance(pair, GaussianPair):
                raise TypeError(f"a Gaussian pair is needed, not {pair!r}")
            total += rounds * arb(pair.shift) ** 2
        mu = total.sqrt()
        return float_below(mu * (1 - arb(PARAMETER))), float_above(mu * (1 + arb(PARAMETER)))


def profile_above(epsilon: float, mu: float) -> float:
    """At least delta(epsilon; mu), for a real epsilon of any sign and mu > 0."""
    return min(1.0, float_above(_profile(epsilon, mu)))


def profile_below(epsilon: float, mu: float) -> float:
    """At most delta(epsilon; mu)."""
    return max(0.0, float_below(_profile(epsilon, mu)))


def epsilon_above(delta: float, mu: float) -> float:
    """Postcondition: delta(result; mu) <= delta for certain, and result >= 0."""
    if profile_above(0.0, mu) <= delta:
        return 0.0
    result, step = _crossing(delta, mu), 0.0
    while result < math.inf and profile_above(result, mu) > delta:
        step = 2.0 * step + 2.0**-52 * (result + delta)
        result += step
    return result


def epsilon_below(delta: float, mu: float) -> float:
    """Postcondition: delta(result; mu) > delta for certain, or result = 0."""
    if profile_below(0.0, mu) <= delta:
        return 0.0
    result, step = _crossing(delta, mu), 0.0
    while result > 0.0 and profile_below(result, mu) <= delta:
        step = 2.0 * step + 2.0**-52 * (result + delta)
        result = max(0.0, result - step)
    return result


def _profile(epsilon: float, mu: float) -> arb:
    """A ball that holds delta(epsilon; mu), relative radius below 2^-60 or so."""
    ball = arb(0, 1)
    for bits in _BITS:
        with ctx.workprec(bits):
            ball = _terms(arb(epsilon), arb(mu))[0]
            if ball.rel_accuracy_bits() >= _ENOUGH:
                break
    return ball


def _terms(epsilon: arb, mu: arb) -> tuple[arb, arb]:
    """delta(epsilon; mu) and minus its derivative in epsilon, e^eps Phi(-mu/2 - eps/mu)."""
    root = arb(2).sqrt()
    far = epsilon.exp() * ((epsilon / mu + mu / 2) / root).erfc() / 2
    return ((epsilon / mu - mu / 2) / root).erfc() / 2 - far, far


def _crossing(delta: float, mu: float) -> float:
    """About the epsilon >= 0 where the profile falls to delta; nothing is claimed of it.

    The profile is log-concave in epsilon, so Newton's method on its logarithm descends monotonically to the
    root from any point above it; delta(eps) <= Phi(mu/2 - eps/mu) <= exp(-(eps/mu - mu/2)^2 / 2) gives one.
    """
    with ctx.workprec(2 * _BITS[0]):
        shift, target = arb(mu), arb(delta).log()
        epsilon = shift * (shift / 2 + (-2 * target).sqrt())
        for _ in range(100):
            value, slope = (ball.mid() for ball in _terms(epsilon, shift))
            step = ((value.log() - target) * value / slope).mid()
            epsilon = (epsilon + step).mid()
            if not abs(float(step)) > 2.0**-56 * abs(float(epsilon)):
                break
        return min(max(0.0, float(epsilon)), sys.float_info.max)
