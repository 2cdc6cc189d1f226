"""Per-client budgets and participation limits, at scale."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.accounting.ledger.individual import IndividualBudgets, Participations
from dpcert.mechanisms import InputError


def test_charges_add_up_to_at_most_the_budget():
    rng = np.random.default_rng(0)
    budgets = IndividualBudgets(1000, 1.0)
    exact = np.zeros(1000)
    for _ in range(300):
        cohort = rng.choice(1000, 100, replace=False)
        costs = rng.random(100) * 0.1
        allowed = budgets.charge(cohort, costs)
        exact[cohort[allowed]] += costs[allowed]
    assert (budgets.spent <= 1.0).all()
    assert (budgets.spent >= exact).all()
    assert not budgets.affordable(np.arange(1000), 1.0).any()


def test_ten_million_clients_fit_in_memory():
    budgets = IndividualBudgets(10_000_000, 1.0)
    assert budgets.spent.nbytes < 2**30 // 8
    assert budgets.charge(np.arange(0, 10_000_000, 10), 0.5).all()
    assert not budgets.charge(np.array([0, 1]), 0.6)[0]


def test_a_refused_charge_spends_nothing():
    budgets = IndividualBudgets(3, 1.0)
    with pytest.raises(InputError, match="clients"):
        budgets.charge(np.array([0, 0]), 0.1)
    with pytest.raises(InputError, match="clients"):
        budgets.charge(np.array([3]), 0.1)
    with pytest.raises(InputError, match="each of the 2 clients"):
        budgets.charge(np.array([0, 1]), np.array([0.1, 0.2, 0.3]))
    with pytest.raises(InputError, match="cost"):
        budgets.charge(np.array([1]), float("nan"))
    assert not budgets.spent.any()


def test_participation_limits_are_kept():
    schedule = Participations(10, min_separation=3, max_participations=2)
    schedule.record(0, np.array([1, 2]))
    assert set(schedule.eligible(2)) == set(range(10)) - {1, 2}
    with pytest.raises(InputError, match="3 rounds ago"):
        schedule.record(2, np.array([0, 1]))
    assert schedule.times[0] == 0
    schedule.record(3, np.array([1]))
    with pytest.raises(InputError, match="fewer than 2"):
        schedule.record(9, np.array([1]))
    assert 1 not in schedule.eligible(100)


@pytest.mark.parametrize("cohort", [[-1], [5], [0.5], [[0]], [2**63]])
def test_participations_of_nobody_are_refused(cohort):
    """-1 would have been counted for the last client."""
    record = Participations(5, 1, 3)
    with pytest.raises(InputError, match="cohort"):
        record.record(0, np.array(cohort))
    assert record.times.sum() == 0
