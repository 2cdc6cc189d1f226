"""What a sum of scores reveals of one epoch of shuffled batches, when all other units pull the other way.

Up to known shifts the B releases are N(0, 1) but for one, uniform among them, that is N(2s, 1) with the unit and
N(s, 1) with nothing in its place. Each release is given a score, a whole number: about log((1 + c L2) / (1 + c L1)), L1
and L2 the likelihood ratios of N(s, 1) and N(2s, 1), which for small c is the best test's L2 - gamma L1 where the
ratios are ordinary, and their logarithm where one is huge. Scores are independent, so the law of their sum modulo N is
a power of one transform times another, whichever release stands out; tilted sums (tilted_sums.py) know their tails.
Sums of nearly equal loss are one outcome. Both laws are attained (docs/theory/dominating_pairs.md, "Shuffled batches").
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...mechanisms.arrays import Floats
from ..measures.lattices.bases import GaussianBase
from ..measures.lattices.cells import Atoms
from ..pairs import ShuffledEpochPair
from ..rounding import UNIT
from .tilted_sums import Masses, Scores, law_of_scores

_CELLS_PER_SPREAD, _SCORES_PER_SPREAD = 200, 8
_MOST = 1 << 17
_TAIL = 1e-30
"""Probability of a release on one side of all cells, at most."""

_PLAIN = 0.1
"""c times the number of batches: a tenth of it changes epsilon by less than 1%."""

_OUTCOMES_PER_UNIT, _LARGEST_LOSS = 64, 60.0
"""Sums are told apart by their loss in steps of 1/64, up to 60."""


def losses_of_epoch(pair: ShuffledEpochPair, above: bool) -> Atoms:
    """The law of the pair's loss, its losses and masses rounded up (above) or down."""
    p, q, stray = _outcomes(pair)
    if above:
        finite = q.low > 0
        loss = np.log(p.high[finite] / q.low[finite])
        lost = (float(np.sum(p.high[~finite])) + stray) * (1 + 1e-12)
        return Atoms(loss + UNIT * (16 + 4 * np.abs(loss)), p.high[finite] * (1 + 16 * UNIT), lost)
    sure = p.low > 0
    loss = np.log(p.low[sure] / q.high[sure])
    return Atoms(loss - UNIT * (16 + 4 * np.abs(loss)), p.low[sure] * (1 - 16 * UNIT), 0.0)


@lru_cache(maxsize=16)
def _outcomes(pair: ShuffledEpochPair) -> tuple[Masses, Masses, float]:
    """Bounds of the masses under P and under Q, and at most the mass of what is in no cell."""
    shift, batches = pair.shift, pair.batches
    far = GaussianBase(2 * shift)
    low, high = far.span(_TAIL, 0.0)
    edges = np.linspace(low, high, math.ceil((high - low) * _CELLS_PER_SPREAD * max(1.0, shift)) + 1)
    (twice, e1), (once, e2), (none, e3) = (far.masses(edges, centre) for centre in (2 * shift, shift, 0.0))
    score = _score(0.5 * (edges[:-1] + edges[1:]), shift, _PLAIN / batches)
    mean = float(none @ score)
    deviation = max(math.sqrt(float(none @ (score - mean) ** 2)), 1e-9 * float(np.ptp(score)))
    size = 16.0 * deviation * math.sqrt(batches) + 2.0 * float(np.max(np.abs(score)))
    bins = min(_MOST, 1 << math.ceil(math.log2(_SCORES_PER_SPREAD * size / deviation)))
    scores = Scores(np.rint(score * (bins / size)).astype(np.int64), size / bins, bins, mean * batches)
    error = float(max(np.max(e1), np.max(e2), np.max(e3)))
    p = law_of_scores(scores, [(twice, 1), (none, batches - 1)], error)
    q = law_of_scores(scores, [(once, 1), (none, batches - 1)], error)
    return *_merged(p, q), 2 * _TAIL * batches


def _score(x: Floats, shift: float, c: float) -> Floats:
    """log((1 + c L2) / (1 + c L1)): any function will do, so that rounding matters nowhere."""
    twice, once = 2 * shift * x - 2 * shift**2, shift * x - 0.5 * shift**2
    return np.logaddexp(0.0, math.log(c) + twice) - np.logaddexp(0.0, math.log(c) + once)


def _merged(p: Masses, q: Masses) -> tuple[Masses, Masses]:
    """Sums with nearly the same loss are one outcome; those of which rounding hides the loss are another."""
    clear = (p.low > 0.5 * p.high) & (q.low > 0.5 * q.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(clear, np.log(p.low / q.low), 0.0)
    last = int(_OUTCOMES_PER_UNIT * _LARGEST_LOSS)
    label = np.clip(np.rint(_OUTCOMES_PER_UNIT * loss), -last, last).astype(np.int64) + last
    label = np.where(clear, label, 2 * last + 1)
    kept = np.bincount(label, minlength=2 * last + 2) > 0
    slack = 2 * UNIT * label.size

    def total(masses: Masses) -> Masses:
        low, high = (np.bincount(label, bound, 2 * last + 2)[kept] for bound in (masses.low, masses.high))
        return Masses(np.asarray(low * (1 - slack), float), np.asarray(high * (1 + slack), float))

    return total(p), total(q)
