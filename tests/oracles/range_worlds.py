"""Noise that is cut, outputs within a public range, and sums withheld below a threshold: masses of cells, in balls.

Cells do not depend on the neighbour: a divergence over cells is a proved lower bound of the true one, to a relative
1e-4 or so, since only the cell in which the likelihood ratio crosses e^epsilon loses anything. Between two centres of
Laplace noise cells are narrow; beyond, the ratio does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from flint import arb
from hockey_stick import at_bits, ball
from outcomes import Law, Pair, coarser, distinct, joint, pair

Below = Callable[[Fraction], arb]
"""By x, the mass below it."""

Values = Callable[[Fraction], Iterator[tuple[Fraction, Fraction]]]
"""By the range's width, pairs of neighbouring values."""

F = Fraction
MERGED = 900
"""Outcomes of the groups that a unit leaves, and of those that it enters, where they are several."""


def laplace_below(scale: Fraction, centre: Fraction) -> Below:
    def below(x: Fraction) -> arb:
        half = (-abs(ball((x - centre) / scale))).exp() / 2
        return half if x < centre else 1 - half

    return below


def normal_below(sigma: Fraction, centre: Fraction) -> Below:
    return lambda x: (-ball((x - centre) / sigma) / arb(2).sqrt()).erfc() / 2


def cells(low: Fraction, high: Fraction, count: int, others: Iterable[Fraction] = ()) -> list[Fraction]:
    """Edges, evenly, and these."""
    even = (low + (high - low) * k / count for k in range(count + 1))
    return sorted({*even, *(at for at in others if low <= at <= high)})


def within(below: Below, edges: list[Fraction], low: Fraction, high: Fraction) -> Law:
    """Drawn anew until it is between low and high."""
    whole = below(high) - below(low)
    return {
        a: (below(min(b, high)) - below(max(a, low))) / whole for a, b in pairwise(edges) if max(a, low) < min(b, high)
    }


def clamped(below: Below, edges: list[Fraction]) -> Law:
    """What falls outside is moved to the end."""
    inside: dict[object, arb] = {a: below(b) - below(a) for a, b in pairwise(edges)}
    return inside | {"low": below(edges[0]), "high": 1 - below(edges[-1])}


@at_bits
def truncated_laplace(scale: Fraction, bound: Fraction, move: int) -> list[Pair]:
    """Sums of contributions in [-1, 1] that move by up to so much, noise within the bound."""
    found = []
    for by in (F(move), F(move) / 2, F(move, 8)):
        edges = cells(-bound, bound + by, 8, (bound, by - bound, *cells(F(0), by, 2000)))
        p, q = (within(laplace_below(scale, c), edges, c - bound, c + bound) for c in (F(0), by))
        found += [pair(p, q), pair(q, p)]
    return distinct(found)


def values(width: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Neighbouring values within a range: at most 1 apart, at its ends, in its middle and between."""
    for share in (F(0), F(1, 4), F(1, 2), F(1)):
        at = share * (width - 1)
        yield at, at + 1
        yield at, at + F(1, 2)


def worst_values(cdf: Callable[[np.ndarray], np.ndarray], scale: Fraction, epsilon: float) -> Values:
    """Those 1 apart that show most at this epsilon, on a grid in double precision that is fine at the end."""

    def places(width: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
        edges, shares = np.linspace(0.0, float(width), 1001), np.linspace(0.0, 1.0, 251) ** 2 / 2

        def shown(share: float) -> float:
            at = share * (float(width) - 1)
            laws = [np.diff(cdf((edges - centre) / float(scale))) for centre in (at, at + 1)]
            p, q = (law / law.sum() for law in laws)
            return float(max(np.maximum(a - np.exp(epsilon) * b, 0.0).sum() for a, b in ((p, q), (q, p))))

        at = F(max(shares, key=shown)) * (width - 1)
        yield at, at + 1

    return places


@at_bits
def bounded_laplace(scale: Fraction, width: Fraction, places: Values = values) -> list[Pair]:
    found = []
    for one, other in places(width):
        edges = cells(F(0), width, 8, cells(one, other, 2000))
        p, q = (within(laplace_below(scale, at), edges, F(0), width) for at in (one, other))
        found += [pair(p, q), pair(q, p)]
    return distinct(found)


@at_bits
def truncated_gaussian(sigma: Fraction, width: Fraction, places: Values = values) -> list[Pair]:
    found = []
    for one, other in places(width):
        edges = cells(F(0), width, 400 if places is values else 4000)
        p, q = (within(normal_below(sigma, at), edges, F(0), width) for at in (one, other))
        found += [pair(p, q), pair(q, p)]
    return distinct(found)


@at_bits
def clamped_gaussian(sigma: Fraction, width: Fraction, places: Values = values) -> list[Pair]:
    found = []
    for one, other in places(width):
        edges = cells(F(0), width, 400)
        p, q = (clamped(normal_below(sigma, at), edges) for at in (one, other))
        found += [pair(p, q), pair(q, p)]
    return distinct(found)


@at_bits
def histogram(below: Callable[[Fraction, Fraction], Below], noise: Fraction, threshold: Fraction, groups: int,
              relation: str) -> list[Pair]:  # fmt: skip
    """A unit's groups: each one of others' as well (a few, just below the threshold, or many), or its own alone.

    A replaced unit leaves its groups and enters as many others.
    """
    several = groups == 2 or relation == "replace-one"
    singles: list[Pair] = []
    for others, adds in product((threshold - 1, threshold + 40, F(1)), (F(1),) if several else (F(1), F(1, 2))):
        reach = F(0) if below is laplace_below else 5 * noise
        narrow = cells(others - reach, others + adds + reach, 300 if several else 1000)
        edges = cells(threshold, threshold + 42 + 12 * noise, 8, narrow)

        def sums(at: Fraction, edges: list[Fraction] = edges) -> Law:
            law = below(noise, at)
            known: dict[object, arb] = {a: law(b) - law(a) for a, b in pairwise(edges)}
            return known | {"withheld": law(edges[0]), "far": 1 - law(edges[-1])}

        singles.append(pair(sums(others + adds), sums(others)))
    alone = below(noise, F(1))
    singles.append(pair({"there": 1 - alone(threshold), "withheld": alone(threshold)}, {"withheld": arb(1)}))
    sides = [[one] for one in singles]
    if groups == 2:
        many, new = singles[1], singles[-1]
        sides = [[many, new], [new, new], [many, many]]
    if relation != "replace-one":
        return distinct(map(joint, sides))
    left = [joint(one) if groups == 1 else coarser(joint(one), MERGED) for one in sides]
    return distinct(joint((one, other.swapped())) for one, other in product(left, repeat=2))
