"""Directed rounding: the one home of how computed numbers become bounds.

The names say the direction: `up` and `down` move a value to a neighbouring double, `widened_up` and
`widened_down` by a relative amount. A sum or product of a few doubles is a bound after `up` or `down` as many
times as it has operations.

Assumption on the platform (tests/accounting/test_rounding.py measures it against 200-bit balls): additions,
products, quotients and square roots are correctly rounded; exp, expm1, log, log1p, sin, cos, tan, arctan2 and
hypot of libm and numpy have a relative error below ELEMENTARY * UNIT. Measured: below 1.3 units. The special functions
of scipy are worse (ndtr, log_ndtr: up to 300 units); who uses them states a margin of their own.
"""

from __future__ import annotations

import math
from enum import Enum

from flint import arb

UNIT = 2.0**-53
"""Half a unit in the last place of 1: the relative error of one rounding to nearest."""

ELEMENTARY = 4.0
"""Accuracy, in UNITs, assumed of elementary functions."""

PARAMETER = 2.0**-52
"""Relative width given to a pair's parameters: a double stands for any real within one rounding of the input
(the decimal 1.1 is not a double) and one of the operation that made it (shift = 1 / noise_multiplier,
rate = cohort / population)."""

TARGET = 2.0**-53
"""Relative width given to a target epsilon or delta: the decimal 1e-5 is not a double."""


class End(Enum):
    """Which end of a bracket a number is for: UPPER is rounded up (1.0), LOWER down (-1.0)."""

    UPPER = 1.0
    LOWER = -1.0


def up(value: float, steps: int = 1) -> float:
    """The double `steps` places above value; at least value, infinity included."""
    for _ in range(steps):
        value = math.nextafter(value, math.inf)
    return value


def down(value: float, steps: int = 1) -> float:
    """The double `steps` places below value."""
    for _ in range(steps):
        value = math.nextafter(value, -math.inf)
    return value


def widened_up(value: float, relative: float) -> float:
    """At least value + relative * |value|, whatever the rounding."""
    return up(value + abs(value) * relative, 2)


def widened_down(value: float, relative: float) -> float:
    """At most value - relative * |value|, whatever the rounding."""
    return down(value - abs(value) * relative, 2)


def float_above(ball: arb) -> float:
    """A double that is at least every point of the ball (nan for an indeterminate one)."""
    return up(float(ball.upper()))


def nearest_above(ball: arb) -> float:
    """`float_above`, and the double itself where the ball is one."""
    nearest = float(ball.mid())
    return nearest if ball == arb(nearest) else float_above(ball)


def float_below(ball: arb) -> float:
    """A double that is at most every point of the ball."""
    return down(float(ball.lower()))
