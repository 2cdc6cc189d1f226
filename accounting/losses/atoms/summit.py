"""Both ends next to the largest losses of a bounded law, where no frequency resolves anything.

If the composed loss is at least l with probability m, then delta(eps) >= m (1 - e^{eps - l}), so that
eps >= l + log(1 - delta / m): sharp where delta is far below m and almost no mass is above l. And if it is above l
with probability at most delta, then eps <= l.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...rounding import ELEMENTARY, TARGET, UNIT, down, up, widened_down, widened_up
from .steps import Step

_PRICES = tuple(4.0**k for k in range(25))
"""How many e-folds of mass a loss of the size of epsilon may cost: any choice is valid."""


def lower_at_summit(steps: Sequence[Step], infinite: float, delta: float, epsilon: float) -> float:
    """At most the epsilon of the steps at delta; 0 where some step's large losses have no mass of their own.

    infinite: at most the mass at infinity, which uses up as much of delta. epsilon: the size that is expected.
    """
    summits = ([(*s.lower.summit(price / epsilon, delta), s.rounds) for s in steps] for price in _PRICES)
    return max(_lower(each, infinite, delta) for each in summits)


def upper_at_summit(steps: Sequence[Step], infinite: float, delta: float) -> float:
    """At least the epsilon of the steps at delta; infinity where a step's losses have no bound.

    infinite: at least the mass at infinity. Each step may exceed its ceiling with its share of what is left of delta.
    """
    left = down(widened_down(delta, 2 * TARGET) - infinite)
    if left <= 0:
        return math.inf
    ceilings = [s.rounds * s.upper.ceiling(down(down(left / len(steps)) / s.rounds)) for s in steps]
    return max(0.0, up(math.fsum(ceilings) + 2 * UNIT * math.fsum(map(abs, ceilings)), 2))


def _lower(summits: Sequence[tuple[float, float, int]], infinite: float, delta: float) -> float:
    """The bound from one (loss, mass, rounds) a step."""
    if any(mass <= 0 for _, mass, _ in summits):
        return 0.0
    losses = [rounds * loss for loss, _, rounds in summits]
    loss = down(math.fsum(losses) - 2 * UNIT * math.fsum(map(abs, losses)), 2)
    log_mass = math.fsum(rounds * math.log(mass) for _, mass, rounds in summits)
    mass = widened_down(math.exp(widened_down(log_mass, 4 * ELEMENTARY * UNIT)), 2 * ELEMENTARY * UNIT)
    share = up(up(widened_up(delta, 2 * TARGET) - infinite) / mass) if mass > 0 else math.inf
    if share >= 1:
        return 0.0
    return max(0.0, down(loss + widened_down(math.log1p(-share), 2 * ELEMENTARY * UNIT)))
