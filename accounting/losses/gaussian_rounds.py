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
from collections.abc import Callable
from functools import lru_cache

from flint import arb, ctx
from scipy.special import erfcx

from ..bracket import Bracket
from ..pairs import Composition
from ..pairs.tails import normal_tail
from ..rounding import PARAMETER, TARGET, float_above, float_below, widened_down, widened_up
from .crossing import Excess, crossing, over

METHOD = "gaussian"

_BITS = (80, 128, 256, 512, 1024, 4096)
_ENOUGH = 58
"""Relative accuracy, in bits, at which a ball is narrow enough to be rounded to double."""

_FAR = 40.0
"""Standard deviations from where tails are taken with their exponential split off."""

_WIDEST = 1e9
"""The largest mu that is looked for."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds only."""
    return all((found := pair.gaussian()) is not None and found.coin is None for pair, _ in composition)


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
            noise = pair.gaussian()
            if noise is None or noise.coin is not None:
                raise TypeError(f"a Gaussian pair is needed, not {pair!r}")
            total += rounds * arb(noise.shift) ** 2
        mu = total.sqrt()
        return float_below(mu * (1 - arb(PARAMETER))), float_above(mu * (1 + arb(PARAMETER)))


def profile_above(epsilon: float, mu: float) -> float:
    """At least delta(epsilon; mu), for a real epsilon of any sign and mu > 0."""
    return _most(_accurate(epsilon, mu)[0])


def profile_below(epsilon: float, mu: float) -> float:
    """At most delta(epsilon; mu)."""
    return _least(_accurate(epsilon, mu)[0])


def epsilon_above(delta: float, mu: float) -> float:
    """Postcondition: delta(result; mu) <= delta for certain, and result >= 0."""
    return crossing(lambda at: _excess(at, mu, delta, _most), _guess(delta, mu))[1]


def epsilon_below(delta: float, mu: float) -> float:
    """Postcondition: delta(result; mu) > delta for certain, or result = 0."""
    return crossing(lambda at: _excess(at, mu, delta, _least), _guess(delta, mu))[0]


def shift_below(epsilon: float, delta: float) -> float:
    """Postcondition: delta(epsilon; result) <= delta for certain, or result = 0; close to the largest such mu."""
    return _shift(epsilon, delta, _most)[0] if delta < 1.0 else _WIDEST


def shift_above(epsilon: float, delta: float) -> float:
    """Postcondition: delta(epsilon; result) >= delta for certain, or result is infinite; close to the least such mu."""
    return _shift(epsilon, delta, _least)[1] if delta < 1.0 else math.inf


@lru_cache(maxsize=2048)  # the knots of a trade-off curve are asked again and again
def _shift(epsilon: float, delta: float, bound: Callable[[arb], float]) -> tuple[float, float]:
    """Neighbouring mu between which the profile's bound passes delta.

    The profile's derivative in mu is phi(epsilon/mu - mu/2).
    """

    def room(mu: float) -> Excess:
        if mu == 0.0:
            return Excess(math.inf)
        ball = _accurate(epsilon, mu)[0]
        with ctx.workprec(_BITS[0]):
            u = arb(epsilon) / mu - arb(mu) / 2
            slope = (-u * u / 2).exp() / (2 * arb.pi()).sqrt() / ball if ball > 0 else arb(0)
        return Excess(-over(bound(ball), delta), -float(slope.mid()))

    if delta <= 0.0:
        return 0.0, 0.0
    depth = math.sqrt(-2.0 * math.log(delta))
    start = 2.5 * delta + 2.0 * epsilon / (depth + math.sqrt(depth * depth + 2.0 * epsilon))
    return crossing(room, start, close=2.0**-46, farthest=_WIDEST)


def _most(ball: arb) -> float:
    return min(1.0, float_above(ball))


def _least(ball: arb) -> float:
    return max(0.0, float_below(ball))


def _accurate(epsilon: float, mu: float) -> tuple[arb, arb]:
    """_terms in as few bits as make the first ball, of delta(epsilon; mu), narrow: a relative radius of 2^-58 or so."""
    balls = arb(0, 1), arb(0, 1)
    for bits in _BITS:
        with ctx.workprec(bits):
            balls = _terms(arb(epsilon), arb(mu))
            if balls[0].rel_accuracy_bits() >= _ENOUGH:
                break
    return balls


def _terms(epsilon: arb, mu: arb) -> tuple[arb, arb]:
    """delta(epsilon; mu) and minus its derivative in epsilon, e^eps Phi(-mu/2 - eps/mu).

    With u = eps/mu - mu/2 and v = eps/mu + mu/2, e^eps e^{-v^2/2} = e^{-u^2/2}: e^eps need not meet its inverse.
    """
    u, v = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    near = _scaled_tail(u) * (-u * u / 2).exp() if u > _FAR else normal_tail(u)
    far = _scaled_tail(v) * (-u * u / 2).exp() if v > _FAR else epsilon.exp() * normal_tail(v)
    return near - far, far


def _scaled_tail(x: arb) -> arb:
    """e^{x^2/2} Phi(-x) by Tricomi's function (DLMF 7.11.4): a ball for a large x spoils Phi itself."""
    half = arb(1) / 2
    return (x * x / 2).hypgeom_u(half, half) / (2 * arb.pi().sqrt())


def _excess(epsilon: float, mu: float, delta: float, bound: Callable[[arb], float]) -> Excess:
    """How far the profile's bound is above delta, and the slope of its logarithm."""
    ball, fall = _accurate(epsilon, mu)
    with ctx.workprec(_BITS[0]):
        slope = -float((fall / ball).mid()) if ball > 0 else math.nan
    return Excess(over(bound(ball), delta), slope)


def _guess(delta: float, mu: float) -> float:
    """Where `crossing` starts, so that few balls are needed: by Newton's method in doubles, as far as the difference of
    the two tails is resolved.

    log delta is concave in epsilon, so the method descends to the root from any point above it, and
    delta(eps) <= Phi(-u) <= exp(-u^2 / 2), u = eps/mu - mu/2, gives one. With the Mills ratio R(u) = Phi(-u)/phi(u),
    delta(eps) = phi(u) (R(u) - R(u + mu)), and minus its derivative is phi(u) R(u + mu).
    """
    root, target = math.sqrt(0.5), math.log(delta) + math.log(2.0)
    epsilon = min(mu * (0.5 * mu + math.sqrt(-2.0 * math.log(delta))), sys.float_info.max)
    for _ in range(50):
        u = epsilon / mu - 0.5 * mu
        if not -20.0 < u < 1e8:
            break
        near, far = float(erfcx(u * root)), float(erfcx((u + mu) * root))
        if not near - far > 1e-10 * near:
            break
        step = (math.log(near - far) - 0.5 * u * u - target) * (near - far) / far if far else 0.0
        epsilon = max(0.0, epsilon + step)
        if abs(step) <= 1e-12 * epsilon or epsilon == 0.0:
            break
    return epsilon
