"""About the eps that belongs to a delta where jumps are rare and the saddle point's estimate is far off. No bounds."""

from __future__ import annotations

import math
from dataclasses import replace

from ..bracket import OutOfReach
from ..pairs import Composition
from .inversion import invert
from .rounds import lay
from .saddle import Saddle, plan_above, saddle_at_epsilon

FEW_DIGITS = 10.0
"""-log of the relative error that may be added to delta where a few digits, or only an inequality, are asked for."""

_TRIES = 8


def scouted(composition: Composition, saddle: Saddle) -> Saddle:
    """The saddle point of about the eps that belongs to saddle.log_delta, by inversions to a few digits."""
    for _ in range(_TRIES):
        chosen = plan_above(composition, saddle, FEW_DIGITS)
        try:
            found = invert(lay(composition, chosen.points, FEW_DIGITS + chosen.cancellation), chosen, FEW_DIGITS)
        except OutOfReach:
            return saddle
        epsilon, step = saddle.epsilon, math.inf
        for _ in range(_TRIES):
            _, value, slope = found.log_delta(epsilon)
            step = (saddle.log_delta - value) / min(slope, -0.1 * found.c)
            epsilon = max(0.0, epsilon + step)
            if not abs(step) * found.c > 0.1:
                break
        if not math.isfinite(step):
            return saddle
        moved = abs(epsilon - saddle.epsilon) * saddle.c
        saddle = replace(saddle_at_epsilon(composition, epsilon), log_delta=saddle.log_delta)
        if moved < 1.0:
            break
    return saddle
