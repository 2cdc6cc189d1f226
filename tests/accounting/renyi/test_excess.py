"""The excess of a power over its tangent: measured error against 60 digits stays within the bound it states."""

import mpmath
import numpy as np
import pytest

from dpcert.accounting.renyi.excess import log_excess, log_mixture

UNIT = 2.0**-53


def error_in_stated_units(power, rate, log_ratio):
    log_x = log_mixture(rate, np.array([log_ratio]))
    change = rate * np.expm1(np.minimum(np.array([log_ratio]), 600.0))
    got = float(log_excess(power, log_x, change)[0])
    with mpmath.workdps(60):
        q, z, p = mpmath.mpf(rate), mpmath.mpf(log_ratio), mpmath.mpf(power)
        x = 1 - q + q * mpmath.exp(z)
        exact = mpmath.log(x**p - 1 - p * (x - 1))
        inner = 1 + abs(z) + abs(mpmath.log(1 - q))
        return float(abs(got - exact) / (1 + abs(exact) + (abs(p) + 1) * inner)) / UNIT


def test_error_stays_within_the_stated_bound_on_random_points():
    rng = np.random.default_rng(20261121)
    worst = 0.0
    for _ in range(4000):
        size = 10 ** rng.uniform(-4, 4)
        power = 1 + size if rng.random() < 0.5 else -size
        rate = 10 ** rng.uniform(-7, 0) * 0.999 if rng.random() < 0.7 else 1 - 10 ** rng.uniform(-7, -0.1)
        log_ratio = rng.choice([-1, 1]) * 10 ** rng.uniform(-8, 3)
        worst = max(worst, error_in_stated_units(power, rate, log_ratio))
    assert worst < 32


def test_the_naive_formula_would_not_stay_within_it():
    rate, log_ratio, power = 1e-6, 1e-3, 2.5
    x = 1 + rate * np.expm1(log_ratio)
    naive = np.log(x**power - 1 - power * (x - 1)) if x**power - 1 - power * (x - 1) > 0 else -np.inf
    accurate = log_excess(power, log_mixture(rate, np.array([log_ratio])), np.array([x - 1]))[0]
    assert not np.isclose(naive, accurate, atol=1e-3)
    assert error_in_stated_units(power, rate, log_ratio) < 32


@pytest.mark.parametrize("power", [1.5, 3.0, -0.5, -20.0])
def test_no_excess_at_ratio_one(power):
    assert log_excess(power, np.array([0.0]), np.array([0.0]))[0] == -np.inf
