"""The split of noise between updates and count: both ways, on the safe side, and what it must not be."""

from __future__ import annotations

from fractions import Fraction

import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, InputError, Sequence
from dpcert.mechanisms.adaptive_clipping import update_noise_multiplier


def squared_cost(update_noise: float, count_noise: float) -> Fraction:
    """In exact arithmetic: z_u^-2 + (2 sigma_b)^-2."""
    return 1 / Fraction(update_noise) ** 2 + 1 / (4 * Fraction(count_noise) ** 2)


@settings(max_examples=many(300), deadline=None, derandomize=True)
@given(st.floats(1e-3, 1e3), st.floats(0.5 + 1e-6, 1e6))
def test_the_split_never_costs_more_than_it_says(noise_multiplier, ratio):
    count_noise = noise_multiplier * ratio
    updates = update_noise_multiplier(noise_multiplier, count_noise)
    assert squared_cost(updates, count_noise) <= 1 / Fraction(noise_multiplier) ** 2
    assert float(squared_cost(updates, count_noise)) == pytest.approx(noise_multiplier**-2, rel=1e-8)


def test_both_releases_cost_what_the_combined_one_does():
    updates, count_noise = 2.0, 3.0
    both = epsilon(Sequence((Gaussian(updates), Gaussian(2 * count_noise))), 1e-6)
    one = epsilon(Gaussian(float(squared_cost(updates, count_noise)) ** -0.5), 1e-6)
    assert one.upper == pytest.approx(both.upper, rel=1e-12)
    forgotten = epsilon(Gaussian(updates), 1e-6)  # the plant: the count for free
    assert forgotten.upper < both.lower


def test_bad_input():
    for given_values, field in (
        ((1.0, 0.5), "count_noise"),
        ((0.0, 1.0), "noise_multiplier"),
        ((1.0, -1.0), "count_noise"),
    ):
        with pytest.raises(InputError) as problem:
            update_noise_multiplier(*given_values)
        assert problem.value.field == field
