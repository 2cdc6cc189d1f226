"""The law of a sum of independent whole scores, modulo N, to many digits in its tails too.

One transform knows all masses to about 1e-14 of the largest. Where the masses of each score are tilted by
e^{theta score} and the sum's are tilted back, the same holds of masses times e^{theta sum}. Of several tilts each mass
has the best bounds. With W the numbers from -N/2 to N/2 about the mean, every residue is one t in W; for theta >= 0

    e^{-theta t} (tilted(t) - E[e^{theta T}; T not in W]) <= P[T = t] <= P[T = t mod N]
        <= e^{-theta t} tilted(t) + P[T below W],

where tilted(t) is the sum of e^{theta T} over all T = t mod N: those above W are weighed more there than they count.
What is outside is bounded by Chernoff's inequality.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ..rounding import UNIT

TILTS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
_FURTHER = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0, 22.0, 32.0, 45.0, 64.0)
"""Tilts beyond the chosen one, for Chernoff's inequality, times a scale of the window."""


_LEFT_OUT_BELOW = 100.0
"""Frequencies at which the product is e^-100 of the largest, or less, are not computed but count as errors."""

_LEAST_DOUBLE = 5e-324

_UNKNOWN = 1e-3
"""A relative error above which nothing is said."""

_NOTHING = -80.0
"""The log of a probability that needs no better bound."""


