"""Inequalities over boxes of parameters, in Arb ball arithmetic: certified everywhere, or violated at a point."""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, ctx

from ...accounting.losses.gaussian_rounds import profile_above, profile_below
from ...accounting.rounding import float_above, float_below
from .formula import Algebra, Stated, evaluated
from .row import BALLS, Finding, Undecided, resting_on

Box = Mapping[str, tuple[float, float]]
"""The range of every parameter, ends included."""

Point = Mapping[str, arb]
"""A ball for every parameter."""

Margin = Callable[[Point], arb]
"""A ball that holds the margin of the inequality for all parameters in the given balls; positive where it holds."""

BITS = 96
MOST_CELLS = 20_000


@dataclass(frozen=True, slots=True)
class BoxProof:
    """cells: how many pieces the box was cut into. violated_at: a point where the margin is negative, or None.

    margin: a lower bound of the margin over the box; at a violation, an upper bound there.
    """

    cells: int
    violated_at: Mapping[str, float] | None
    margin: float


def over_box(margin: Margin, box: Box, *, most_cells: int = MOST_CELLS) -> BoxProof:
    """Cut the box until the margin's sign is known on every piece. Raises Undecided after `most_cells` pieces."""
    with ctx.workprec(BITS):
        return _cut(margin, dict(box), most_cells)


@resting_on(BALLS)
def decide(margin: Margin, box: Box, *, proof: str, refutation: str, most_cells: int = MOST_CELLS) -> Finding:
    """Holds iff the margin is positive on the whole box.

    proof, refutation: the finding's sentence; {margin}, {cells} and {point} are filled in.
    """
    found = over_box(margin, box, most_cells=most_cells)
    numbers = {"cells": found.cells, "margin": found.margin}
    if found.violated_at is None:
        return Finding(True, proof.format(margin=f"{found.margin:.4g}", cells=found.cells, point=""), numbers)
    point = ", ".join(f"{name} = {value:.6g}" for name, value in found.violated_at.items())
    text = refutation.format(margin=f"{found.margin:.4g}", cells=found.cells, point=point)
    return Finding(False, text, numbers, dict(found.violated_at))


def ball(low: float, high: float) -> arb:
    """The smallest ball of the working precision that holds [low, high]."""
    return arb(low).union(arb(high))


def gaussian_delta(epsilon: arb, mu: arb) -> arb:
    """A ball that holds delta(epsilon; mu) of the Gaussian pair for every epsilon >= 0 and mu > 0 in the balls.

    It falls in epsilon and rises in mu (accounting.losses.gaussian_rounds), so the ends of the balls decide.
    """
    low = profile_below(float_above(epsilon.upper()), max(float_below(mu.lower()), 1e-300))
    high = profile_above(max(0.0, float_below(epsilon.lower())), float_above(mu.upper()))
    return arb(low).union(arb(high))


def gaussian_excess(growth: arb, share: arb, mu: arb) -> arb:
    """A ball of the integral of (share q - growth p)+, q and p a Gaussian pair: share delta_G(log(growth/share); mu).

    It rises in the share, and is 0 where that is not positive.
    """
    low, high = arb(share.lower()), arb(share.upper())
    if not high > 0:
        return arb(0)
    most = high * gaussian_delta((arb(growth.lower()) / high).log(), mu)
    least = low * gaussian_delta((arb(growth.upper()) / low).log(), mu) if low > 0 else arb(0)
    return least.union(most)


def largest_shift(epsilon: float, delta: float) -> float:
    """At most mu*(eps, delta), the largest shift of a Gaussian pair that is (eps, delta)-DP, to 12 digits."""
    low, high = 0.0, 1.0
    while profile_above(epsilon, high) <= delta:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if profile_above(epsilon, middle) <= delta else (low, middle)
    return low


def _number(text: str) -> arb:
    value = Fraction(text)
    return arb(value.numerator) / arb(value.denominator)


def _no_truth(*values: Any) -> Any:
    """Balls have no truth values."""
    raise NotImplementedError


ARB = Algebra(
    _number,
    {
        "abs": abs,
        "max": lambda *values: reduce(lambda x, y: x.max(y), values),
        **{name: operator.methodcaller(name) for name in ("exp", "log", "sqrt", "cos", "erf")},
        "delta": gaussian_delta,
        "excess": gaussian_excess,
        "shift": lambda epsilon, delta: arb(largest_shift(float(epsilon.mid()), float(delta.mid()))),
    },
    _no_truth,
    _no_truth,
    _no_truth,
)
"""Ball arithmetic; shift is for ratios at points, and no ball."""


def ratio_at(text: str, claim: Stated, at: Mapping[str, float]) -> float:
    """A ratio of bound to truth at a point; infinite where the truth is not positive."""
    with ctx.workprec(BITS):
        value = evaluated(text, claim.values({name: arb(place) for name, place in at.items()}, ARB), ARB)
    return float(value.mid()) if value.is_finite() and value > 0 else math.inf


def _cut(margin: Margin, box: dict[str, tuple[float, float]], most_cells: int) -> BoxProof:
    """Best first: the piece with the largest volume is looked at next, so that a violation is met early."""
    least, cells, order = math.inf, 0, 0
    queue: list[tuple[float, int, dict[str, tuple[float, float]]]] = [(-1.0, 0, box)]
    while queue:
        volume, _, piece = heapq.heappop(queue)
        cells += 1
        if cells > most_cells:
            raise Undecided(f"the sign of the margin is not known after {most_cells} pieces, e.g. on {piece}")
        value = margin({name: ball(*ends) for name, ends in piece.items()})
        if value.is_finite() and value > 0:
            least = min(least, float(value.lower()))
            continue
        middle = {name: _middle(*ends) for name, ends in piece.items()}
        at_middle = margin({name: arb(place) for name, place in middle.items()})
        if at_middle < 0:
            return BoxProof(cells, middle, float(at_middle.upper()))
        name = max(piece, key=lambda key: _width(*piece[key]))
        low, high = piece[name]
        for half in ((low, middle[name]), (middle[name], high)):
            order += 1
            heapq.heappush(queue, (volume / 2, order, piece | {name: half}))
    return BoxProof(cells, None, least)


def _middle(low: float, high: float) -> float:
    """Geometric where the range spans scales, else arithmetic."""
    return math.sqrt(low) * math.sqrt(high) if 0 < 4 * low < high else (low + high) / 2


def _width(low: float, high: float) -> float:
    """Relative to the size of the numbers: the piece is cut where it is widest in this sense."""
    return (high - low) / max(abs(low), abs(high), 1e-300)
