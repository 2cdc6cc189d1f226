"""Certified bounds of delta(eps) on one line of inversion, and the search for the epsilons where they meet delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..bracket import Bracket, OutOfReach
from ..rounding import TARGET, down, up
from .inversion import Aliases, Line, Smoothing, log_peak, lower_line, upper_line
from .search import ALIASES
from .sides import Part, Sides
from .transform import Frequencies

METHOD = "pld"

_LARGEST_LOG = 700.0


@dataclass(frozen=True)
class Inverted:
    """Bounds of one part's share of delta(eps): valid everywhere, tight in the window that they were made for."""

    above: Line
    below: Line
    aliases: Aliases
    period: float

    @classmethod
    def on(cls, part: Part, c: float, window: tuple[float, float], log_delta: float, count: int) -> Inverted:
        """With `count` frequencies on the line Re t = c, for epsilons in the window, where delta is about
        e^{log_delta}."""
        aliases = Aliases.of(part.lower, c)
        target = log_delta + math.log(ALIASES)
        period = max(aliases.period(window, target), Aliases.of(part.upper, c).period(window, target))
        grid = Frequencies.covering(period, count)
        excess = part.upper.log_moment(c) + log_peak(c) - c * window[0] - log_delta
        smoothing = Smoothing.within(grid, min(excess, 60.0))
        if smoothing.reach > _LARGEST_LOG / 4:
            raise OutOfReach(f"losses spread over {period:.3g}: {count} frequencies resolve {smoothing.reach:.3g}")
        above, below = upper_line(part.upper, c, grid, smoothing), lower_line(part.lower, c, grid, smoothing)
        return cls(above, below, aliases, grid.period)

    def upper(self, epsilon: float) -> float:
        """At least the share, 1 or less; `Profile.upper` rounds the sum."""
        log_scale, value, error = self.above.sum(epsilon)
        return 1.0 if log_scale > _LARGEST_LOG else math.exp(log_scale) * max(value + error, 0.0) * (1 + 1e-12)

    def lower(self, epsilon: float) -> float:
        """At most the share; `Profile.lower` rounds the sum."""
        log_scale, value, error = self.below.sum(epsilon)
        log_alias = self.aliases.log_bound(epsilon, self.period)
        if max(log_scale, log_alias) > _LARGEST_LOG:
            return 0.0
        return max(0.0, math.exp(log_scale) * (value - error) * (1 - 1e-14) - math.exp(log_alias) * (1 + 1e-12))


@dataclass(frozen=True)
class Profile:
    """Bounds of delta(eps) from those of its parts."""

    sides: Sides
    parts: tuple[Inverted, ...]

    @classmethod
    def on(
        cls, sides: Sides, tilts: Sequence[float], window: tuple[float, float], log_delta: float, count: int
    ) -> Profile:
        """Each part inverted on the line of its own tilt."""
        pairs = zip(sides.parts, tilts, strict=True)
        return cls(sides, tuple(Inverted.on(part, c, window, log_delta, count) for part, c in pairs))

    def upper(self, epsilon: float) -> float:
        """At least delta(epsilon)."""
        log_rest = self.sides.rest_start - self.sides.rest_exponent * epsilon
        rest = math.exp(log_rest) * (1 + 1e-12) if log_rest < 0 else 1.0
        finite = sum(part.upper(epsilon) for part in self.parts) + rest
        return min(1.0, up(self.sides.infinite_upper + finite, 3 + len(self.parts)))

    def lower(self, epsilon: float) -> float:
        """At most delta(epsilon)."""
        finite = sum(part.lower(epsilon) for part in self.parts)
        return self.sides.infinite_lower + max(0.0, down(finite, 3 + len(self.parts)))

    def epsilon(self, delta: float, known: Bracket) -> Bracket:
        """A bracket of the epsilon at delta inside a known one; both searches end on the safe side."""
        low, high = delta * (1 - 4 * TARGET), delta * (1 + 4 * TARGET)
        if self.upper(known.lower) <= low:
            return Bracket(known.lower, known.lower, True, METHOD)
        above = _crossing(self.upper, low, known.lower, known.upper)
        upper = min(next((x for x in _nearby(above, 1) if self.upper(x) <= low), known.upper), known.upper)
        # Far below the crossing the lower bound is useless: aliases. Walk down to where it exceeds delta.
        walk = (max(known.lower, upper * (1 - 4.0**exponent)) for exponent in range(-18, 1))
        start = next((x for x in (known.lower, *walk) if self.lower(x) >= high), None)
        if start is None:
            return Bracket(known.lower, upper, True, METHOD)
        below = _crossing(self.lower, high, start, upper)
        lower = next((x for x in _nearby(below, -1) if start < x <= upper and self.lower(x) >= high), start)
        return Bracket(lower, upper, True, METHOD)


def _crossing(bound: Callable[[float], float], target: float, left: float, right: float) -> float:
    """Where the bound, above the target at left, is about the target; right if it is above it there too."""

    def excess(x: float) -> float:
        return math.log(max(bound(x), 1e-320) / target)

    from scipy.optimize import brentq  # here: it would double the time that importing the accountants takes

    return right if excess(right) >= 0 else float(brentq(excess, left, right, xtol=1e-13 * right, rtol=1e-13))


def _nearby(root: float, direction: int) -> Iterator[float]:
    """Points that move away from the root, by 1e-14 to 1e-4 of it."""
    return (max(0.0, root * (1 + direction * 10.0**exponent)) for exponent in range(-14, -3))
