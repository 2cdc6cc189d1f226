"""How loose a bound `truth <= bound` is over its domain: the smallest and the median ratio of bound to truth.

The smallest of a formula over the reals is what z3 proves: the bound is still one after the truth is multiplied by it.
Medians, and the smallest on a box, are those of points: of the domain drawn at random, or of a grid of the box.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from .formula import evaluated
from .row import Undecided
from .smt import Question
from .stated import Stated

DRAWN, ENOUGH, WIDE = 40_000, 20, 1e3
"""Points drawn for a median, those that must lie in the domain, and how far on both sides of 1 they are drawn."""
TIGHT, LARGEST, HALVINGS = 1.001, 1e3, 14
"""A bound that fails with TIGHT times the truth is attained; a ratio beyond LARGEST is not looked for."""
A_MOMENT = 2
"""Seconds that z3 gets for a question; what it leaves open is not claimed."""
GRID = 5
"""Points a side of a box."""

Ratios = tuple[float, float | None]


class Doubles:
    """Arrays of floats."""

    functions: Mapping[str, Callable[..., Any]] = {"abs": np.abs, "min": np.minimum, "max": np.maximum}

    def number(self, text: str) -> float:
        """The nearest double."""
        first, _, second = text.partition("/")
        return float(first) / float(second or 1)

    def both(self, first: Any, second: Any) -> Any:
        """And."""
        return first & second

    def either(self, first: Any, second: Any) -> Any:
        """Or."""
        return first | second

    def negated(self, value: Any) -> Any:
        """Not."""
        return ~value


def over_reals(question: Question) -> Ratios | None:
    """Of a bound that was proved: the ratio that z3 proves, and the median over drawn points where enough are found."""
    claim = question.claim
    sides = claim.bound
    if sides is None or claim.exists:
        return None
    points, ratios = _drawn(claim, *sides)
    if points >= ENOUGH and not len(ratios):
        return None  # the truth is nowhere positive
    median = float(np.median(ratios)) if len(ratios) >= ENOUGH else None
    if not _still(question, *sides, TIGHT):
        return 1.0, median
    low, high = TIGHT, LARGEST
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _still(question, *sides, middle) else (low, middle)
    return low, median


def _still(question: Question, truth: str, bound: str, times: float) -> bool:
    """Whether the bound is proved for so many times the truth."""
    try:
        return question.follows(f"({truth})*{times!r} <= {bound}", A_MOMENT)
    except Undecided:
        return False


def _drawn(claim: Stated, truth: str, bound: str) -> tuple[int, Floats]:
    """How many drawn points lie in the domain, and bound over truth where the truth is positive."""
    rng, points = np.random.default_rng(0), {}
    for name in claim.free:
        size = np.exp(rng.uniform(-math.log(WIDE), math.log(WIDE), DRAWN))
        positive = any(re.match(rf"{name} >=? \d|0 <=? {name}\b|\d+ <=? {name}\b", each) for each in claim.given)
        points[name] = size if positive else size * rng.choice((-1.0, 1.0), DRAWN)
    with np.errstate(all="ignore"):
        values = claim.values(points, Doubles())
        inside = np.ones(DRAWN, dtype=bool)
        for each in claim.given:
            inside &= evaluated(each, values, Doubles())
        left, right = (np.broadcast_to(evaluated(side, values, Doubles()), DRAWN)[inside] for side in (truth, bound))
    return len(left), np.asarray(right[left > 0] / left[left > 0])


def on_grid(ratio: Callable[[Mapping[str, float]], float], ranges: Mapping[str, Sequence[float]]) -> Ratios:
    """The smallest and the median of a ratio on GRID points a side, ends included."""
    sides = [np.linspace(low, high, GRID).tolist() for low, high in ranges.values()]
    found = sorted(ratio(dict(zip(ranges, point, strict=True))) for point in itertools.product(*sides))
    return found[0], found[len(found) // 2]
