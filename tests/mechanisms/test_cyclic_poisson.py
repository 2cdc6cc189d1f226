"""Banded noise with cyclic Poisson cohorts against the plane's own integral, with a planted error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcert.accounting import delta, epsilon
from dpcert.mechanisms import BandedFactorisation, Gaussian, InputError, Poisson, Repeat, cyclic_poisson


def exact(norms: tuple[float, float], rate: float, noise: float, eps: float) -> float:
    """Three rounds, two bands, two groups, a unit of the first: rounds 1 and 3, in windows along their columns.

    Along each column the release is N(norm) with the unit and N(0) without, times the coin; the rest is the same.
    """
    grid = np.linspace(-9 * noise, 9 * noise + max(norms), 1501)
    still = np.exp(-(grid**2) / (2 * noise**2))
    first, second = ((1 - rate) * still + rate * np.exp(-((grid - norm) ** 2) / (2 * noise**2)) for norm in norms)
    gain = np.maximum(np.multiply.outer(first, second) - math.exp(eps) * np.multiply.outer(still, still), 0.0).sum()
    return float(gain * ((grid[1] - grid[0]) / (noise * math.sqrt(2 * math.pi))) ** 2)


@pytest.mark.parametrize("norms", [(1.0, 1.0), (1.3, 0.7)])
def test_three_rounds_of_two_groups(norms):
    noise = BandedFactorisation(1.5, (norms[0], 0.5, norms[1]), bands=2, min_separation=2, max_participations=2)
    truth = exact(norms, 0.3, 1.5, 0.2)
    found = delta(cyclic_poisson(noise, 0.3), 0.2)
    assert found.lower <= truth * (1 + 1e-4)
    assert truth * (1 - 1e-4) <= found.upper <= truth * (1 + 1e-3)
    forgotten = delta(Repeat(Poisson(Gaussian(1.5), 0.3), 1), 0.2)  # the plant: one pass only
    assert forgotten.upper < truth


def test_amplified_by_far():
    noise = BandedFactorisation(2.0, (1.0,) * 100, bands=10, min_separation=10, max_participations=10)
    assert epsilon(cyclic_poisson(noise, 0.1), 1e-5).upper < 0.4 * epsilon(noise, 1e-5, "zero-out").upper


def test_a_pass_without_a_release_costs_nothing():
    noise = BandedFactorisation(2.0, (1.0, 0.0, 0.0, 0.0, 1.0, 0.5), bands=2, min_separation=2, max_participations=3)
    assert cyclic_poisson(noise, 0.1) == Repeat(Poisson(Gaussian(2.0), 0.1), 2)


def test_bad_input():
    uneven = BandedFactorisation(1.0, (1.0, 2.0, 2.0, 1.0), bands=2, min_separation=2, max_participations=2)
    few = BandedFactorisation(1.0, (1.0,) * 4, bands=2, min_separation=2)
    fine = BandedFactorisation(1.0, (1.0,) * 4, bands=2, min_separation=2, max_participations=2)
    for noise, share, field in (
        (uneven, 0.1, "column_norms"),
        (few, 0.1, "max_participations"),
        (fine, 2, "sampling_rate"),
    ):
        with pytest.raises(InputError) as problem:
            cyclic_poisson(noise, share)
        assert problem.value.field == field
