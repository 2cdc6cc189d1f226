"""The two-sided privacy-loss-distribution accountant: certified brackets for any composition of this project's pairs.

Each step is replaced by a discrete law that dominates it and one that it dominates (pld_laws.py, pld_cells.py);
their transforms along a tilted line give the composed profiles from above and from below, with aliasing,
truncation and rounding inside the bounds (pld_transform.py, pld_inversion.py). The resolution grows until the
bracket is as narrow as TARGET_WIDTH, or the largest size is reached; the width is reported as it is.
Theory and proofs: docs/theory/pld.md. Relatives: Koskela, Jaelkoe, Honkela 2020 (arXiv 1906.03049); Gopi, Lee,
Wutschitz 2021 (arXiv 2106.02848); Doroshenko et al. 2022 (arXiv 2207.04380).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from . import rounding
from .bracket import Bracket
from .pairs import Composition
from .pld_inversion import (
    Aliases,
    Line,
    Rounds,
    Smoothing,
    infinite_mass,
    log_moment,
    log_peak,
    lower_line,
    upper_line,
)
from .pld_laws import Resolution, Step, steps, supports_pair
from .pld_transform import Frequencies

METHOD = "pld"

TARGET_WIDTH = 1e-5
"""Relative width at which refinement stops: of epsilon, or of delta."""

_LEVELS = ((1 << 13, 1 << 12), (1 << 15, 1 << 14), (1 << 17, 1 << 16), (1 << 19, 1 << 17))
"""(frequencies, cells) of each refinement; the last takes a second or two."""

_PILOT_CELLS = 1024

_ALIASES = 1e-7
"""Aliases are kept below this share of delta."""

_ROUNDING = 1e-7
"""Rounding errors, about 1e-13 a round relative to the integrand, are kept below this share of delta."""


_SHORTEST = 0.02
"""Share of epsilon below which a shorter period is of no use."""


def supports(composition: Composition) -> bool:
    """Every pair but those of which no distribution is known, or whose table of outcomes would be too large."""
    return bool(composition) and all(supports_pair(pair) for pair, _ in composition)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    tail = _tail(composition, delta)
    pilot = _Sides.of(steps(composition, Resolution(_PILOT_CELLS, 1.0, tail)))
    if pilot.infinite_lower > delta:
        return Bracket(math.inf, math.inf, True, METHOD)
    if pilot.infinite_upper >= delta:
        return Bracket(0.0, math.inf, True, METHOD)
    high = min(chernoff(pilot.upper, delta - pilot.infinite_upper), pilot.top)
    answer = Bracket(0.0, high, True, METHOD)
    reach = 8.0
    for count, cells in _LEVELS:
        window = _window(pilot, answer, reach)
        tilt = best_tilt(pilot.upper, window, math.log(delta))
        laws = _Sides.of(steps(composition, Resolution(cells, tilt, tail)))
        profile = _Profile.on(laws, tilt, window, math.log(delta), count)
        answer = answer.intersect(profile.epsilon(delta, answer))
        if answer.width <= TARGET_WIDTH * answer.upper:
            break
        reach *= 8 if answer.lower <= window[0] else 1
    return answer


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0."""
    tail = 1e-40
    for _ in range(2):
        pilot = _Sides.of(steps(composition, Resolution(_PILOT_CELLS, 1.0, tail)))
        if epsilon >= pilot.top:
            return Bracket(pilot.infinite_lower, pilot.infinite_upper, True, METHOD)
        tilt = saddle(pilot.upper, epsilon)
        log_delta = min(log_peak(tilt) + log_moment(pilot.upper, tilt) - tilt * epsilon, 0.0) - 3
        tail = min(tail, _tail(composition, math.exp(max(log_delta, -600.0))))
    tilt = best_tilt(pilot.upper, (epsilon, epsilon), log_delta)
    answer = Bracket(0.0, 1.0, True, METHOD)
    for count, cells in _LEVELS:
        laws = _Sides.of(steps(composition, Resolution(cells, tilt, tail)))
        profile = _Profile.on(laws, tilt, (epsilon, epsilon), log_delta, count)
        answer = answer.intersect(Bracket(profile.lower(epsilon), min(profile.upper(epsilon), 1.0), True, METHOD))
        if answer.width <= TARGET_WIDTH * answer.upper:
            break
    return answer


def _window(pilot: _Sides, answer: Bracket, reach: float) -> tuple[float, float]:
    """Where to look for the crossing: about `reach` e-folds of the profile below the known upper bound.

    Near the largest loss of a bounded one nothing is resolved: the bracket is narrow enough a little below it.
    """
    high = min(answer.upper, pilot.top * (1 - 0.2 * TARGET_WIDTH))
    return max(answer.lower, high - reach / saddle(pilot.upper, high), 0.0), high


def _tail(composition: Composition, delta: float) -> float:
    """Mass of a tail that may be lost in one round: far below delta even after all rounds."""
    return max(1e-285, _ALIASES * delta / sum(rounds for _, rounds in composition))


@dataclass(frozen=True)
class _Sides:
    """The dominating and the dominated laws, each with its number of rounds."""

    upper: Rounds
    lower: Rounds
    infinite_upper: float
    infinite_lower: float
    top: float

    @classmethod
    def of(cls, parts: list[Step]) -> _Sides:
        upper = [(part.upper, part.rounds) for part in parts]
        lower = [(part.lower, part.rounds) for part in parts]
        return cls(
            upper,
            lower,
            rounding.widened_up(infinite_mass(upper), 1e-13),
            max(0.0, rounding.widened_down(infinite_mass(lower), 1e-13)),
            rounding.widened_up(math.fsum(rounds * law.top for law, rounds in upper), 1e-15),
        )


