"""The search for the most favourable value that meets a target: of noise, rounds, a cohort, a rate or a clip."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Literal

from ...mechanisms import InputError
from ...mechanisms.digits import as_given, rounded_down, rounded_up
from ...mechanisms.notebook import InNotebook
from ..bracket import Bracket

SolveFor = Literal["noise_multiplier", "noise_std", "rounds", "cohort", "sampling_rate", "clip_norm"]

WHOLE = ("rounds", "cohort")
"""What is solved for in whole numbers."""

STARTS = {
    "noise_multiplier": (1e12, 1.0, 1e-6),
    "noise_std": (1e12, 1.0, 1e-12),
    "rounds": (1.0, 1024.0, 2.0**53),
    "cohort": (1.0, 64.0, 2.0**53),
    "sampling_rate": (2.0**-40, 2.0**-6, 1.0),
    "clip_norm": (1e-12, 1.0, 1e12),
}
"""Where the search starts (in the middle), and where it gives up: the safest value, and the boldest."""


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
        first = f"{safe_side(self.solve_for, self.value)}{self.of} meets {met}"
        return f"{first}\n  epsilon in {self.epsilon.ends}, in {self.seconds:.3g} s"

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        solved = {"solve_for": self.solve_for.replace("_", "-"), "value": self.value, "epsilon": self.target}
        met = self.epsilon.to_json("epsilon") | {"delta": self.delta, "beyond": self.beyond}
        return solved | met | {"seconds": self.seconds}


def safe_side(solve_for: SolveFor, value: float) -> str:
    """ "NAME = VALUE" in ten digits, rounded to the side that still meets the target: noise up, a rate or clip down."""
    if solve_for in WHOLE:
        shown = str(int(value))
    else:
        shown = rounded_up(value, 10) if solve_for in ("noise_multiplier", "noise_std") else rounded_down(value, 10)
    return f"{solve_for.replace('_', '-')} = {shown}"


@dataclass(frozen=True, slots=True)
class Search:
    """For the value of `solve_for` whose bracket meets the target, next to one, at most gap away, that misses it.

    seen: the brackets of all values tried; searches for several targets share them.
    """

    bracket: Callable[[float], Bracket]
    solve_for: SolveFor
    target: float
    gap: float
    quantity: str = "epsilon"
    seen: dict[float, Bracket] = field(default_factory=dict)

    def at(self, value: float) -> Bracket:
        """The bracket at a value, computed once."""
        if value not in self.seen:
            self.seen[value] = self.bracket(value)
        return self.seen[value]

    def from_start(self, most: float) -> Calibration:
        """From a value that meets the target and one that misses it to two neighbouring ones."""
        ends = self._seen_ends()
        if ends is not None:
            return self._between(*ends)
        return self._outwards(min(STARTS[self.solve_for][1], most), 2.0, most)

    def from_near(self, value: float, factor: float) -> Calibration:
        """The same from a value that is thought to be near, in steps of this factor."""
        return self._outwards(value, factor, math.inf)

    def _outwards(self, value: float, step: float, most: float) -> Calibration:
        safest, _, boldest = (min(start, most) for start in STARTS[self.solve_for])
        found = self.at(value)
        met = found.upper <= self.target
        limit = boldest if met else safest
        factor = step if limit > value else 1 / step
        while value != limit:
            last, value = (value, found), _towards(value, factor, limit)
            found = self.at(value)
            if (found.upper <= self.target) != met:
                here = value, found
                return self._between(last, here) if met else self._between(here, last)
        if not met:
            name = self.solve_for.replace("_", " ")
            why = ", since epsilon is infinite" if self.quantity == "epsilon" and found.lower == math.inf else ""
            raise InputError(self.quantity, self.target, f"a larger target: no value of {name} meets this one{why}")
        if self.solve_for != "sampling_rate" and value != most:  # the end of the search, of nothing else
            name = self.solve_for.replace("_", " ")
            expected = f"a smaller target: {name} = {value:g} meets this one, and the search goes no further"
            raise InputError(self.quantity, self.target, expected)
        return Calibration(self.solve_for, self._shown(value), found, None, self.target)

    def _seen_ends(self) -> tuple[tuple[float, Bracket], tuple[float, Bracket]] | None:
        """The boldest value seen that meets the target, and the safest one beyond it, which therefore misses it."""
        safest, _, boldest = STARTS[self.solve_for]
        bolder = sorted(self.seen.items(), key=lambda each: each[0], reverse=boldest < safest)
        met = [at for at, (_, found) in enumerate(bolder) if found.upper <= self.target]
        return (bolder[met[-1]], bolder[met[-1] + 1]) if met and met[-1] + 1 < len(bolder) else None

    def at_decimal(self, found: Calibration) -> Calibration:
        """The same with a shorter decimal towards the value that misses, where one meets the target too.

        Where sums of decimals are exact (currencies/pure_dp.py) this is often the very value that is sought.
        """
        if found.beyond is None or self.solve_for in WHOLE:
            return found
        direction = ROUND_CEILING if found.value > found.beyond else ROUND_FLOOR
        for digits in range(1, 16):
            tried = float(Context(prec=digits, rounding=direction).plus(Decimal(repr(found.beyond))))
            if min(found.value, found.beyond) < tried < max(found.value, found.beyond):
                bracket = self.at(tried)
                met = bracket.upper <= self.target  # else longer decimals miss too: they are nearer to what misses
                return replace(found, value=tried, epsilon=bracket) if met else found
        return found

    def _between(self, good: tuple[float, Bracket], bad: tuple[float, Bracket]) -> Calibration:
        """Until the two are neighbours."""
        whole = self.solve_for in WHOLE
        stalled = 0  # how often in a row the end that meets the target moved; negative: the one that misses it
        while not self._neighbours(good[0], bad[0]):
            trial = self._trial(good, bad, stalled)
            if whole:
                trial = min(max(float(round(trial)), min(good[0], bad[0]) + 1.0), max(good[0], bad[0]) - 1.0)
            found = self.at(trial)
            if found.upper <= self.target:
                stalled = max(1, stalled + 1) if stalled >= 0 else 1
                good = trial, found
            else:
                stalled = min(-1, stalled - 1) if stalled <= 0 else -1
                bad = trial, found
        return Calibration(self.solve_for, self._shown(good[0]), good[1], self._shown(bad[0]), self.target)

    def _shown(self, value: float) -> float:
        return int(value) if self.solve_for in WHOLE else value

    def _neighbours(self, good: float, bad: float) -> bool:
        return abs(good - bad) <= (1.0 if self.solve_for in WHOLE else self.gap * min(good, bad))

    def _trial(self, good: tuple[float, Bracket], bad: tuple[float, Bracket], stalled: int) -> float:
        """A value strictly between: halfway where one end has stalled, else a little beyond where the target is thought
        to be met, as seen from the nearer end, so that the other one comes close as well."""
        low, high = sorted((math.log(good[0]), math.log(bad[0])))
        margin = min(0.45 * self.gap, 0.45 * (high - low))
        aim = self._interpolated(low, high) if abs(stalled) < 3 else None
        if aim is None:
            return math.exp(0.5 * (low + high))
        aim += margin if aim - low < high - aim else -margin
        return math.exp(min(max(aim, low + margin), high - margin))

    def _interpolated(self, low: float, high: float) -> float | None:
        """Where, in logarithms, the curve through the values seen that are nearest to the target meets it."""
        seen = [(x, y.upper / self.target) for x, y in self.seen.items() if self.target and 0.0 < y.upper < math.inf]
        nearest = sorted(((math.log(y), math.log(x)) for x, y in seen), key=lambda each: abs(each[0]))
        for count in (3, 2):
            points = nearest[:count]
            if len({y for y, _ in points}) == count:
                aim = sum(x * math.prod(other / (other - y) for other, _ in points if other != y) for y, x in points)
                if low < aim < high:
                    return aim
        return None


def _towards(value: float, factor: float, limit: float) -> float:
    """The next value, or the limit where that would be beyond it."""
    moved = value * factor
    return min(moved, limit) if factor > 1.0 else max(moved, limit)
