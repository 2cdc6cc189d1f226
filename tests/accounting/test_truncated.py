"""Poisson cohorts cut at a largest size, against exact small cases and the limits on either side."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from mpmath import mp, mpf
from scipy.stats import binom, norm

from dpcert.accounting import delta, epsilon, truncated
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, TruncatedPoisson

STEP = Poisson(Gaussian(1.0), 0.01)


def cut(most: int, rounds: int = 1000) -> Repeat:
    return Repeat(TruncatedPoisson(Gaussian(1.0), 0.01, 100_000, most), rounds)


@pytest.mark.parametrize(("population", "rate", "most"), [(10, 0.3, 4), (1000, 0.1, 130), (100_000, 0.01, 1300)])
def test_the_tail_is_a_bound_and_tight(population, rate, most):
    with mp.workdps(60):
        exact = sum(
            mp.binomial(population, k) * mpf(rate) ** k * (1 - mpf(rate)) ** (population - k)
            for k in range(most + 1, min(population, most + 600) + 1)
        )
    found = truncated.tail_above(population, rate, most)
    assert exact * (1 - mpf(10) ** -25) <= found <= exact * (1 + mpf(10) ** -9)
    assert found == pytest.approx(binom.sf(most, population, rate), rel=1e-6)


def test_it_meets_poisson_when_cuts_are_rare():
    uncut = epsilon(Repeat(STEP, 1000), 1e-5)
    rare = epsilon(cut(2000), 1e-5)
    assert rare.upper == pytest.approx(uncut.upper, rel=1e-9)
    assert rare.lower <= uncut.lower


def test_it_widens_as_cuts_become_common():
    brackets = [epsilon(cut(most), 1e-5) for most in (1300, 1250, 1200, 1180)]
    uncut = epsilon(Repeat(STEP, 1000), 1e-5)
    for bracket, next_one in pairwise(brackets):
        assert next_one.lower <= bracket.lower <= uncut.lower
        assert next_one.upper >= bracket.upper >= uncut.upper


def test_the_epsilon_meets_its_own_definition():
    bracket = epsilon(cut(1200), 1e-5)
    tau = truncated.total_variation(cut(1200))
    assert delta(Repeat(STEP, 1000), bracket.upper).upper + (1 + math.exp(bracket.upper)) * tau <= 1e-5 * (1 + 1e-9)
    assert delta(Repeat(STEP, 1000), bracket.lower).lower - (1 + math.exp(bracket.lower)) * tau >= 1e-5 * (1 - 1e-6)


def test_common_cuts_leave_no_amplification():
    """A unit in a full cohort keeps another out: the sum moves by 2."""
    common = epsilon(cut(1000, 10), 1e-5)
    assert common.upper == epsilon(Repeat(Gaussian(1.0), 10), 1e-5, "replace-one").upper


def exact_delta(units: int, rate: float, most: int, noise: float, eps: float) -> float:
    """One round, scalar contributions: the unit's is +1, the others' -1; zero-out neighbours; by quadrature."""

    def law(unit: float) -> dict[float, float]:
        sums: dict[float, float] = {}
        for coins in product((0, 1), repeat=units):
            chosen = [i for i, coin in enumerate(coins) if coin]
            weight = math.prod(rate if coin else 1 - rate for coin in coins)
            values = [unit if i == 0 else -1.0 for i in chosen]
            if len(chosen) <= most:
                sums[sum(values)] = sums.get(sum(values), 0.0) + weight
            else:  # most = 1: one of the chosen, uniformly
                for value in values:
                    sums[value] = sums.get(value, 0.0) + weight / len(values)
        return sums

    grid = [-12 + 24 * k / 48_000 for k in range(48_001)]
    with_unit, without = law(1.0), law(0.0)

    def density(sums: dict[float, float]):
        return sum(weight * norm.pdf(grid, mean, noise) for mean, weight in sums.items())

    return float(sum((density(with_unit) - math.exp(eps) * density(without)).clip(0.0)) * 24 / 48_000)


@pytest.mark.parametrize(("rate", "eps"), [(0.02, 0.05), (0.1, 0.3)])
def test_an_exact_small_case_lies_inside_and_poisson_alone_does_not_bound_it(rate, eps):
    """The plant: to forget the cuts. With opposite contributions the cut round reveals more than the Poisson round."""
    truth = exact_delta(4, rate, 1, 2.0, eps)
    found = delta(TruncatedPoisson(Gaussian(2.0), rate, 4, 1), eps, "zero-out")
    assert found.lower <= truth <= found.upper
    assert truth > delta(Poisson(Gaussian(2.0), rate), eps, "zero-out").upper


def test_bad_input():
    for build, field in (
        (lambda: TruncatedPoisson(Gaussian(1.0), 1.5, 10, 5), "sampling_rate"),
        (lambda: TruncatedPoisson(Gaussian(1.0), 0.5, 0, 5), "population"),
        (lambda: TruncatedPoisson(Gaussian(1.0), 0.5, 10, 0), "max_cohort"),
        (lambda: TruncatedPoisson("noise", 0.5, 10, 5), "mechanism"),
    ):
        with pytest.raises(InputError) as problem:
            build()
        assert problem.value.field == field
