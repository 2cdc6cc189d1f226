"""A lower end for k rounds of t: what a sum of rounded scores reveals, by exact transforms.

Whoever sees the releases can add up rounded scores of them, whole numbers modulo N. Scores are independent; with the
unit k of them have the law under P0, whichever rounds were drawn, and the other t - k that under Q0. So both laws of
the sum are known, and they are attained (docs/theory/allocation.md, "k of t").
"""

from __future__ import annotations

import math

import numpy as np

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms
from ..pairs.order import Order
from ..pairs.pair import Pair
from ..rounding import UNIT
from .block import cells, spread_of_loss

_CELLS_PER_SPREAD, _SCORES_PER_SPREAD = 100, 10
_MOST = 1 << 21

_NOTHING = 100.0
"""Frequencies of which a product is e^-100 of the largest, or less, count as errors of that size."""


def losses_of_statistic(base: Pair, rounds: int, participations: int, order: Order, tail: float) -> Atoms:
    """A law of the loss that the block's pair dominates: that of the scores log(1 - k/t + k/t L), added up."""
    outcomes = cells(base, spread_of_loss(base) / _CELLS_PER_SPREAD, 0.5, tail)
    kept = (outcomes.p > 0) & (outcomes.q > 0)
    p, q, error = outcomes.p[kept], outcomes.q[kept], float(np.max(outcomes.error))
    score = np.log1p(participations / rounds * (p / q - 1))
    mean = float(q @ score)
    deviation = math.sqrt(float(q @ (score - mean) ** 2))
    size = 2.0 * (16.0 * deviation * math.sqrt(rounds) + (participations + 1) * float(np.max(np.abs(score))))
    bins = min(_MOST, 1 << math.ceil(math.log2(_SCORES_PER_SPREAD * size / deviation)))
    index = np.mod(np.rint(score * (bins / size)).astype(np.int64), bins)
    with_unit, without = (np.bincount(index, mass, bins).astype(float) for mass in (p, q))
    given = (error + 4 * UNIT * p.size) * rounds
    p_sum, p_error = law_of_sum([(with_unit, participations), (without, rounds - participations)])
    q_sum, q_error = law_of_sum([(without, rounds)])
    least_p, most_p = np.maximum(p_sum - p_error, 0.0) * (1 - given), (p_sum + p_error) * (1 + given)
    least_q, most_q = np.maximum(q_sum - q_error, 0.0) * (1 - given), (q_sum + q_error) * (1 + given)
    mass, other = (least_p, most_q) if order == Order.REMOVE else (least_q, most_p)
    sure = mass > 0
    log_ratio = np.log(mass[sure] / other[sure])
    return Atoms(log_ratio - UNIT * (16 + 4 * np.abs(log_ratio)), mass[sure] * (1 - 16 * UNIT), 0.0)


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
    kept = log_most > log_whole - _NOTHING  # most frequencies of a sum of many are not worth their powers
    value = np.ones(np.count_nonzero(kept), dtype=complex)
    modulus, most = np.ones(value.size), np.ones(value.size)
    for transform, bound, unsure, times in factors:
        value *= transform[kept] ** times
        modulus *= bound[kept] ** times
        most *= (bound[kept] + unsure) ** times
    total = sum(times for _, times in parts)
    error = most - modulus + modulus * UNIT * (64 + 16 * total)
    rest = (kept.size - value.size) * math.exp(log_whole - 0.99 * _NOTHING)
    # every output is a mean over the `size` frequencies, of which all but two stand for a conjugate as well
    inside = 2.0 * (float(np.sum(error)) + rest) / size * (1 + 1e-9)
    rounding = unit * 2.0 * float(np.sum(modulus)) / size
    product = np.zeros(kept.size, dtype=complex)
    product[kept] = value
    return np.fft.irfft(product, size), inside + rounding
