"""Bounds for Skellam and distributed discrete Gaussian noise, against exact divergences in one dimension."""

from __future__ import annotations

import pytest
from mpmath import exp, log, mp, mpf

from dpcert.accounting import epsilon
from dpcert.accounting.renyi.renyi import renyi
from dpcert.mechanisms import (
    DistributedDiscreteGaussian,
    Gaussian,
    InputError,
    Repeat,
    Skellam,
)
from dpcert.mechanisms.serialise import from_json, to_json


def skellam_masses(variance: float, size: int) -> list[mpf]:
    """P[0], P[1], ..., by the downward recurrence of Bessel functions, normalised (Miller's algorithm)."""
    values = [mpf(0)] * (size + 62)
    values[size + 60] = mpf(10) ** -3000
    for k in range(size + 60, 0, -1):
        values[k - 1] = values[k + 1] + 2 * k / mpf(variance) * values[k]
    total = values[0] + 2 * sum(values[1:])
    return [value / total for value in values[: size + 1]]


def divergence(masses: list[mpf], shift: int, alpha: float) -> mpf:
    """D_alpha between a symmetric law on the integers and its shift."""
    reach = len(masses) - 1 - shift
    total = sum(masses[abs(k - shift)] ** alpha * masses[abs(k)] ** (1 - alpha) for k in range(-reach, reach))
    return log(total) / (alpha - 1)


@pytest.mark.parametrize("variance", [0.5, 2.0, 10.0, 50.0])
@pytest.mark.parametrize("alpha", [1.3, 2.0, 2.5, 5.0, 9.7])
@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
def test_skellam_is_bounded(variance, alpha, relation):
    with mp.workdps(40):
        shift = 2 if relation == "replace-one" else 1
        exact = divergence(skellam_masses(variance, 220), shift, mpf(alpha))
    bound = renyi(Skellam(variance, 1.0, 1), alpha, relation).upper
    assert exact <= bound
    if variance >= 10.0:
        assert bound <= 2 * exact
        # The plant: twice the noise than there is.
        assert renyi(Skellam(2 * variance, 1.0, 1), alpha, relation).upper < exact


@pytest.mark.parametrize(("sigma", "clients"), [(0.5, 2), (0.5, 4), (0.6, 3), (1.0, 5)])
@pytest.mark.parametrize("alpha", [2.0, 4.0, 7.5])
def test_sums_of_discrete_gaussians_are_bounded(sigma, clients, alpha):
    with mp.workdps(40):
        one = [exp(-(mpf(k) ** 2) / (2 * mpf(sigma) ** 2)) for k in range(-25, 26)]
        total = [value / sum(one) for value in one]
        for _ in range(clients - 1):
            total = [
                sum(total[i] * one[n - i] for i in range(max(0, n - 50), min(len(total), n + 1)))
                for n in range(len(total) + 50)
            ]
        scale = sum(total)
        centre = len(total) // 2
        exact = divergence([total[centre + k] / scale for k in range(min(centre, 40))], 1, mpf(alpha))
    described = DistributedDiscreteGaussian(sigma, clients, 1.0, 1)
    bound = renyi(described, alpha, "zero-out").upper
    assert exact <= bound
    if sigma == 1.0:
        assert bound <= 1.05 * exact


def test_plenty_of_noise_costs_what_the_gaussian_costs():
    gaussian = epsilon(Repeat(Gaussian(10.0), 10), 1e-5, accountant="rdp").upper
    skellam = epsilon(Repeat(Skellam(1e8, 1000.0, 1000), 10), 1e-5, "zero-out").upper
    shares = epsilon(Repeat(DistributedDiscreteGaussian(10.0, 100, 10.0, 1000), 10), 1e-5, "zero-out").upper
    assert gaussian <= skellam <= 1.0005 * gaussian
    assert gaussian * (1 - 1e-9) <= shares <= 1.0005 * gaussian


def test_the_inflation_of_many_shares_is_not_cut_off():
    """tau grows with the number of shares; beyond a thousand terms it is bounded by the thousandth."""
    by_hand = 10 * sum(exp(-2 * mp.pi**2 * mpf("0.64") * k / (k + 1)) for k in range(1, 3000))
    (_, constant), _ = DistributedDiscreteGaussian(0.8, 3000, 1.0, 1).renyi_lines(1.0)
    assert by_hand * (1 - 1e-9) <= constant <= 1.1 * by_hand


@pytest.mark.parametrize("described", [Skellam(4.0, 1.5, 10), DistributedDiscreteGaussian(1.0, 10, 2.0, 5)])
def test_round_trips(described):
    assert from_json(to_json(described)) == described


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Skellam(0.0, 1.0, 1), "variance"),
        (lambda: Skellam(1.0, float("inf"), 1), "clip"),
        (lambda: Skellam(1.0, 1.0, 0), "dimension"),
        (lambda: DistributedDiscreteGaussian(0.4, 2, 1.0, 1), "sigma"),
        (lambda: DistributedDiscreteGaussian(1.0, 0, 1.0, 1), "clients"),
        (lambda: Skellam(1.0, 1.0, 1).event(), "mechanism"),
    ],
)
def test_bad_input(build, field):
    with pytest.raises(InputError) as problem:
        build()
    assert problem.value.field == field
