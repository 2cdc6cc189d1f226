"""Where jumps are rare: the bent contours, and when they are the ones to take."""

from __future__ import annotations

import math
from dataclasses import replace

from ..bracket import OutOfReach
from ..pairs import Composition
from ..rounding import widened_down
from .bent import GOAL, Approached, approach, crossing, invert_bent, serves
from .crossing import epsilon_above, epsilon_below
from .cut import invert_cut
from .paths import Sampled
from .rotated import STEEP, WIDE
from .rounds import phases
from .saddle import Saddle, saddle_at_epsilon
from .several import Several, alone, invert_several, spread

_SETTLED = 1e-3
"""Relative width at which only another place to cross the real line would narrow a bracket."""

_RARE = 1.0
"""Jumps expected in all rounds up to which the bent contour is the faster one."""

_LARGE = 1.6
"""Shift from which on jumps weigh so much that the path must climb slowly."""

_LOW, _HIGH, _HALVINGS = 1e-13, 1e4, 16
_HOPELESS = 0.5
"""Width in log delta from which on a search is not worth its time."""

_MOVED = 0.8, 1.4
"""How far from where it was laid out an inversion's eps may be without being laid out anew."""

_TRIES = 3

_BELOW_WIDTH = 8.0
"""-log of delta's accuracy over the relative width of eps that is enough: eps c may be small, and bounds add up."""

_FAINT = 1e-6
"""Rate up to which E[e^{cL}] - 1 is of the size of its rounding on the vertical line."""

BULK, _MIXED = 0.6, 1.2
"""Shifts below which cutting losses off is the quickest way, and below which it is worth trying."""


def certain_to_hide(composition: Composition, delta: float) -> bool:
    """Whether delta certainly covers all jumps: the profile at 0 is at most the rounds' rates together."""
    parts, gaussian = phases(composition)
    return not gaussian and math.fsum(count * pair.rate for pair, count in parts) <= widened_down(delta, 1e-14)


def rare(composition: Composition) -> tuple[Sampled, int] | None:
    """The one kind of rounds and their number, where the bent contour serves them and is faster."""
    parts, gaussian = phases(composition)
    if gaussian or len(parts) != 1:
        return None
    pair, count = parts[0]
    return parts[0] if serves(pair) and pair.rate * count <= _RARE else None


def cut_first(composition: Composition) -> tuple[Sampled, int] | None:
    """The one kind of rounds and their number, where cutting losses off is what is tried first and no bent contour is:
    tiny rates and shifts, whose losses doubles on the vertical line lose; and rare jumps of the replace and hybrid
    orders, for which there is none."""
    parts, gaussian = phases(composition)
    if gaussian or len(parts) != 1:
        return None
    pair, count = parts[0]
    if pair.order == "remove":
        return parts[0] if pair.shift < BULK and pair.rate <= _FAINT else None
    few = pair.rate * count <= _RARE or pair.rate <= _FAINT
    return parts[0] if few and pair.order != "add" and pair.shift < (BULK if pair.rate >= 1e-3 else _MIXED) else None


def narrow_range(pair: Sampled, count: int) -> bool:
    """Whether the narrowest brackets are promised, for which one round's delta need not be taken out of the sum."""
    return pair.rate >= 1e-3 and count >= 100


def several_at(pair: Sampled, count: int, epsilon: float) -> Several:
    """The inversion for an eps. Raises OutOfReach where it does not serve."""
    if not epsilon > 0.0:
        raise OutOfReach("eps is 0")
    deviation = spread(pair, count)
    bulk = deviation * math.exp(-min(0.5 * (epsilon / deviation) ** 2, 700.0))
    return _several(pair, count, epsilon, math.log(max(alone(pair, count, epsilon)[0], bulk, 1e-100)))


def between_by_several(
    pair: Sampled, count: int, log_delta: float, targets: tuple[float, float], enough: float
) -> tuple[float, float]:
    """The interval of eps with one round's delta taken out of the sum; (0, infinity) where that does not serve."""
    epsilon, least, most = _likely(pair, count, log_delta), 0.0, math.inf
    for _ in range(_TRIES):
        try:
            found = _several(pair, count, epsilon, log_delta)
        except OutOfReach:
            break
        start = approach(found, epsilon, log_delta)
        low, high, _ = found.log_delta(start)
        if high - low < _HOPELESS:
            lower, upper = _around(found, start, targets)
            least, most = max(least, lower), min(most, upper)
        if most - least <= enough * min(most, 1e300) or _MOVED[0] * epsilon < start < _MOVED[1] * epsilon:
            break
        epsilon = start
    return least, most


