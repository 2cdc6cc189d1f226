"""Directed rounding, and the platform's elementary functions against 200-bit balls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from dpcert.accounting.rounding import (
    ELEMENTARY,
    UNIT,
    down,
    float_above,
    float_below,
    up,
    widened_down,
    widened_up,
)

MAGNITUDES = np.concatenate([np.random.default_rng(1).uniform(-1, 1, 3000) * 10.0**k for k in range(-12, 3)])
LARGE_ANGLES = np.random.default_rng(2).uniform(-1e6, 1e6, 3000)
POLES = (np.arange(-500, 500) + 0.5) * np.pi
FUNCTIONS = {
    "exp": (np.exp, arb.exp, MAGNITUDES),
    "expm1": (np.expm1, arb.expm1, MAGNITUDES),
    "log": (np.log, arb.log, np.abs(MAGNITUDES)),
    "log1p": (np.log1p, arb.log1p, MAGNITUDES[MAGNITUDES > -1]),
    "sin": (np.sin, arb.sin, np.concatenate([MAGNITUDES, LARGE_ANGLES])),
    "cos": (np.cos, arb.cos, np.concatenate([MAGNITUDES, LARGE_ANGLES])),
    "tan": (np.tan, arb.tan, np.concatenate([MAGNITUDES, LARGE_ANGLES, POLES])),
}


def units(computed: float, exact: arb) -> float:
    """Relative error in UNITs."""
    return abs(float((arb(computed) - exact) / exact)) / UNIT


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementary_functions_keep_half_the_assumed_accuracy(name: str) -> None:
    function, ball, points = FUNCTIONS[name]
    values: NDArray[np.float64] = function(points)
    with ctx.workprec(200):
        worst = max(units(float(v), ball(arb(float(x)))) for x, v in zip(points, values, strict=True))
    assert worst <= ELEMENTARY / 2


def test_two_argument_functions_keep_half_the_assumed_accuracy() -> None:
    generator = np.random.default_rng(3)
    x, y = (generator.standard_normal(5000) * 10.0 ** generator.uniform(-9, 3, 5000) for _ in range(2))
    with ctx.workprec(200):
        angle = max(
            units(float(v), arb.atan2(arb(float(b)), arb(float(a))))
            for a, b, v in zip(x, y, np.arctan2(y, x), strict=True)
        )
        length = max(
            units(float(v), (arb(float(a)) ** 2 + arb(float(b)) ** 2).sqrt())
            for a, b, v in zip(x, y, np.hypot(x, y), strict=True)
        )
    assert max(angle, length) <= ELEMENTARY / 2


def test_up_and_down_are_neighbours() -> None:
    assert up(1.0) == 1.0 + 2 * UNIT
    assert down(1.0) == 1.0 - UNIT
    assert up(0.0) == 5e-324
    assert down(up(0.3, 5), 5) == 0.3
    assert up(math.inf) == math.inf


@pytest.mark.parametrize("value", [1.0, -3.7, 1e-310, 0.1, 1e300])
@pytest.mark.parametrize("relative", [2.0**-53, 1e-9, 0.3])
def test_widened_values_are_outside(value: float, relative: float) -> None:
    with ctx.workprec(200):
        distance = abs(arb(value)) * arb(relative)
        assert arb(widened_up(value, relative)) >= arb(value) + distance
        assert arb(widened_down(value, relative)) <= arb(value) - distance


def test_balls_round_outwards() -> None:
    with ctx.workprec(300):
        third = arb(1) / 3
        assert float_below(third) < third < float_above(third)
        assert float_above(arb(10) ** -400) > 0.0
        assert float_below(arb(10) ** -400) <= 0.0
        assert math.isnan(float_above(arb.nan()))
