"""The search for the most favourable value that meets a target: of noise, rounds, a cohort, a rate or a clip."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.digits import as_given
from ...mechanisms.notebook import InNotebook
from ..bracket import Bracket
from ..losses.crossing import Excess, crossing, over
from ..quantity import Quantity
from .solve_for import SolveFor

_FARTHEST = 4.0
"""log(upper end / target) beyond which only its sign is told."""


@dataclass(frozen=True, slots=True)
class Calibration(InNotebook):
    """The most favourable value found that meets the target.

    value: of `solve_for`; a whole number for rounds and cohort. epsilon: the run's bracket at that value and the
    target's delta; its upper end is at most the target. beyond: a value, within the relative distance asked for (for
    whole ones: the next number), whose upper end misses the target; None where the value is at its limit (rate 1).
    target, delta: what was to be met. of: what the value is a part of, in words, such as " times the schedule's".

    >>> from dpcert import Gaussian, Repeat, calibrate
    >>> found = calibrate(
    ...     lambda z: Repeat(Gaussian(z), 10), solve_for="noise_multiplier", epsilon=1.0, delta=1e-5
    ... )
    >>> found.epsilon.upper <= 1.0
    True
    """

    solve_for: SolveFor
    value: float
    epsilon: Bracket
    beyond: float | None
    target: float
    delta: float = 0.0
    of: str = field(default="", compare=False, repr=False)
    seconds: float = field(default=0.0, compare=False, repr=False)

    def __str__(self) -> str:
        met = f"({as_given(self.target)}, {as_given(self.delta)})"
        first = f"{self.solve_for.in_words(self.value)}{self.of} meets {met}"
        return f"{first}\n  epsilon in {self.epsilon.ends}, in {self.seconds:.3g} s"

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        solved = {"solve_for": self.solve_for.option, "value": self.value, "epsilon": self.target}
        met = self.epsilon.to_json("epsilon") | {"delta": self.delta, "beyond": self.beyond}
        return solved | met | {"seconds": self.seconds}


@dataclass(frozen=True, slots=True)
class Search:
    """For the value of `solve_for` whose bracket meets the target, next to one, at most gap away, that misses it.

    seen: the brackets of all values tried; searches for several targets share them.
    """

    bracket: Callable[[float], Bracket]
    solve_for: SolveFor
    target: float
    gap: float
    quantity: str = Quantity.EPSILON
    seen: dict[float, Bracket] = field(default_factory=dict)

    def at(self, value: float) -> Bracket:
        """The bracket at a value, computed once."""
        if value not in self.seen:
            self.seen[value] = self.bracket(value)
        return self.seen[value]

    def found(self, most: float = math.inf, near: float | None = None) -> Calibration:
        """The value, from one that is thought to be near."""
        safest, first, boldest = (min(each, most) for each in self.solve_for.search_range)
        line = _Line(boldest, safest, self.solve_for.is_whole)
        if near is None:
            near = min(self.seen, key=lambda value: abs(self._excess(value)), default=first)
        bold, safe = crossing(lambda at: self._bound(line, at), line.place(near), farthest=line.length)
        value = line.value(safe)
        if (met := self.at(value)).upper > self.target:
            name = self.solve_for.replace("_", " ")
            why = ", since epsilon is infinite" if self.quantity == Quantity.EPSILON and met.lower == math.inf else ""
            raise InputError(self.quantity, self.target, f"a larger target: no value of {name} meets this one{why}")
        if (missed := line.value(bold)) == boldest and (last := self.at(boldest)).upper <= self.target:
            return self._at_limit(boldest, last, most)
        return Calibration(self.solve_for, line.shown(value), met, line.shown(missed), self.target)

    def _at_limit(self, boldest: float, found: Bracket, most: float) -> Calibration:
        if self.solve_for != SolveFor.SAMPLING_RATE and boldest != most:  # the end of the search, of nothing else
            name = self.solve_for.replace("_", " ")
            expected = f"a smaller target: {name} = {boldest:g} meets this one, and the search goes no further"
            raise InputError(self.quantity, self.target, expected)
        value = int(boldest) if self.solve_for.is_whole else boldest
        return Calibration(self.solve_for, value, found, None, self.target)

    def _excess(self, value: float) -> float:
        """log(upper end / target) within bounds, so that no step is wild; of its sign."""
        upper = self.at(value).upper
        if not self.target:
            return _FARTHEST if upper else -_FARTHEST
        return min(max(over(upper, self.target), -_FARTHEST), _FARTHEST)

    def _bound(self, line: _Line, at: float) -> Excess:
        """On the line, with the slope of the curve through what was seen nearest."""
        here = line.value(at)
        excess, place = self._excess(here), line.place(here)
        others = sorted((abs(line.place(value) - place), value) for value in self.seen if value != here)[:2]
        points = [(line.place(value), found) for _, value in others if abs(found := self._excess(value)) < _FARTHEST]
        slopes = [(y - excess) / (x - place) for x, y in points]
        if len(points) == 2:
            (x, y), (next_x, next_y) = points
            slopes[0] += slopes[1] - (next_y - y) / (next_x - x)
        return Excess(excess, slopes[0] if slopes and slopes[0] < 0.0 else -1.0, line.step(here, self.gap))

    def at_decimal(self, found: Calibration) -> Calibration:
        """The same with a shorter decimal towards the value that misses, where one meets the target too.

        Where sums of decimals are exact (currencies/pure_dp.py) this is often the very value that is sought.
        """
        if found.beyond is None or self.solve_for.is_whole:
            return found
        direction = ROUND_CEILING if found.value > found.beyond else ROUND_FLOOR
        for digits in range(1, 16):
            tried = float(Context(prec=digits, rounding=direction).plus(Decimal(repr(found.beyond))))
            if min(found.value, found.beyond) < tried < max(found.value, found.beyond):
                bracket = self.at(tried)
                met = bracket.upper <= self.target  # else longer decimals miss too: they are nearer to what misses
                return replace(found, value=tried, epsilon=bracket) if met else found
        return found


@dataclass(frozen=True, slots=True)
class _Line:
    """Values by their distance from the boldest one, in logarithms: along it epsilon falls."""

    boldest: float
    safest: float
    whole: bool

    @property
    def length(self) -> float:
        """Up to the safest."""
        return abs(math.log(self.safest / self.boldest))

    def place(self, value: float) -> float:
        """Where a value is."""
        return abs(math.log(value / self.boldest))

    def value(self, place: float) -> float:
        """Which is there; short enough to be found there again."""
        if place >= self.length:
            return self.safest
        value = self.boldest * math.exp(place if self.safest > self.boldest else -place)
        return min(max(1.0, math.floor(value + 0.5)), self.boldest) if self.whole else float(f"{value:.14g}")

    def step(self, value: float, gap: float) -> float:
        """Where two values are this near they are neighbours."""
        return math.log1p(0.999 / (value + 1.0)) if self.whole else math.log1p(gap)

    def shown(self, value: float) -> float:
        """A whole number as one."""
        return int(value) if self.whole else value
