"""Renyi divergences of hidden cohorts (docs/theory/fixed_cohorts.md, section 8) from order 1.05 on: the quick bound."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
import three_numbers
from three_numbers import FAR, NEAR_ZERO, NotProved, prove, prove_near_zero, strips

from dpcert.accounting import epsilon
from dpcert.accounting.cohorts import renyi_end as renyi
from dpcert.mechanisms import FixedSize, Gaussian, Laplace, Repeat

T = mp.mpf("0.05")


def both_sides(big: float, small: float, v: float, t: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """(4) of the theory as it stands there, with b/a = P/M."""
    p, m = mp.mpf(big), mp.mpf(small)
    x, y, a, b = 1 + v * mp.e**p, 1 + v * mp.e**-p, 1 + v * mp.e**-m, 1 + v * mp.e**m
    left = (m * mp.e**p / (x * a) + p * mp.e**-m / a**2) * (x / a) ** t
    right = (m * mp.e**-p / (y * b) + p * mp.e**m / b**2) * (y / b) ** t
    return left, right


def test_the_terms_are_those_of_the_inequality() -> None:
    """Phi is the logarithm of the quotient of (4)'s sides, and its slopes are differences of it."""
    draw = random.Random(5)

    def phi(p: mp.mpf, theta: mp.mpf, u: mp.mpf) -> mp.mpf:
        left, right = both_sides(p, theta * p, u * mp.e**-p, T)
        return mp.log(left / right)

    for _ in range(10):
        at = [mp.mpf(draw.uniform(0.1, 15)), mp.mpf(draw.random()), mp.mpf(10 ** draw.uniform(-4, 4))]
        found = three_numbers.Terms(*map(three_numbers.arb, map(float, at)), three_numbers.arb(0.05))
        with mp.workdps(50):
            truth = [phi(*at), *(mp.diff(phi, at, order) for order in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))]
        ours = found.phi(), found.slope_p(), found.slope_theta(), found.slope_u()
        assert [float(value) for value in ours] == pytest.approx([float(value) for value in truth], rel=1e-9, abs=1e-12)


def test_the_slope_near_zero_is_a_difference_too() -> None:
    p, theta, v, h = mp.mpf("0.01"), mp.mpf("0.3"), mp.mpf("0.4"), mp.mpf(10) ** -12

    def phi(p: mp.mpf, v: mp.mpf) -> mp.mpf:
        left, right = both_sides(p, theta * p, v, T)
        return mp.log(left / right)

    with mp.workdps(60):
        mixed = (phi(p + h, v + h) - phi(p + h, v - h) - phi(p - h, v + h) + phi(p - h, v - h)) / (4 * h * h)
    found = three_numbers.growth(*(three_numbers.arb(float(x)) for x in (p, theta, v, T)))
    assert float(found) == pytest.approx(float(mixed), rel=1e-6)


@pytest.mark.parametrize("strip", [(2.0, 2.125), (18.875, 19.0)])
def test_the_inequality_in_strips(strip: tuple[float, float]) -> None:
    assert prove(strip) > 100


@pytest.mark.nightly
def test_the_inequality_everywhere() -> None:
    """The theorem: every box up to P = 20, in about a minute."""
    found = strips(NEAR_ZERO, FAR)
    assert found[0][0] == NEAR_ZERO
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert found[-1][1] >= FAR
    assert prove_near_zero(NEAR_ZERO) > 0
    assert sum(map(prove, found)) > 0


def test_planted_an_order_too_small() -> None:
    """At order 1.02 the inequality is false about P = 19, and no boxes prove it."""
    left, right = both_sides(19.0, 1.19, math.exp(-0.9), mp.mpf("0.02"))
    assert left < right
    with pytest.raises(NotProved, match="negative"):
        prove((18.875, 19.0), "1/50")


def test_planted_boxes_judged_by_their_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what slopes add to it, what is false at order 1.02 is proved."""

    def careless(box: three_numbers.Box, t: three_numbers.arb) -> int | None:
        p, theta, w = (three_numbers.arb(sum(ends) / 2 if ends[0] > -math.inf else ends[1]) for ends in box)
        return None if three_numbers.Terms(p, theta, three_numbers.power(w), t).phi() > 0 else 0

    monkeypatch.setattr(three_numbers, "proved", careless)
    assert prove((18.875, 19.0), "1/50") > 0


def test_the_least_order_is_one_that_is_proved() -> None:
    assert Fraction(renyi.LEAST_ORDER) >= Fraction(21, 20)


RUN = Repeat(FixedSize(Gaussian(2.0), population=400, cohort=100), 60)


def test_the_bound_is_above_what_is_attained() -> None:
    curve = renyi.cohorts_curve(RUN)
    assert curve is not None
    least = epsilon(RUN, 0.0025, neighbouring="replace-one")
    upper = renyi.epsilon_above(curve, 0.0025)
    assert least.lower < upper < 1.3 * least.lower
    assert 0.0025 <= renyi.delta_above(curve, upper) < 0.0026


def test_planted_half_the_move() -> None:
    """A bound by "remove" with move 1 is below what some federation attains."""
    half = renyi.cohorts_curve(Repeat(FixedSize(Gaussian(4.0), population=400, cohort=100), 60))
    assert half is not None
    assert renyi.epsilon_above(half, 0.0025) < epsilon(RUN, 0.0025, neighbouring="replace-one").lower


def test_orders_below_the_least_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little noise and a large delta want an order near 1."""
    asked = []
    monkeypatch.setattr(renyi, "best_epsilon", lambda order, rdp, delta: asked.append(order) or 1.0)
    curve = renyi.cohorts_curve(Repeat(FixedSize(Gaussian(0.1), population=400, cohort=100), 600))
    assert curve is not None
    renyi.epsilon_above(curve, 0.1)
    assert min(asked) == renyi.LEAST_ORDER


def test_other_runs_have_none() -> None:
    assert renyi.cohorts_curve(Repeat(FixedSize(Laplace(2.0), population=40, cohort=10), 6)) is None
