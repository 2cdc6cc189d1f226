"""A lower bound for sampled Gaussian rounds of any size: one event, in closed form.

For the event E = {in at least k rounds the output exceeds C}, a round's probabilities p under P and q under Q, and T
rounds, with B(T, p) binomial,

    delta(eps) >= P[E] - e^eps Q[E],    eps >= log((P[E] - delta) / Q[E]),    P[E] = P[B(T, p) >= k],

and Q[E] is at most P[B(T, q) >= k] and at most (T choose k) q^k. Every k and C give a valid bound; both are chosen in
floating point, then both sides are evaluated in ball arithmetic and rounded down. The bound is crude beside the other
accountants', and it is there for what none of them reaches: noise so small that privacy losses overflow. There it is
close, with k about the number of rounds that the unit takes part in: of 100 Poisson rounds at rate .01 and a noise
multiplier of .002 the lower end is 872,799 at delta 1e-5, and 1.005 without this file; from .005 on it changes nothing.
The upper end is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb, ctx
from scipy.special import betainc, gammaln, log_ndtr

from ...mechanisms.arrays import Floats
from ..bracket import Bracket
from ..pairs import Composition, Pair, Sampling
from ..pairs.tails import normal_tail
from ..rounding import float_below

METHOD = "one-event"
_PRECISION_BITS = 256
_THRESHOLDS = 1000
_MOST = 2000
"""Participations considered: the sums in balls have as many terms."""


def supports(composition: Composition) -> bool:
    """At least one kind of round is Gaussian, sampled in secret or not at all; the others are ignored."""
    return any(_parts(pair) is not None for pair, _ in composition)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """[certified lower bound, inf] for the composed pair's epsilon at delta."""
    return Bracket(
        max((_epsilon(pair, rounds, delta) for pair, rounds in composition), default=0.0), math.inf, True, METHOD
    )


def delta(composition: Composition, epsilon: float) -> Bracket:
    """[certified lower bound, 1] for the composed pair's delta at epsilon."""
    lower = max((_delta(pair, rounds, epsilon) for pair, rounds in composition), default=0.0)
    return Bracket(lower, 1.0, True, METHOD)


def _parts(pair: Pair) -> tuple[float, float, bool] | None:
    """(rate, shift, whether Q moves to the other side), or None for a pair that this bound does not know."""
    noise = pair.gaussian()
    if noise is None or noise.coin not in (None, Sampling.REMOVE, Sampling.REPLACE):
        return None
    return noise.rate, noise.shift, noise.coin == Sampling.REPLACE


def _epsilon(pair: Pair, rounds: int, target: float) -> float:
    parts = _parts(pair)
    if parts is None:
        return 0.0

    def gain(log_first: Floats, log_second: Floats) -> Floats:
        return log_first + np.log1p(-target * np.exp(-log_first)) - log_second

    likely = _most_likely(parts[0], rounds, target)
    first, second = _masses(*parts, rounds, *_best(*parts, rounds, range(max(1, likely - 3), likely + 1), gain))
    return event_epsilon(first, second, target)


def _delta(pair: Pair, rounds: int, epsilon: float) -> float:
    parts = _parts(pair)
    if parts is None:
        return 0.0

    def gain(log_first: Floats, log_second: Floats) -> Floats:
        return np.exp(log_first) - np.exp(epsilon + log_second)

    enough = min(rounds, 1 + int(min(float(_MOST), 2.0 * epsilon / parts[1] ** 2)))
    first, second = _masses(*parts, rounds, *_best(*parts, rounds, range(enough, min(rounds, enough + 3) + 1), gain))
    return min(1.0, event_delta(first, second, epsilon))


def _most_likely(rate: float, rounds: int, target: float) -> int:
    """About the largest k with P[B(rounds, rate) >= k] above the target; at least 1."""
    k = np.arange(1.0, min(rounds, _MOST) + 1.0)
    return max(1, int(np.count_nonzero(betainc(k, rounds - k + 1.0, rate) > target)))


def _best(
    rate: float,
    shift: float,
    replaced: bool,
    rounds: int,
    counts: range,
    gain: Callable[[Floats, Floats], Floats],
) -> tuple[int, float]:
    """The k, among 1 and counts, and the threshold of the largest gain in floating point."""
    thresholds = np.concatenate(
        [np.linspace(-6.0, shift + 12.0, _THRESHOLDS), shift + np.linspace(-8.0, 12.0, _THRESHOLDS)]
    )
    still, moved = log_ndtr(-thresholds), log_ndtr(shift - thresholds)
    away = log_ndtr(-shift - thresholds) if replaced else still
    best, found = -math.inf, (1, 0.0)
    with np.errstate(all="ignore"):
        stay, move = np.log1p(-rate), np.log(rate)
        first, second = (np.logaddexp(stay + still, move + each) for each in (moved, away))
        for k in {1, *counts}:
            gains = gain(_log_some(first, rounds, k), _log_some(second, rounds, k))
            gains = np.where(np.isfinite(gains), gains, -np.inf)
            if gains.max() > best:
                best, found = float(gains.max()), (k, float(thresholds[int(gains.argmax())]))
    return found


def _log_some(log_each: Floats, rounds: int, k: int) -> Floats:
    """log P[B(rounds, each) >= k]; by the union bound where the mass is tiny."""
    union = gammaln(rounds + 1.0) - gammaln(k + 1.0) - gammaln(rounds - k + 1.0) + k * log_each
    result: Floats = np.where(union < -30, union, np.log(betainc(k, rounds - k + 1.0, np.exp(log_each))))
    return result


def _masses(rate: float, shift: float, replaced: bool, rounds: int, k: int, threshold: float) -> tuple[arb, arb]:
    """Balls, the first around P[E], the second around a number that Q[E] does not exceed."""
    with ctx.workprec(_PRECISION_BITS):
        q, s, c = arb(rate), arb(shift), arb(threshold)
        still = normal_tail(c)
        first = (1 - q) * still + q * normal_tail(c - s)
        second = (1 - q) * still + q * (normal_tail(c + s) if replaced else still)
        union = arb.bin_uiui(rounds, k) * second**k
        return _some(first, rounds, k), arb(min(union.upper(), _some(second, rounds, k).upper()))


def _some(each: arb, rounds: int, k: int) -> arb:
    """P[B(rounds, each) >= k]."""
    if k == 1:  # without cancellation for a tiny mass
        return -((-each).log1p() * rounds).expm1()
    return 1 - sum((arb.bin_uiui(rounds, j) * each**j * (1 - each) ** (rounds - j) for j in range(k)), arb(0))


def event_epsilon(first: arb, second: arb, delta: float) -> float:
    """At least 0, and at most the epsilon at delta of two laws under which an event has these probabilities."""
    likely = first - arb(delta)
    if not (likely > 0 and second > 0):
        return 0.0
    return _known((likely / second).log())


def event_delta(first: arb, second: arb, epsilon: float) -> float:
    """At least 0, and at most their delta at epsilon."""
    return _known(first - arb(epsilon).exp() * second)


def _known(ball: arb) -> float:
    return max(0.0, float_below(ball)) if ball.is_finite() else 0.0