@dataclass(frozen=True, slots=True)
class Scores:
    """index: each outcome's score in units of `step`; bins: N; mean: about the sum's."""

    index: NDArray[np.int64]
    step: float
    bins: int
    mean: float

    def window(self) -> NDArray[np.int64]:
        """The numbers that residues stand for, ascending: N of them about the mean."""
        centre = round(self.mean / self.step)
        return np.arange(centre - self.bins // 2, centre - self.bins // 2 + self.bins)


@dataclass(frozen=True, slots=True)
class Masses:
    """Lower and upper bounds, at least 0."""

    low: Floats
    high: Floats


Parts = list[tuple[Floats, int]]
"""The outcomes' masses, and how many scores have them."""


def law_of_scores(scores: Scores, parts: Parts, error: float, tilts: tuple[float, ...] = TILTS) -> Masses:
    """Of the sum modulo N, in the window's order; error: of each outcome's mass, relatively, at most."""
    given = _given(scores, parts, error, max(tilts))
    if given > _UNKNOWN:
        return Masses(np.zeros(scores.bins), np.ones(scores.bins))
    plain, unsure = _in_window(scores, parts)
    low, high = np.maximum(plain - unsure, 0.0), np.maximum(plain + unsure, 0.0)
    below = _outside(scores, parts, 0.0, -1)
    for theta in tilts:
        tilted = _tilted(scores, parts, theta)
        low, high = np.maximum(low, tilted.low), np.minimum(high, tilted.high + below)
    return Masses(low * (1 - given), high * (1 + given))


def by_one_tilt(scores: Scores, masses: Floats, times: int, error: float, theta: float) -> Masses:
    """Of the window's numbers, in its order, from one tilt alone; sums outside the window count for none of them."""
    parts = [(masses, times)]
    given = _given(scores, parts, error, theta)
    if given > _UNKNOWN:
        return Masses(np.zeros(scores.bins), np.ones(scores.bins))
    found = _tilted(scores, parts, theta)
    return Masses(found.low * (1 - given), np.minimum(found.high * (1 + given), 1.0))


def _given(scores: Scores, parts: Parts, error: float, theta: float) -> float:
    """The masses' own relative error in the sum's: (1 + e)^count - 1 is at most twice count e, where that is small."""
    count = sum(times for _, times in parts)
    return 2 * count * (error + UNIT * (4 * scores.index.size + 16 * (1 + theta * _largest(scores))))


def _in_window(scores: Scores, parts: Parts) -> tuple[Floats, float]:
    """`law_of_sum`, in the window's order."""
    value, unsure = law_of_sum([(_binned(scores, masses), times) for masses, times in parts])
    return np.roll(value, -int(scores.window()[0] % scores.bins)), unsure


def _tilted(scores: Scores, parts: Parts, theta: float) -> Masses:
    """Bounds by one tilt of the window's numbers; sums outside the window count for none of them."""
    weight, shares, log_scale = np.exp(theta * (scores.step * scores.index - _top(scores))), [], 0.0
    for masses, times in parts:
        total = float(masses @ weight)
        shares.append((masses * weight / total, times))
        log_scale += times * (math.log(total) + theta * _top(scores))
    value, unsure = _in_window(scores, shares)
    outside = sum(_outside(scores, parts, theta, side, log_scale) for side in (-1, 1))
    window = scores.window()
    exponent = log_scale - theta * scores.step * window
    back = np.exp(np.minimum(exponent, 700.0))
    slack = UNIT * (64 + 8 * abs(log_scale) + 8 * theta * scores.step * float(np.max(np.abs(window))))
    low = np.maximum(value - unsure - outside, 0.0) * back * (1 - slack)
    at_most = np.maximum(back, _LEAST_DOUBLE)  # where it underflows
    high = np.where(exponent > 700.0, math.inf, np.maximum(value + unsure, _LEAST_DOUBLE) * at_most * (1 + slack))
    high = np.maximum(high, _LEAST_DOUBLE)  # and where the product does
    return Masses(low, high)


def _outside(scores: Scores, parts: Parts, theta: float, side: int, log_scale: float = 0.0) -> float:
    """At least E[e^{theta T}; T beyond the window on that side] / e^log_scale; side: the sign of the tilt, 1 or -1."""
    end = scores.step * float(scores.window()[-1 if side > 0 else 0])
    best = math.inf
    for further in _FURTHER:
        eta = side * further * 16.0 / (scores.step * scores.bins)
        log_moment = sum(times * _log_moment(scores, masses, theta + eta) for masses, times in parts)
        best = min(best, log_moment - eta * end - log_scale)
        if best < _NOTHING:
            break
    return math.exp(min(best + 1e-9 * (1 + abs(best)), 700.0))


def probability_below(scores: Scores, parts: Parts) -> float:
    """At least P[T below the window]."""
    return _outside(scores, parts, 0.0, -1)


def moment_beyond(scores: Scores, parts: Parts) -> float:
    """At least E[T; T above the window], T in units in which the scores have `step`.

    With eta end >= 1, x <= end e^{eta (x - end)} from the window's end on.
    """
    end = scores.step * float(scores.window()[-1])
    if end <= 0:
        return math.inf
    best = math.inf
    for further in _FURTHER:
        eta = max(1.0, further) / end
        log_moment = sum(times * _log_moment(scores, masses, eta) for masses, times in parts)
        best = min(best, log_moment - eta * end)
    return end * math.exp(min(best + 1e-9 * (1 + abs(best)), 700.0))


def _log_moment(scores: Scores, masses: Floats, tilt: float) -> float:
    """At least the log of a score's moment, up to rounding."""
    exponent = tilt * scores.step * scores.index
    top = float(np.max(exponent))
    return top + math.log(float(masses @ np.exp(np.maximum(exponent - top, -700.0))))


def _binned(scores: Scores, masses: Floats) -> Floats:
    return np.bincount(np.mod(scores.index, scores.bins), masses, scores.bins).astype(float)


def _largest(scores: Scores) -> float:
    return scores.step * float(np.max(np.abs(scores.index)))


def _top(scores: Scores) -> float:
    return scores.step * float(np.max(scores.index))


def law_of_sum(parts: list[tuple[Floats, int]]) -> tuple[Floats, float]:
    """The law of a sum, modulo the arrays' size, and a bound of the error of each of its masses.

    A transform's error is at most (8 log2(2N) + 32) UNIT times the l1 norm (docs/theory/lattices.md, "Transforms"), and
    |prod a^k - prod b^k| <= prod (|b| + |a - b|)^k - prod |b|^k.
    """
    size = parts[0][0].size
    unit = UNIT * (8 * (math.log2(size) + 1) + 32)
    factors = []
    log_most, log_whole = np.zeros(size // 2 + 1), 0.0
    for masses, times in parts:
        transform, whole = np.fft.rfft(masses), float(np.sum(masses))
        bound = np.abs(transform) * (1 + 4 * UNIT)
        factors.append((transform, bound, unit * whole * (1 + 1e-9), times))
        log_most += times * np.log(bound + factors[-1][2] + 1e-300)
        log_whole += times * math.log(max(whole, 1e-300))
    kept = log_most > log_whole - _LEFT_OUT_BELOW  # most frequencies of a sum of many are not worth their powers
    value = np.ones(np.count_nonzero(kept), dtype=complex)
    modulus, most = np.ones(value.size), np.ones(value.size)
    for transform, bound, unsure, times in factors:
        value *= transform[kept] ** times
        modulus *= bound[kept] ** times
        most *= (bound[kept] + unsure) ** times
    total = sum(times for _, times in parts)
    error = most - modulus + modulus * UNIT * (64 + 16 * total)
    rest = (kept.size - value.size) * math.exp(log_whole - 0.99 * _LEFT_OUT_BELOW)
    # every output is a mean over the `size` frequencies, of which all but two stand for a conjugate as well
    inside = 2.0 * (float(np.sum(error)) + rest) / size * (1 + 1e-9)
    rounding = unit * 2.0 * float(np.sum(modulus)) / size
    product = np.zeros(kept.size, dtype=complex)
    product[kept] = value
    return np.fft.irfft(product, size), inside + rounding
