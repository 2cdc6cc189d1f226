"""A trade-off curve as a picture: the certified band of an attack's two error rates, as SVG that stands for itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from ..bracket import Bracket

DECADES, SIDE, STEPS = 5, 200.0, 40
GRID = tuple(10.0 ** (-DECADES * (1 - step / STEPS)) for step in range(STEPS + 1))
"""Both rates are drawn from 1e-5 to 1, logarithmically."""

Power = Callable[[float], Bracket]
"""The largest true-positive rate at a false-positive rate."""


def allowed(rate: float, epsilon: float, delta: float) -> float:
    """The largest true-positive rate that (epsilon, delta)-DP allows (Wasserman, Zhou 2010; Kairouz et al. 2015)."""
    rising = delta + math.exp(min(epsilon + math.log(rate), 1.0))
    flat = 1.0 - math.exp(-epsilon) * max(0.0, 1.0 - delta - rate)
    return min(1.0, rising, flat)


def points(pairs: Iterable[tuple[float, float]]) -> str:
    """Pairs of rates as the points of an SVG shape in a square of SIDE, y downwards."""
    return " ".join(f"{_place(x):.1f},{SIDE - _place(y):.1f}" for x, y in pairs)


def area(power: Power, grid: Sequence[float] = GRID) -> str:
    """The band between its ends, as points."""
    found = [(rate, power(rate)) for rate in grid]
    below = [(rate, each.lower) for rate, each in reversed(found)]
    return points([*((rate, each.upper) for rate, each in found), *below])


def claimed(epsilon: float, delta: float, grid: Sequence[float] = GRID) -> str:
    """The largest true-positive rates that the claim allows, as points."""
    return points((rate, allowed(rate, epsilon, delta)) for rate in grid)


def drawn(area: str, claimed: str = "") -> str:
    """The picture, for a notebook: the band, guessing, and what is claimed, dashed."""
    line = f'<polyline points="{claimed}" fill="none" stroke="#c8372d" stroke-dasharray="4 3"/>' if claimed else ""
    words = 'font-size="9" font-family="sans-serif" fill="currentColor"'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-24 -6 236 232" width="300" role="img">'
        "<title>The strongest attack: true-positive rate against false-positive rate, both from 1e-5 to 1</title>"
        '<rect width="200" height="200" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
        '<line y1="200" x2="200" y2="0" stroke="currentColor" stroke-opacity="0.4" stroke-dasharray="1 3"/>'
        f'<polygon points="{area}" fill="#2f6fdb" fill-opacity="0.35" stroke="#2f6fdb"/>{line}'
        f'<text x="0" y="211" {words}>1e-5</text><text x="196" y="211" {words}>1</text>'
        f'<text x="100" y="222" text-anchor="middle" {words}>false-positive rate</text>'
        f'<text transform="translate(-8 100) rotate(-90)" text-anchor="middle" {words}>true-positive rate</text></svg>'
    )


def _place(rate: float) -> float:
    return SIDE * (1 + math.log10(min(max(rate, 10**-DECADES), 1.0)) / DECADES)