def between_by_cutting(
    pair: Sampled, count: int, log_delta: float, targets: tuple[float, float], enough: float
) -> tuple[float, float]:
    """The interval of eps with losses cut off, for a relative width of about enough; (0, infinity) out of its reach."""
    epsilon, least, most = _likely(pair, count, log_delta), 0.0, math.inf
    for _ in range(_TRIES if pair.shift < _MIXED else 0):
        try:
            found = invert_cut(pair, count, epsilon, log_delta, 0.2 * enough)
        except OutOfReach:
            break
        start = approach(found, epsilon, log_delta)
        low, high, _ = found.log_delta(start)
        if high - low < _HOPELESS:
            lower, upper = _around(found, start, targets)
            least, most = max(least, lower), min(most, upper)
        if most - least <= enough * min(most, 1e300) or abs(start - epsilon) <= 0.03 * epsilon:
            break
        epsilon = start
    return least, most


def _several(pair: Sampled, count: int, epsilon: float, log_delta: float) -> Several:
    return invert_several(pair, count, epsilon, log_delta, STEEP if pair.shift >= _LARGE else WIDE)


def _likely(pair: Sampled, count: int, log_delta: float) -> float:
    """About the eps that belongs to a delta: the larger of what single jumps need and what the bulk needs."""
    low, high = _LOW, _HIGH
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if alone(pair, count, middle)[0] > math.exp(log_delta) else (low, middle)
    deviation = spread(pair, count)
    distance = math.sqrt(2.0 * max(0.5, math.log(deviation) - log_delta))
    distance = math.sqrt(2.0 * max(0.1, math.log(deviation) - 2.0 * math.log(distance) - log_delta))
    return max(high, deviation * distance)


def between_on_the_bent_contour(
    composition: Composition,
    pair: Sampled,
    count: int,
    saddle: Saddle,
    targets: tuple[float, float],
    enough: float,
) -> tuple[tuple[float, float], Saddle]:
    """The interval of eps by the bent contour, laid out anew where the first one put the crossing if that is wide.

    targets: log deltas, one to be certainly met at the upper end, one to be certainly exceeded at the lower.
    """
    least, most = 0.0, math.inf
    for goal in (min(GOAL, _BELOW_WIDTH - math.log(enough)), GOAL):
        try:
            found = invert_bent(pair, count, saddle, goal)
        except OutOfReach:
            break
        start = approach(found, saddle.epsilon, saddle.log_delta)
        lower, upper = _around(found, start, targets)
        least, most = max(least, lower), min(most, upper)
        if most - least <= enough * min(most, 1e300):
            break
        saddle = replace(saddle_at_epsilon(composition, start), log_delta=saddle.log_delta)
        settled = goal == GOAL and most - least <= _SETTLED * min(most, 1e300)
        if settled and abs(crossing(pair, saddle) - found.c) <= 0.01 * found.c:
            break
    return (least, most), saddle


def _around(inversion: Approached, start: float, targets: tuple[float, float]) -> tuple[float, float]:
    """An interval of eps about start, where delta is about the target: a step from its bounds there to either side.

    log delta(first) > targets[1] or first = 0, and log delta(second) <= targets[0].
    """
    low, high, slope = inversion.log_delta(start)
    least = start - 1.02 * max(0.0, targets[1] - low) / -slope - 2.0**-46 * start
    most = start + 1.02 * max(0.0, high - targets[0]) / -slope + 2.0**-46 * start
    if not (math.isfinite(most) and inversion.log_delta(most)[1] <= targets[0]):
        most = epsilon_above(inversion, targets[0], start)
    if not (least > 0.0 and inversion.log_delta(least)[0] > targets[1]):
        least = epsilon_below(inversion, targets[1], min(most, 1e300))
    return least, most
