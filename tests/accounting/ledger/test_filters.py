"""Filters stop before the budget, odometers never under-read, and both are tight where theory is."""

from __future__ import annotations

import math

import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.accounting import delta as delta_of
from dpcert.accounting import epsilon as epsilon_of
from dpcert.accounting.ledger.filters import BudgetExceeded, GaussianFilter, RenyiFilter
from dpcert.accounting.ledger.odometer import RenyiOdometer
from dpcert.accounting.ledger.planned_order import default_order, planned_order
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, Repeat, Sequence


@pytest.mark.parametrize("neighbouring", ["add-remove", "replace-one", "zero-out"])
def test_gaussian_filter_is_tight(neighbouring):
    """Spent in equal rounds to the end, it stops within one round of the exact accountant's limit."""
    guard = GaussianFilter(2.0, 1e-6, neighbouring)
    step, rounds = Gaussian(30.0), 0
    while not guard.would_exceed(step):
        guard.record(step)
        rounds += 1
    assert delta_of(Repeat(step, rounds), 2.0, neighbouring).upper <= 1e-6
    assert delta_of(Repeat(step, rounds + 1), 2.0, neighbouring).lower > 1e-6
    with pytest.raises(BudgetExceeded):
        guard.record(step)
    assert guard.spent <= guard.budget


@settings(max_examples=many(10), deadline=None)
@given(st.lists(st.floats(2.0, 50.0), min_size=1, max_size=20), st.sampled_from(["add-remove", "replace-one"]))
def test_what_a_filter_let_through_keeps_the_target(noises, neighbouring):
    for guard in (RenyiFilter(1.5, 1e-5, neighbouring), GaussianFilter(1.5, 1e-5, neighbouring)):
        taken = []
        for noise in noises:
            if not guard.would_exceed(Gaussian(noise)):
                guard.record(Gaussian(noise))
                taken.append(Gaussian(noise))
        if taken:
            assert epsilon_of(Sequence(tuple(taken)), 1e-5, neighbouring).upper <= 1.5


def test_a_filter_that_forgets_replace_one_is_caught():
    """The planted bug: accounting replace-one neighbours with the add-remove sensitivity passes the target."""
    guard = GaussianFilter(1.5, 1e-5, "add-remove")
    step, taken = Gaussian(10.0), 0
    while not guard.would_exceed(step):
        guard.record(step)
        taken += 1
    assert epsilon_of(Repeat(step, taken), 1e-5, "replace-one").lower > 1.5


def test_renyi_filter_takes_sampled_rounds_and_stays_below_target():
    step, rounds = Poisson(Gaussian(1.0), 0.01), 0
    guard = RenyiFilter(2.0, 1e-5, order=planned_order(step, 2.0, 1e-5))
    while not guard.would_exceed(step):
        guard.record(step)
        rounds += 1
    assert rounds > 50
    assert epsilon_of(Repeat(step, rounds), 1e-5).upper <= 2.0


def test_asking_changes_nothing():
    guard = RenyiFilter(1.0, 1e-5)
    guard.record(Gaussian(20.0))
    before = guard.spent
    for _ in range(5):
        guard.would_exceed(Gaussian(1.0))
    assert guard.spent == before


def test_odometer_never_reads_below_the_truth_and_grows():
    order = default_order(2.0, 1e-5)
    odometer = RenyiOdometer(1e-5, order)
    last = 0.0
    for rounds in range(1, 30):
        odometer.record(Gaussian(15.0))
        assert odometer.epsilon >= max(last, epsilon_of(Repeat(Gaussian(15.0), rounds), 1e-5).upper)
        last = odometer.epsilon
    assert math.isfinite(last)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: RenyiFilter(0.0, 1e-5), "target_epsilon"),
        (lambda: RenyiFilter(1.0, 0.0), "target_delta"),
        (lambda: RenyiFilter(1.0, 1e-5, order=1.0), "order"),
        (lambda: GaussianFilter(1.0, 1.0), "target_delta"),
        (lambda: GaussianFilter(1.0, 1e-5).record(Laplace(1.0)), "mechanism"),
        (lambda: RenyiOdometer(1e-5, 1.0), "order"),
        (lambda: RenyiOdometer(1e-5, 2.0, 0.0), "step"),
    ],
)
def test_bad_input_is_named(make, field):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_the_odometers_step_is_of_no_use_any_more():
    with pytest.warns(DeprecationWarning, match="leave it out"):
        old = RenyiOdometer(1e-5, 8.0, 0.5)
    assert old.epsilon == RenyiOdometer(1e-5, 8.0).epsilon
