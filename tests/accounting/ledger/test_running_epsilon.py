"""RunningEpsilon against the accountant asked afresh: both brackets hold the same number."""

from __future__ import annotations

import math

import pytest
from cases import few

from dpcert.accounting import epsilon
from dpcert.accounting.ledger import RunningEpsilon
from dpcert.accounting.ledger import running_layout as module
from dpcert.accounting.losses.smooth import running_inversion
from dpcert.mechanisms import (
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    Repeat,
    Sequence,
    rounds_by_step,
)

DELTA = 1e-5


def changing(k: int) -> Mechanism:
    """Noise multipliers and cohorts that change from round to round, some rounds with everybody."""
    if k % 50 == 49:
        return Gaussian(30.0)
    return Poisson(Gaussian(1 + 0.05 * (k % 7)), 0.02 + 0.005 * (k % 3))


@pytest.mark.parametrize(
    ("relation", "step"),
    [
        ("add-remove", changing),
        ("replace-one", changing),
        ("add-remove", lambda k: FixedSize(Gaussian(2.0 + k % 3), 100, 10)),
    ],
)
def test_every_reading_agrees_with_the_accountant(relation, step):
    cost = RunningEpsilon(DELTA, relation)
    cost.record(Repeat(step(0), 100))
    for k in range(400):
        cost.record(step(k))
        if k % 57 == 0 or k == 399:
            ours, afresh = cost.epsilon(), epsilon(cost.run(), DELTA, relation)
            assert max(ours.lower, afresh.lower) <= min(ours.upper, afresh.upper)
            assert ours.width <= max(afresh.width, 2e-10 * max(1.0, ours.upper))
            assert cost.epsilon() == ours


def test_layouts_are_few_and_readings_cost_no_further_ones(monkeypatch):
    made = []
    right = module.RunningInversion

    def counting(*given):
        made.append(given)
        return right(*given)

    monkeypatch.setattr(module, "RunningInversion", counting)
    cost = RunningEpsilon(DELTA)
    cost.record(Repeat(changing(0), 100))
    for k in range(300):
        cost.record(changing(k))
        cost.epsilon()
    assert len(made) <= 12
    before = len(made)
    for _ in range(5):
        cost.epsilon()
    assert len(made) == before


def _second_reading_of(run: Mechanism) -> RunningEpsilon:
    """One more round than `run`, and one reading before that: the first is the accountant's own."""
    cost = RunningEpsilon(DELTA)
    cost.record(Poisson(Gaussian(1.0), 0.02))
    cost.epsilon()
    cost.record(run)
    return cost


def new_each_round(k: int) -> Mechanism:
    """Never the same noise nor the same cohort twice."""
    return Poisson(Gaussian(2.0 - 1e-3 * k), 0.02 + 0.02 * math.sin(k) ** 2)


@pytest.mark.parametrize("first", few([0, 20], 4))
def test_rounds_that_are_all_new_need_few_layouts(monkeypatch, first):
    made = []
    right = module.RunningInversion
    monkeypatch.setattr(module, "RunningInversion", lambda *given: made.append(given) or right(*given))
    cost = RunningEpsilon(DELTA)
    for k in range(first):
        cost.record(new_each_round(k))
    for k in range(first, 120):
        cost.record(new_each_round(k))
        reading = cost.epsilon()
        if k in (29, 60, 119):
            afresh = epsilon(cost.run(), DELTA, rtol=1e-10)
            assert max(reading.lower, afresh.lower) <= min(reading.upper, afresh.upper)
            assert abs(reading.upper - afresh.upper) < 1e-9
    assert len(made) <= 24


@pytest.mark.nightly
def test_the_next_layout_is_filled_a_few_mechanisms_at_a_time(monkeypatch):
    """No round but the first few counts many mechanisms at once, also where noise only falls; readings stay true."""
    most = []
    right = module.LedgerLayout.catch_up

    def counting(layout, limit=math.inf):
        most[-1] += (counted := right(layout, limit))
        return counted

    monkeypatch.setattr(module.LedgerLayout, "catch_up", counting)
    cost = RunningEpsilon(DELTA)
    for k in range(400):
        most.append(0)
        cost.record(Poisson(Gaussian(2.0 - 5e-4 * k), 0.005 + 0.005 * math.sin(k) ** 2))
        reading = cost.epsilon()
        if k % 133 == 132:
            afresh = epsilon(cost.run(), DELTA, rtol=1e-10)
            assert max(reading.lower, afresh.lower) <= min(reading.upper, afresh.upper)
            assert abs(reading.upper - afresh.upper) < 1e-9
    assert max(most[100:]) <= 4
    assert any(counted > 1 for counted in most[100:])


