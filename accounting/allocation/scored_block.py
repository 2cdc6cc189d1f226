"""What a sum of scores reveals of a block of rounds in some of which, at random, one unit stands out.

Up to known shifts the t releases are N(0, 1) but for k, hidden and uniform, that are N(a s, 1) under P and N(b s, 1)
under Q. Each release is given a score, a whole number: about log((1 + c La) / (1 + c Lb)), La and Lb the likelihood
ratios to N(0, 1), which for small c is the best test's La - gamma Lb where the ratios are ordinary, and their logarithm
where one is huge. Scores are independent, so the law of their sum modulo N is a product of powers of two transforms,
whichever releases stand out; tilted sums (tilted_sums.py) know its tails. Sums of nearly equal loss are one outcome.
Both laws are attained (docs/theory/dominating_pairs.md, "Shuffled batches"; docs/theory/allocation.md, "Replaced").
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms
from ..pairs.gaussian import GaussianPair, gaussian_masses
from ..pairs.order import Order
from ..pairs.pair import Pair
from ..rounding import UNIT, End
from .block import cells, spread_of_loss
from .tilted_sums import Masses, Scores, law_of_scores

if TYPE_CHECKING:
    from ..pairs.scored_block import ScoredBlockPair

_CELLS_PER_SPREAD, _CELLS_OF_LOSS, _SCORES_PER_SPREAD = 200, 100, 10
"""Cells in a standard deviation of Gaussian noise, and of another noise's loss."""

_MOST = 1 << 17
_TAIL = 1e-30
"""Probability of a release on one side of all cells, at most."""

_PLAIN, _PLAIN_OPPOSED = 0.1, 1.0
"""c times t/k, where both moves have one direction, and where they are opposed: best within 1% on a few settings."""

_OUTCOMES_PER_UNIT, _OUTCOMES_PER_SPREAD, _LARGEST_LOSS = 64.0, 200.0, 60.0
"""Sums are told apart by their loss in steps of 1/64 or of 1/200 of its spread, up to 60."""

_LEAST_SPREAD = 1e-4


def losses_of_scores(pair: ScoredBlockPair, end: End) -> Atoms:
    """The law of the pair's loss, its losses and masses rounded up or down."""
    p, q, stray = _outcomes(pair)
    if end is End.UPPER:
        finite = q.low > 0
        loss = np.log(p.high[finite] / q.low[finite])
        lost = (float(np.sum(p.high[~finite])) + stray) * (1 + 1e-12)
        return Atoms(loss + UNIT * (16 + 4 * np.abs(loss)), p.high[finite] * (1 + 16 * UNIT), lost)
    return _below(p, q)


@lru_cache(maxsize=16)
def losses_of_block(base: Pair, rounds: int, participations: int, order: Order, tail: float) -> Atoms:
    """A law of the loss that the pair of a block of random allocation dominates, whatever its noise: that of the scores
    log(1 - k/t + k/t L), added up."""
    outcomes = cells(base, spread_of_loss(base) / _CELLS_OF_LOSS, 0.5, tail)
    kept = (outcomes.p > 0) & (outcomes.q > 0)
    p, q, error = outcomes.p[kept], outcomes.q[kept], float(np.max(outcomes.error))
    score = np.log1p(participations / rounds * (p / q - 1))
    found = _sums(score, (p, q, q), rounds, participations, error + 4 * UNIT * p.size)
    return _below(*found) if order == Order.REMOVE else _below(*found[::-1])


def _below(p: Masses, q: Masses) -> Atoms:
    """A law that the pair dominates: P-masses and losses rounded down, without outcomes of which no P-mass is sure."""
    sure = p.low > 0
    loss = np.log(p.low[sure] / q.high[sure])
    return Atoms(loss - UNIT * (16 + 4 * np.abs(loss)), p.low[sure] * (1 - 16 * UNIT), 0.0)


@lru_cache(maxsize=16)
def _outcomes(pair: ScoredBlockPair) -> tuple[Masses, Masses, float]:
    """Bounds of the masses under P and under Q, and at most the mass of what is in no cell."""
    shift, rounds, times = pair.shift, pair.rounds, pair.participations
    c = _PLAIN if pair.first * pair.second > 0 else _PLAIN_OPPOSED
    moves = (pair.first * shift, pair.second * shift, 0.0)
    low, high = GaussianPair(max(moves)).span(_TAIL, min(moves))
    edges = np.linspace(low, high, math.ceil((high - low) * _CELLS_PER_SPREAD * max(1.0, shift)) + 1)
    (first, e1), (second, e2), (none, e3) = (gaussian_masses(edges, centre) for centre in moves)
    score = _score(0.5 * (edges[:-1] + edges[1:]), moves[0], moves[1], c * times / rounds)
    error = float(max(np.max(e1), np.max(e2), np.max(e3)))
    p, q = _sums(score, (first, second, none), rounds, times, error)
    return p, q, 2 * _TAIL * rounds


def _sums(
    score: Floats, laws: tuple[Floats, Floats, Floats], rounds: int, times: int, error: float
) -> tuple[Masses, Masses]:
    """Of a block's scores, under P and under Q: `times` of them have the first law, or the second, the others the last
    one; laws: each outcome's masses."""
    first, second, none = laws
    mean = float(none @ score)
    deviation = max(math.sqrt(float(none @ (score - mean) ** 2)), 1e-9 * float(np.ptp(score)))
    size = 16.0 * deviation * math.sqrt(rounds) + (times + 1.0) * float(np.max(np.abs(score)))
    bins = min(_MOST, 1 << math.ceil(math.log2(_SCORES_PER_SPREAD * size / deviation)))
    scores = Scores(np.rint(score * (bins / size)).astype(np.int64), size / bins, bins, mean * rounds)
    p, q = (law_of_scores(scores, [(law, times), (none, rounds - times)], error) for law in (first, second))
    return _merged(p, q)


def _score(x: Floats, first: float, second: float, c: float) -> Floats:
    """log((1 + c La) / (1 + c Lb)): any function will do, so that rounding matters nowhere."""
    one, other = (np.logaddexp(0.0, math.log(c) + move * x - 0.5 * move**2) for move in (first, second))
    return np.asarray(one - other)


def _merged(p: Masses, q: Masses) -> tuple[Masses, Masses]:
    """Sums with nearly the same loss are one outcome; those of which rounding hides the loss are another."""
    clear = (p.low > 0.5 * p.high) & (q.low > 0.5 * q.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.clip(np.where(clear, np.log(p.low / q.low), 0.0), -_LARGEST_LOSS, _LARGEST_LOSS)
    spread = max(math.sqrt(float(q.low[clear] @ loss[clear] ** 2)), _LEAST_SPREAD)
    finely = max(_OUTCOMES_PER_UNIT, _OUTCOMES_PER_SPREAD / spread)
    label = np.unique(np.where(clear, np.rint(finely * loss), math.inf), return_inverse=True)[1]
    slack = 2 * UNIT * label.size

    def total(masses: Masses) -> Masses:
        low, high = (np.bincount(label, bound) for bound in (masses.low, masses.high))
        return Masses(np.asarray(low * (1 - slack), float), np.asarray(high * (1 + slack), float))

    return total(p), total(q)
