"""One round's profiles: above the truth, and next to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import few

from dpcert.accounting.cohorts.round_profiles import Triangle, above, add_above, opposed_above, remove_above
from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.pairs import GaussianPair, OpposedPair, SubsampledPair

from .oracle import precise_profile

LOSSES = [0.0, 1e-3, 0.05, 0.4, 1.5]


@pytest.mark.parametrize(
    ("rate", "triangle"),
    few(
        [
            (0.49, Triangle(0.02, 0.12, 0.1)),
            (0.25, Triangle(0.3, 0.9, 0.7)),
            (0.25, Triangle(0.0, 0.08, 0.99)),
            (0.01, Triangle(1.1, 0.4, 1.3)),
            (0.3, Triangle(0.5, 2.5, 0.02)),
        ],
        8,
    ),
)
def test_triangles_against_an_integral_along_the_other_side(rate: float, triangle: Triangle) -> None:
    losses = [0.0, 0.05, 0.7]
    found = above(np.array(losses), rate, triangle)
    assert found is not None
    for loss, value in zip(losses, found, strict=True):
        truth = precise_profile(loss, rate, (triangle.a1, triangle.a2), (triangle.b, 0.0))
        assert truth <= value <= truth + 5e-12 * rate + 1e-15


def test_lines_against_ball_arithmetic() -> None:
    for rate, move in ((0.5, 0.1), (0.01, 1.5), (0.2, 4.0)):
        for order, bound in (("remove", remove_above), ("add", add_above)):
            pair = SubsampledPair(GaussianPair(move), rate, order)  # type: ignore[arg-type]
            for loss, value in zip(LOSSES, bound(np.array(LOSSES), rate, move), strict=True):
                ball = profile(pair, 1, loss)
                assert ball <= float(value) <= float(ball.mid()) + 1e-12
        for loss, value in zip(LOSSES, opposed_above(np.array(LOSSES), rate, move), strict=True):
            ball = profile(OpposedPair(move, rate, "remove"), 1, loss)
            assert ball <= float(value) <= float(ball.mid()) + 1e-12


def test_a_triangle_too_flat_is_not_guessed() -> None:
    assert above(np.array([0.1]), 0.2, Triangle(0.5, 1e-6, 0.3)) is None


def test_the_trapezoidal_bound_is_that_of_the_theorem() -> None:
    """Twice the step that Theorem 5 allows has an error far above the one that is added: the bound is not idle."""
    a1, a2, b, rate = 0.3, 0.9, 0.7, 0.25
    losses = np.array([0.4])
    good = above(losses, rate, Triangle(a1, a2, b))
    assert good is not None

    def coarse(step: float) -> float:
        x = step * (np.arange(-60, 61) + 0.37)
        u, w = np.exp(a1 * x - a1 * a1 / 2), np.exp(b * x - b * b / 2)
        k = (1 - rate) * np.expm1(losses) / rate + np.exp(losses) * w
        d = np.log(u / k) / a2 + a2 / 2
        tail = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in d])
        rest = np.array([0.5 * math.erfc(-(value - a2) / math.sqrt(2)) for value in d])
        return float(np.sum(step * np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * rate * (u * tail - k * rest)))

    assert abs(coarse(0.3) - float(good[0])) < 1e-12
    assert abs(coarse(2.0) - float(good[0])) > 1e-7
