"""A certified lower bound for Gaussian rounds of any size: one event, in closed form.

For the event E = {in some round the output exceeds C}, a round's probabilities p under P and q under Q, and T rounds,

    delta(eps) >= P[E] - e^eps Q[E],    eps >= log((P[E] - delta) / Q[E]),    P[E] = 1 - (1 - p)^T.

Every C gives a valid bound; C is chosen in floating point, then both sides are evaluated in ball arithmetic and
rounded down. The bound is crude beside the other accountants', and it is there for what none of them reaches: noise so
small that privacy losses overflow, where the verdict needs no second digit. The upper end is infinite.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.special import log_ndtr

from .bracket import Bracket
from .pairs import Composition, GaussianPair, Pair, SubsampledPair

METHOD = "one-event"
_PRECISION_BITS = 256
_THRESHOLDS = 2000

Array = NDArray[np.float64]


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
    if isinstance(pair, GaussianPair):
        return 1.0, pair.shift, False
    if isinstance(pair, SubsampledPair) and isinstance(pair.base, GaussianPair) and pair.order in ("remove", "replace"):
        return pair.rate, pair.base.shift, pair.order == "replace"
    return None


def _epsilon(pair: Pair, rounds: int, target: float) -> float:
    parts = _parts(pair)
    if parts is None:
        return 0.0
    log_first, log_second, thresholds = _logs(*parts, rounds)
    with np.errstate(all="ignore"):
        gain = log_first + np.log1p(-target * np.exp(-log_first)) - log_second
    first, second = _masses(*parts, rounds, _best(gain, thresholds))
    if not (first - arb(target) > 0 and second > 0):
        return 0.0
    return max(0.0, _down(((first - arb(target)) / second).log()))


def _delta(pair: Pair, rounds: int, epsilon: float) -> float:
    parts = _parts(pair)
    if parts is None:
        return 0.0
    log_first, log_second, thresholds = _logs(*parts, rounds)
    with np.errstate(all="ignore"):
        gain = np.exp(log_first) - np.exp(epsilon + log_second)
    first, second = _masses(*parts, rounds, _best(gain, thresholds))
    return min(1.0, max(0.0, _down(first - arb(epsilon).exp() * second)))


def _logs(rate: float, shift: float, replaced: bool, rounds: int) -> tuple[Array, Array, Array]:
    """log P[E] and log Q[E] on a grid of thresholds, in floating point."""
    thresholds = np.linspace(-6.0, shift + 12.0, _THRESHOLDS)
    still, moved = log_ndtr(-thresholds), log_ndtr(shift - thresholds)
    away = log_ndtr(-shift - thresholds) if replaced else still
    with np.errstate(all="ignore"):
        stay, move = np.log1p(-rate), np.log(rate)
        first, second = (_log_some(np.logaddexp(stay + still, move + each), rounds) for each in (moved, away))
    return first, second, thresholds


def _log_some(log_each: Array, rounds: int) -> Array:
    """log(1 - (1 - each)^rounds); by the union bound where the mass is tiny."""
    union = log_each + math.log(rounds)
    return np.where(union < -30, union, np.log(-np.expm1(rounds * np.log1p(-np.exp(log_each)))))


def _best(gain: Array, thresholds: Array) -> float:
    return float(thresholds[int(np.argmax(np.where(np.isfinite(gain), gain, -np.inf)))])


def _masses(rate: float, shift: float, replaced: bool, rounds: int, threshold: float) -> tuple[arb, arb]:
    """Balls around P[E] and Q[E]."""
    saved, ctx.prec = ctx.prec, _PRECISION_BITS
    try:
        q, s, c = arb(rate), arb(shift), arb(threshold)
        still = _above(c)
        first = (1 - q) * still + q * _above(c - s)
        second = (1 - q) * still + q * (_above(c + s) if replaced else still)
        return _some(first, rounds), _some(second, rounds)
    finally:
        ctx.prec = saved


def _some(each: arb, rounds: int) -> arb:
    """1 - (1 - each)^rounds, without cancellation for a tiny mass."""
    return -((-each).log1p() * rounds).expm1()


def _above(x: arb) -> arb:
    """P[N(0, 1) > x]."""
    return (x / arb(2).sqrt()).erfc() / 2


def _down(value: arb) -> float:
    """A float at or below every point of the ball."""
    return math.nextafter(float(value.lower()), -math.inf) if value.is_finite() else 0.0
