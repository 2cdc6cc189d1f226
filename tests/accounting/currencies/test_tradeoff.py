"""Trade-off curves: exact for Gaussian rounds, and the polygon bounds hold the curve wherever it is known."""

from __future__ import annotations

import dataclasses
import math
import sys

import mpmath
import numpy as np
import pytest
from flint import arb

from dpcert.accounting import Bracket, TradeOff, tradeoff
from dpcert.accounting.currencies import tradeoff_lines
from dpcert.mechanisms import (
    DiscreteGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    PureDp,
    Repeat,
    Sequence,
)

ALPHAS = [0.0, 1e-12, 1e-6, 0.003, 0.05, 0.3, 0.5, 0.77, 0.999, 1.0 - 1e-9, 1.0]


def gaussian_beta(alpha: float, mu: mpmath.mpf) -> mpmath.mpf:
    """Phi(Phi^-1(1 - alpha) - mu) at the working precision."""
    if alpha in (0.0, 1.0):
        return 1 - mpmath.mpf(alpha)
    quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(alpha))
    return mpmath.ncdf(quantile - mu)


@pytest.mark.parametrize("points", [9, 65])
def test_gaussian_rounds_are_exact_and_inside_their_own_polygon(points: int) -> None:
    curve = tradeoff(Repeat(Gaussian(2.0), 3), points=points)
    polygon = TradeOff(curve.knots)
    with mpmath.workdps(60):
        mu = mpmath.sqrt(3) / 2
        for alpha in ALPHAS:
            exact = gaussian_beta(alpha, mu)
            for bracket in (curve.beta(alpha), polygon.beta(alpha)):
                assert bracket.certified
                assert bracket.lower <= exact <= bracket.upper
            assert curve.beta(alpha).width <= 1e-14


def test_more_points_make_the_polygon_narrower() -> None:
    run = Repeat(Poisson(Gaussian(1.0), 0.05), 200)
    few, many = (tradeoff(run, points=points).beta(0.1) for points in (9, 65))
    assert few.lower <= many.upper
    assert many.lower <= few.upper
    assert many.width < few.width / 10.0


def test_every_order_of_the_neighbours_is_bounded() -> None:
    """One Poisson round: the exact curves of remove and add, by the Neyman-Pearson test x > threshold."""
    rate, shift = 0.3, 2.0
    curve = tradeoff(Poisson(Gaussian(1.0 / shift), rate), points=65)
    for threshold in np.linspace(-3.0, 5.0, 33):
        plain, moved = float(mpmath.ncdf(-threshold)), float(mpmath.ncdf(shift - threshold))
        mixed = (1.0 - rate) * plain + rate * moved
        assert curve.beta(plain).lower <= 1.0 - mixed + 1e-12
        assert curve.beta(1.0 - mixed).lower <= plain + 1e-12


def test_pure_dp_is_the_polygon() -> None:
    curve = tradeoff(PureDp(1.0), points=17)
    for alpha in (0.01, 0.2, 0.5):
        exact = max(1.0 - np.e * alpha, (1.0 - alpha) / np.e)
        assert curve.beta(alpha).lower == pytest.approx(exact, abs=1e-6)


def test_laplace_touches_its_pure_bound() -> None:
    curve = tradeoff(Laplace(1.0), points=33)
    exact = np.exp(-1.0) / (4.0 * 0.2)
    assert curve.beta(0.2).lower <= exact <= curve.beta(0.2).upper


def test_no_information_is_the_diagonal() -> None:
    curve = tradeoff(Gaussian(1e13), points=2)
    for alpha in (0.0, 0.4, 1.0):
        assert curve.beta(alpha).lower == pytest.approx(1.0 - alpha, abs=1e-11)


def test_the_curve_is_frozen_and_convex() -> None:
    curve = tradeoff(Repeat(FixedSize(Gaussian(3.0), 100, 10), 50), "replace-one", points=17)
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.mu = None  # type: ignore[misc]
    lower = [bracket.lower for bracket in curve.betas([0.1, 0.2, 0.3])]
    assert 2.0 * lower[1] <= lower[0] + lower[2] + 1e-12


