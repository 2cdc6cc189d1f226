"""Where jumps are rare: the bent contour, and when it is the one to take."""

from __future__ import annotations

import math
from dataclasses import replace

from ..bracket import OutOfReach
from ..pairs import Composition
from ..rounding import widened_down
from .bent import BentInversion, approach, crossing, invert_bent, serves
from .crossing import epsilon_above, epsilon_below
from .paths import Sampled
from .rounds import phases
from .saddle import Saddle, saddle_at_epsilon

_SETTLED = 1e-3
"""Relative width at which only another place to cross the real line would narrow a bracket."""

_RARE = 1.0
"""Jumps expected in all rounds up to which the bent contour is the faster one."""


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
    for _ in range(2):
        try:
            found = invert_bent(pair, count, saddle)
        except OutOfReach:
            break
        start = approach(found, saddle.epsilon, saddle.log_delta)
        lower, upper = _around(found, start, targets)
        least, most = max(least, lower), min(most, upper)
        if most - least <= enough * min(most, 1e300):
            break
        saddle = replace(saddle_at_epsilon(composition, start), log_delta=saddle.log_delta)
        if most - least <= _SETTLED * min(most, 1e300) and abs(crossing(pair, saddle) - found.c) <= 0.01 * found.c:
            break
    return (least, most), saddle


def _around(inversion: BentInversion, start: float, targets: tuple[float, float]) -> tuple[float, float]:
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