def chernoff(laws: Rounds, delta: float) -> float:
    """The least epsilon with exp(log_peak(c) + log_moment(c) - c epsilon) <= delta, over c."""

    def bound(log_c: float) -> float:
        c = math.exp(log_c)
        return (log_peak(c) + log_moment(laws, c) - math.log(delta)) / c

    return max(0.0, rounding.widened_up(bound(_minimised(bound)), 1e-9))


def saddle(laws: Rounds, epsilon: float) -> float:
    """The c at which the integrand of the inversion is smallest on the real line."""

    def exponent(log_c: float) -> float:
        c = math.exp(log_c)
        return log_moment(laws, c) - c * epsilon - log_c - math.log1p(c)

    return math.exp(_minimised(exponent))


def best_tilt(laws: Rounds, window: tuple[float, float], log_delta: float) -> float:
    """The c of the shortest period (so the finest smoothing) among those where rounding stays small."""

    largest_scale = max(2.0, math.log(_ROUNDING / (1e-13 * sum(rounds for _, rounds in laws))))

    def cost(log_c: float) -> float:
        c = math.exp(log_c)
        period = Aliases.of(laws, c).period(window, log_delta + math.log(_ALIASES))
        scale = log_moment(laws, c) - c * window[1] + log_peak(c) - log_delta
        return math.log(max(period, _SHORTEST * window[1])) + max(0.0, scale - largest_scale) + 0.01 * abs(scale)

    return math.exp(_minimised(cost))


def _minimised(function: Callable[[float], float]) -> float:
    """log c where a function is about smallest: a coarse grid, then golden section. Any c gives valid bounds."""
    grid = np.linspace(-9.0, 25.0, 52)
    best = int(np.argmin([function(float(point)) for point in grid]))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)])
    return float(minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": 1e-2}).x)


@dataclass(frozen=True)
class _Profile:
    """Bounds of delta(eps) on one line."""

    laws: _Sides
    above: Line
    below: Line
    aliases: Aliases
    period: float

    @classmethod
    def on(cls, laws: _Sides, c: float, window: tuple[float, float], log_delta: float, count: int) -> _Profile:
        """Of use in the window, where delta is about e^{log_delta}."""
        aliases = Aliases.of(laws.lower, c)
        target = log_delta + math.log(_ALIASES)
        period = max(aliases.period(window, target), Aliases.of(laws.upper, c).period(window, target))
        grid = Frequencies.covering(period, count)
        excess = log_moment(laws.upper, c) + log_peak(c) - c * window[0] - log_delta
        smoothing = Smoothing.within(grid, min(excess, 60.0))
        above, below = upper_line(laws.upper, c, grid, smoothing), lower_line(laws.lower, c, grid, smoothing)
        return cls(laws, above, below, aliases, grid.period)

    def upper(self, epsilon: float) -> float:
        """At least delta(epsilon)."""
        log_scale, value, error = self.above.sum(epsilon)
        finite = math.exp(min(log_scale, 700.0)) * max(value + error, 0.0)
        return rounding.up(self.laws.infinite_upper + finite * (1 + 1e-14), 3)

    def lower(self, epsilon: float) -> float:
        """At most delta(epsilon)."""
        log_scale, value, error = self.below.sum(epsilon)
        if log_scale > 700:
            return self.laws.infinite_lower
        finite = math.exp(log_scale) * (value - error) * (1 - 1e-14)
        finite -= math.exp(min(self.aliases.log_bound(epsilon, self.period), 700.0))
        return self.laws.infinite_lower + max(0.0, rounding.down(finite, 3))

    def epsilon(self, delta: float, known: Bracket) -> Bracket:
        """Both ends, by searches for the crossings that end on the safe side."""
        low, high = delta * (1 - 4 * rounding.UNIT), delta * (1 + 4 * rounding.UNIT)
        if self.upper(known.lower) <= low:
            return Bracket(known.lower, known.lower, True, METHOD)
        above = self._crossing(self.upper, low, known.lower, known.upper)
        upper = min(next((x for x in _nearby(above, 1) if self.upper(x) <= low), known.upper), known.upper)
        # Far below the crossing the lower bound is useless: aliases. Walk down to where it exceeds delta.
        walk = (max(known.lower, upper * (1 - 4.0**exponent)) for exponent in range(-18, 1))
        start = next((x for x in (known.lower, *walk) if self.lower(x) >= high), None)
        if start is None:
            return Bracket(known.lower, upper, True, METHOD)
        below = self._crossing(self.lower, high, start, upper)
        lower = next((x for x in _nearby(below, -1) if start < x <= upper and self.lower(x) >= high), start)
        return Bracket(lower, upper, True, METHOD)

    @staticmethod
    def _crossing(bound: Callable[[float], float], target: float, left: float, right: float) -> float:
        """Where the bound, above the target at left, is about the target; right if it is above it there too."""

        def excess(x: float) -> float:
            return math.log(max(bound(x), 1e-320) / target)

        return right if excess(right) >= 0 else float(brentq(excess, left, right, xtol=1e-13 * right, rtol=1e-13))


def _nearby(root: float, direction: int) -> Iterator[float]:
    """Points that move away from the root, by 1e-14 to 1e-4 of it."""
    return (max(0.0, root * (1 + direction * 10.0**exponent)) for exponent in range(-14, -3))