@pytest.mark.parametrize("alpha", [-1e-9, 1.5, float("nan")])
def test_alpha_outside_the_unit_interval(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        TradeOff((), (1.0, 1.0)).beta(alpha)


def test_at_least_two_points() -> None:
    with pytest.raises(InputError, match="points"):
        tradeoff(Gaussian(1.0), points=1)


LAWS = {
    "a large loss beside a tiny one": ([0.505, 0.4, 0.095], [0.5, 0.0001, 0.4999]),
    "three losses": ([0.6, 0.3, 0.1], [0.2, 0.29, 0.51]),
    "with an outcome of one side only": ([0.7, 0.2, 0.1, 0.0], [0.1, 0.2, 0.69, 0.01]),
}
COARSE = (1.0, 3.0, 100.0, 2000.0, 5000.0)


def most_found(law: tuple[list[float], list[float]], alpha: float) -> float:
    """By Neyman and Pearson: outcomes by their likelihood ratio, until alpha is used up."""
    found = 0.0
    for p, q in sorted(zip(*law, strict=True), key=lambda o: -o[0] / o[1] if o[1] else -math.inf):
        share = min(1.0, alpha / q) if q else 1.0
        found, alpha = found + share * p, alpha - share * q
    return found


def coarsely(law: tuple[list[float], list[float]], widest: float) -> TradeOff:
    """Known at a few eps, at the first only up to `widest`."""
    knots = []
    for x in COARSE:
        exact = math.fsum(max(p - x * q, 0.0) for p, q in zip(*law, strict=True))
        slack = widest if x == 1.0 else 1e-12
        knots.append((math.log(x), Bracket(max(0.0, exact - slack), min(1.0, exact + slack), True, "test")))
    return TradeOff(tuple(knots), attained=tuple(knots))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("widest", [1e-12, 0.3])
def test_what_one_attacker_finds_out_is_not_overstated(law: tuple[list[float], list[float]], widest: float) -> None:
    curve = coarsely(law, widest)
    for alpha in (1e-4, 1e-3, 1e-2, 0.1, 0.5):
        assert curve.power(alpha).lower <= most_found(law, alpha) * (1 + 1e-9)


def test_a_bound_from_the_diagonal_alone_overstates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the line from D(1) to (1, 1), where D may fall steeply between the first two knots."""
    law = LAWS["a large loss beside a tiny one"]

    def planted(knots, alpha):
        return arb(knots[0][1].lower) * (1 - arb(alpha)) + arb(alpha)

    monkeypatch.setattr(sys.modules["dpcert.accounting.currencies.tradeoff"], "_power_below", planted)
    assert coarsely(law, 1e-12).power(1e-3).lower > most_found(law, 1e-3) + 0.001


def test_a_wide_bracket_is_cut_by_its_neighbours() -> None:
    """Discrete noise of three sizes: the lattices say nothing near epsilon 0, and much further on."""
    run = Sequence(tuple(Repeat(DiscreteGaussian(sigma=sigma), 12) for sigma in (0.6, 0.65, 0.7)))
    curve = tradeoff(run, "zero-out", points=5, rtol=1e-2)
    lowers = [bracket.lower for _, bracket in curve.knots]
    assert lowers == sorted(lowers, reverse=True)
    assert lowers[0] > 0.1
    assert curve.power(0.01).lower > 0.1


def test_lines_that_doubles_leave_out_are_never_the_highest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends are those of all lines in balls, at tiny error rates too; planted: doubles that are trusted too far."""
    curve, alphas = tradeoff(Repeat(Laplace(5.0), 10), points=17), [1e-300, 1e-9, *(k / 40 for k in range(1, 40))]
    found, powers = curve.betas(alphas), [curve.power(alpha) for alpha in alphas]
    monkeypatch.setattr(tradeoff_lines, "WIDER", 1.0)  # no line is left out
    assert found == curve.betas(alphas) == tuple(curve.beta(alpha) for alpha in alphas)
    assert powers == [curve.power(alpha) for alpha in alphas]
    monkeypatch.setattr(tradeoff_lines, "WIDER", -1e-3)  # none is kept
    assert found != curve.betas(alphas)


def test_knots_beyond_every_error_rate_are_not_asked_for() -> None:
    """An epsilon of 2,000: what lies beyond log(1e12) says nothing at error rates of 1e-12 and more."""
    curve = tradeoff(Laplace(noise_multiplier=1e-3), "replace-one", points=9)
    assert 27 < curve.knots[-1][0] < 28
    assert curve.power(1e-12).lower > 0.999
