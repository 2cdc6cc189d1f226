"""Sparse vector from below: events that some neighbours have, "k queries below the threshold, then all hits above".

With noise of scale b on the threshold and q on each query, F and f the laws of Laplace noise, it has the probability

    integral of f(z / b) / b F((z - low) / q)^k (1 - F((z - high) / q))^hits dz

where the k queries are `low` above the threshold and the others `high`. A neighbour moves the first up by one and,
unless all queries move the same way, the others down by one. Integrated in balls between the kinks
(docs/theory/selection.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from flint import acb, arb, ctx

from ...mechanisms import SparseVector
from ...mechanisms.arrays import Floats
from ..pairs import EventPair
from ..rounding import float_above, float_below

_BITS = 96
_REACH = 60.0
"""Scales of the threshold's noise on either side that are integrated; what is beyond has less than e^-60."""

_COUNTS = (1, 16, 1024)
_LIKELY = (0.2, 1e-2, 1e-4, 1e-6)
"""Of the events at least so likely, the one of the largest ratio is kept."""


@lru_cache(maxsize=256)
def events(mechanism: SparseVector) -> tuple[EventPair, ...]:
    """Pairs that two neighbours have: likely rounded down, unlikely up. Values that are released are forgotten."""
    found = []
    for k, low, high in dict.fromkeys(chosen(mechanism)):
        moved = (low + 1.0, high if mechanism.monotone else high - 1.0)
        with ctx.workprec(_BITS):
            likely = float_below(_probability(mechanism, k, low, high))
            unlikely = float_above(_probability(mechanism, k, *moved) + (-arb(_REACH)).exp())
        if likely > unlikely:
            found.append(EventPair(likely, min(1.0, unlikely)))
    return tuple(found)


def chosen(mechanism: SparseVector) -> Iterator[tuple[int, float, float]]:
    """In double precision: how many queries are below, and where they and the others are, for each of _LIKELY; and
    where the two probabilities are furthest apart, which matters in many rounds."""
    b, q = mechanism.threshold_scale, mechanism.query_scale
    tried = []
    for k, up, over, far in product(_COUNTS, (0.0, 1.0, 3.0, 6.0), (0.0, 1.0, 2.0, 3.0), (-1.0, 0.0, 1.0, 3.0)):
        low = up * b + over * q - q * math.log(k)
        high = up * b - far * q
        p, r = (_about(mechanism, k, low + one, high - (0 if mechanism.monotone else one)) for one in (0.0, 1.0))
        if r > 0.0:
            tried.append((p, p / r, (k, low, high)))
    yield max((p - p / ratio, where) for p, ratio, where in tried)[1]
    for least in _LIKELY:
        enough = [(ratio, where) for p, ratio, where in tried if p >= least]
        if enough:
            yield max(enough)[1]


def _about(mechanism: SparseVector, k: int, low: float, high: float) -> float:
    b, q = mechanism.threshold_scale, mechanism.query_scale
    z = np.linspace(-20 * b, 20 * b, 1001)
    weight = np.exp(-np.abs(z) / b) * _below((z - low) / q) ** k * _below((high - z) / q) ** mechanism.hits
    return float(weight.sum() / np.exp(-np.abs(z) / b).sum())


def _below(x: Floats) -> Floats:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def _probability(mechanism: SparseVector, k: int, low: float, high: float) -> arb:
    """The integral within _REACH, kink by kink: on each piece every factor is analytic."""
    b, q = arb(mechanism.threshold_scale), arb(mechanism.query_scale)
    first, last = -_REACH * mechanism.threshold_scale, _REACH * mechanism.threshold_scale
    kinks = sorted({first, *(kink for kink in (0.0, low, high) if first < kink < last), last})
    total = arb(0)
    for start, end in pairwise(kinks):
        middle = (start + end) / 2

        def weight(z: acb, _: bool, middle: float = middle) -> acb:
            density = (-z / b if middle > 0 else z / b).exp() / (2 * b)
            fewer = _law((z - low) / q, middle > low) ** k
            return density * fewer * _law((high - z) / q, middle < high) ** mechanism.hits

        total += acb.integral(weight, start, end, rel_tol=arb(2) ** -50, abs_tol=arb(2) ** -200, eval_limit=20_000).real
    return total


def _law(x: acb, positive: bool) -> acb:
    """P(noise <= x) of unit Laplace noise, on the side where x is."""
    return 1 - (-x).exp() / 2 if positive else x.exp() / 2
