"""What neighbours' runs show, on finitely many outcomes: a federation's views, with continuous numbers put into cells.

Cells do not depend on the neighbour, so that divergences of the pairs are proved lower bounds of the true ones.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import federation as fed
import numpy as np
import range_worlds as ranges
from flint import arb
from hockey_stick import Floats, at_bits, ball, ends, lattice, rounding
from outcomes import Pair

F = Fraction
SHARES = {"discrete-laplace": 1, "discrete-gaussian": 1, "skellam": 4, "shares": 4}
"""Noise on the integers: of how many independent shares it is the sum."""

BOUND = F(8)
"""Where nesting.py's truncated Laplace noise is cut."""

REACH = F(6)
"""How far around all centres cells of normal noise go, in scales; what is further out is one cell."""

CELLS = {1: 40, 2: 30, 3: 5, 4: 2}
"""By how many numbers are released: cells for each scale of the noise."""

MOST = 1000
"""Cells of an axis."""

Masses = dict[Fraction, tuple[Floats, Floats]]
"""By the centre, those of one coordinate's cells: at least and at most."""


def pair_of(one: fed.Law, other: fed.Law, law: str) -> Pair:
    """Noise of this law in every number that is released."""
    sides: tuple[list[Floats], ...] = ([], [], [], [])
    for known in sorted(one.keys() | other.keys(), key=str):
        mixtures = [one.get(known, {}), other.get(known, {})]
        components = [component for mixture in mixtures for component in mixture]
        numbers = len(components[0][0])
        axes = [
            _axis(law, {v[k] for _, v in components}, sorted({c[k] for c, _ in components}), CELLS[max(numbers, 1)])
            for k in range(numbers)
        ]
        for k, mixture in enumerate(mixtures):
            for side, masses in zip(sides[2 * k : 2 * k + 2], _mixed(mixture, axes), strict=True):
                side.append(masses)
    p_low, p_high, q_low, q_high = (np.concatenate(side) for side in sides)
    return Pair((p_low, p_high), (q_low, q_high))


def _mixed(mixture: fed.Mixture, axes: list[Masses]) -> tuple[Floats, Floats]:
    """At least and at most, in all cells of the product."""
    size = int(np.prod([next(iter(axis.values()))[0].size for axis in axes]))
    low, high = np.zeros(size), np.zeros(size)
    for (centres, _), mass in mixture.items():
        a = b = np.array([float(mass)])
        for axis, centre in zip(axes, centres, strict=True):
            a, b = (np.multiply.outer(x, y).ravel() for x, y in zip((a, b), axis[centre], strict=True))
        low, high = low + a, high + b
    widen = rounding(len(mixture) + 2 * len(axes))
    return low * (1 - widen), high * (1 + widen)


@at_bits
def _axis(law: str, variances: set[Fraction], centres: list[Fraction], cells: int) -> Masses:
    """law: of one variance; of Laplace noise it is the squared scale."""
    (variance,) = variances
    if law in SHARES:
        return _integers(law, variance, centres)
    scale = F(float(variance) ** 0.5)  # where it is rounded only the cells are others
    first, last = centres[0], centres[-1]
    if law == "gaussian":
        first, last = first - REACH * scale, last + REACH * scale
    count = min(int(cells * (last - first) / scale) + 1, MOST)
    if law == "truncated-laplace":
        cuts = [end for c in centres for end in (c - BOUND, c + BOUND)]
        edges = ranges.cells(min(cuts), max(cuts), 1, [*cuts, *ranges.cells(first, last, count)])
        return {c: _cut(scale, c, edges) for c in centres}
    edges = ranges.cells(first, last, count, centres)
    return {c: _doubles(list(ranges.clamped(below(law, variance, c), edges).values())) for c in centres}


def below(law: str, variance: Fraction, centre: Fraction) -> ranges.Below:
    if law == "laplace":
        assert F(float(variance) ** 0.5) ** 2 == variance
        return ranges.laplace_below(F(float(variance) ** 0.5), centre)
    twice = ball(2 * variance).sqrt()
    return lambda x: (ball(centre - x) / twice).erfc() / 2


def _cut(scale: Fraction, centre: Fraction, edges: list[Fraction]) -> tuple[Floats, Floats]:
    law = ranges.within(ranges.laplace_below(scale, centre), edges, centre - BOUND, centre + BOUND)
    return _doubles([law.get(left, arb(0)) for left, _ in pairwise(edges)])


def _doubles(masses: list[arb]) -> tuple[Floats, Floats]:
    found = [ends(mass) for mass in masses]
    return np.array([max(low, 0.0) if high > 1e-300 else 0.0 for low, high in found]), np.array(
        [high if high > 1e-300 else 0.0 for _, high in found]
    )


def _integers(law: str, variance: Fraction, centres: list[Fraction]) -> Masses:
    """Of every integer that all tables reach, and of all others together."""
    masses, outside = lattice("discrete-gaussian" if law == "shares" else law, variance, SHARES[law])
    reach, table = len(masses) // 2, np.array(masses)
    first, last = int(centres[-1]) - reach, int(centres[0]) + reach
    found = {}
    for centre in centres:
        start = first - (int(centre) - reach)
        inside = slice(start, start + last - first + 1)
        rest = np.concatenate([table[: inside.start], table[inside.stop :]]).sum(axis=0)
        widen = rounding(len(masses))
        low = np.append(table[inside, 0], rest[0] * (1 - widen))
        found[centre] = low, np.append(table[inside, 1], (rest[1] + outside) * (1 + widen))
    return found
