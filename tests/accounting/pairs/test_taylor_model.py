"""Taylor models: balls that hold the function and its derivatives everywhere, and stay narrow."""

from __future__ import annotations

import math

import mpmath
import pytest
from flint import arb

from dpcert import TruncatedGaussian, delta
from dpcert.accounting.pairs import taylor_model
from dpcert.accounting.pairs.taylor_model import TaylorModel


def model(left: float, right: float) -> TaylorModel:
    middle = arb((left + right) / 2)
    return TaylorModel.of(middle, arb(left).union(arb(right)), arb((right - left) / 2))


def hump(x):
    """exp(x) - exp(x) / (1 + x^2 / 100): balls forget that both grow together."""
    return x.exp() - x.exp() / (1 + x * x / 100)


def true_coefficients(place: float) -> list[mpmath.mpf]:
    with mpmath.workdps(50):
        return mpmath.taylor(lambda x: mpmath.exp(x) - mpmath.exp(x) / (1 + x * x / 100), place, 4)


def holds_everywhere(found: TaylorModel, left: float, right: float) -> bool:
    places = [left + (right - left) * k / 20 for k in range(21)]
    return all(
        found.around[order].overlaps(arb(mpmath.nstr(value, 40)))
        for place in places
        for order, value in enumerate(true_coefficients(place))
    )


@pytest.mark.parametrize(("left", "right"), [(0.0, 1.0), (-0.5, 0.5), (2.0, 2.001), (-3.0, 1.0)])
def test_holds_the_function_and_its_derivatives(left, right):
    assert holds_everywhere(model(left, right).mapped(hump), left, right)


def test_is_narrow_where_balls_are_not():
    plain = hump(arb(0).union(arb(1)))
    assert model(0.0, 1.0).mapped(hump).around[0].rad() * 20 < plain.rad()


def test_a_polynomial_without_its_remainder_is_caught(monkeypatch):
    monkeypatch.setattr(taylor_model, "_DEGREE", 3)

    def cut(at, around, half):
        moved = arb(0, float(half))
        found = [sum(math.comb(d, k) * at[d] * moved ** (d - k) for d in range(k, 3)) for k in range(3)]
        return type(at)([*found, at[3]], prec=4)

    monkeypatch.setattr(taylor_model, "_narrow", cut)
    assert not holds_everywhere(model(-3.0, 1.0).mapped(hump), -3.0, 1.0)


@pytest.mark.parametrize(
    ("sigma", "width", "at"), [(813.4, 108.8, 7.8e-5), (100.0, 100.0, 4.8e-3), (2000.0, 1000.0, 1e-4)]
)
def test_noise_much_wider_than_the_range(sigma, width, at):
    """These took 10 seconds and more, and ended 5% to 20% wide: the law of noise is nearly flat there."""
    found = delta(TruncatedGaussian(sigma, width), at)
    with mpmath.workdps(50):
        s, w, e = mpmath.mpf(sigma), mpmath.mpf(width), mpmath.mpf(at)

        def own(q):
            first = mpmath.ncdf((w - q - 1) / s) - mpmath.ncdf((-q - 1) / s)
            second = mpmath.ncdf((w - q) / s) - mpmath.ncdf(-q / s)
            above = mpmath.mpf(1) / 2 + s**2 * (e - mpmath.log(second / first)) + q
            p = mpmath.ncdf((w - q - 1) / s) - mpmath.ncdf((above - q - 1) / s)
            r = mpmath.ncdf((w - q) / s) - mpmath.ncdf((above - q) / s)
            return p / first - mpmath.exp(e) * r / second if above < w else mpmath.mpf(0)

        largest = max(own((w - 1) * k / 64) for k in range(65))
    assert found.lower * (1 - 1e-9) <= largest <= found.upper
    assert found.upper <= found.lower * (1 + 1e-6)