def test_the_first_reading_is_the_accountants_to_the_last_bit():
    cost = RunningEpsilon(DELTA)
    cost.record(Sequence(tuple(new_each_round(k) for k in range(10))))
    assert cost.epsilon() == epsilon(cost.run(), DELTA)


def test_what_would_be_changes_nothing():
    cost, step = _second_reading_of(Repeat(Poisson(Gaussian(1.0), 0.02), 99)), new_each_round(3)
    before = cost.epsilon()
    longer = cost.after(Repeat(step, 7))
    assert cost.epsilon() == before
    assert rounds_by_step(cost.run()) == {Poisson(Gaussian(1.0), 0.02): 100}
    cost.record(Repeat(step, 7))
    truth = epsilon(cost.run(), DELTA)
    for reading in (longer, cost.epsilon()):
        assert max(reading.lower, truth.lower) <= min(reading.upper, truth.upper)


def test_sums_made_afresh_are_the_sums(monkeypatch):
    monkeypatch.setattr(running_inversion, "MOST_ADDITIONS", 20)
    cost = RunningEpsilon(DELTA)
    for k in range(200):
        cost.record(Poisson(Gaussian(1.5 + 0.1 * (k % 3)), 0.05))
        if k % 3 == 0:
            cost.after(Repeat(Gaussian(20.0), 3))
        cost.epsilon()
    assert max(running.rows.additions for running in cost._layout.inversions) <= 20
    reading, truth = cost.epsilon(), epsilon(cost.run(), DELTA)
    assert max(reading.lower, truth.lower) <= min(reading.upper, truth.upper)


def test_rounding_of_the_sums_that_is_not_counted_is_caught(monkeypatch):
    """The plant: sums kept in single precision, as if their rounding were that of doubles."""
    right = running_inversion.Rows._add

    def coarse(rows, pair, rounds):
        right(rows, pair, rounds)
        rows._log_terms[:] = rows._log_terms.astype("complex64")
        rows._scalars[:] = rows._scalars.astype("float32")

    monkeypatch.setattr(running_inversion.Rows, "_add", coarse)
    cost = _second_reading_of(Repeat(Poisson(Gaussian(1.0), 0.02), 99))
    truth, found = epsilon(cost.run(), DELTA, rtol=1e-10), cost.epsilon()
    assert found.upper < truth.lower or found.lower > truth.upper


def test_a_round_that_is_not_counted_is_caught(monkeypatch):
    """The plant: further rounds of a known mechanism are dropped."""
    right = running_inversion.Rows.count
    monkeypatch.setattr(running_inversion.Rows, "count", lambda rows, pair, n: right(rows, pair, max(1, n - 1)))
    cost = _second_reading_of(Repeat(Poisson(Gaussian(1.0), 0.02), 299))
    assert cost.epsilon().upper < epsilon(cost.run(), DELTA).lower


def test_an_error_that_is_not_counted_is_caught(monkeypatch):
    """The plant: what is cut off from the sum is forgotten, and much is cut off."""
    right = running_inversion.truncation
    monkeypatch.setattr(running_inversion, "truncation", lambda *given: right(*given) / 40.0)
    cost = _second_reading_of(Repeat(Poisson(Gaussian(1.0), 0.02), 299))
    truth = epsilon(cost.run(), DELTA)
    honest = cost.epsilon()
    assert honest.lower <= truth.upper  # cut off, but accounted for: the reading falls back, or is wide
    assert honest.upper >= truth.lower
    missing = running_inversion.RunningInversion._missing

    def forgetful(self, *given):
        return -1000.0, missing(self, *given)[1]

    monkeypatch.setattr(running_inversion.RunningInversion, "_missing", forgetful)
    wrong = _second_reading_of(Repeat(Poisson(Gaussian(1.0), 0.02), 299))
    found = wrong.epsilon()
    assert found.upper < truth.lower or found.lower > truth.upper


def test_other_mechanisms_are_served_by_their_own_accountants():
    cost = RunningEpsilon(DELTA)
    assert cost.epsilon().upper == 0.0
    assert cost.run() is None
    cost.record(Repeat(Laplace(20.0), 5))
    cost.record(Repeat(Poisson(Gaussian(1.0), 0.02), 50))
    assert cost.epsilon() == epsilon(cost.run(), DELTA)


def test_bad_input_leaves_the_record_as_it_was():
    cost = RunningEpsilon(DELTA, "zero-out", participation="visible")
    cost.record(Poisson(Gaussian(4.0), 0.1))
    before = cost.epsilon()
    with pytest.raises(InputError):
        cost.record("a round")
    assert cost.epsilon() == before
    for delta, relation in ((1.0, "add-remove"), (DELTA, "swap")):
        with pytest.raises(InputError):
            RunningEpsilon(delta, relation)
