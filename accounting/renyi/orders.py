"""The best Renyi order, searched continuously: no grid for the user to tune.

Any order gives a valid bound, so the search need not be certified; only its result is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = (math.sqrt(5) - 1) / 2
_LOWEST, _HIGHEST = -9.0, 24.0
"""The searched range of log(alpha - 1)."""


def best_order(
    objective: Callable[[float], float], start: float = 8.0, tolerance: float = 1e-4, step: float = 0.35
) -> float:
    """The alpha > 1 that minimises the objective, to the relative tolerance in alpha - 1.

    Steps outwards from `start`, the first one `step` in log(alpha - 1), each twice the last, until the objective rises,
    then narrows by golden sections: it has no derivative of which `crossing` would find the root.
    The objective is unimodal for every conversion of a convex log-moment (docs/theory/rdp.md, "Orders"); were it
    not, a worse but valid order would come out.
    """

    def at(position: float) -> float:
        return objective(1 + math.exp(position))

    left, middle, right = _bracket(at, min(max(math.log(start - 1), _LOWEST), _HIGHEST), step)
    inner = (right - _GOLDEN * (right - left), left + _GOLDEN * (right - left))
    values = (at(inner[0]), at(inner[1]))
    while right - left > tolerance:
        if values[0] <= values[1]:
            right, inner = inner[1], (inner[1] - _GOLDEN * (inner[1] - left), inner[0])
            values = (at(inner[0]), values[0])
        else:
            left, inner = inner[0], (inner[1], inner[0] + _GOLDEN * (right - inner[0]))
            values = (values[1], at(inner[1]))
    return 1 + math.exp(min((values[0], inner[0]), (values[1], inner[1]), (at(middle), middle))[1])


def _bracket(at: Callable[[float], float], start: float, first: float) -> tuple[float, float, float]:
    """(left, middle, right) with at(middle) no larger than at either end, unless an end of the range is reached."""
    middle, value = start, at(start)
    ends = []
    for direction in (-1.0, 1.0):
        step, end = first, middle + direction * first
        while _LOWEST < end < _HIGHEST:
            value_there = at(end)
            if value_there > value or (value_there == value and math.isfinite(value)):
                break
            middle, value = end, value_there
            step *= 2
            end += direction * step
        ends.append(min(max(end, _LOWEST), _HIGHEST))
    return ends[0], middle, ends[1]
