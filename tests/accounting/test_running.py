"""RunningEpsilon against the accountant asked afresh: both brackets hold the same number."""

from __future__ import annotations

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.contour import running as running_inversion
from dpcert.accounting.ledger import RunningEpsilon
from dpcert.accounting.ledger import running as module
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Mechanism, Poisson, Repeat

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
            assert ours.width <= max(afresh.width, 1.1e-8 * ours.upper)
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


def test_a_round_that_is_not_counted_is_caught(monkeypatch):
    """The plant: further rounds of a known mechanism are dropped."""
    right = running_inversion.Rows.count
    monkeypatch.setattr(running_inversion.Rows, "count", lambda rows, pair, n: right(rows, pair, max(1, n - 1)))
    cost = RunningEpsilon(DELTA)
    cost.record(Repeat(Poisson(Gaussian(1.0), 0.02), 300))
    assert cost.epsilon().upper < epsilon(cost.run(), DELTA).lower


def test_an_error_that_is_not_counted_is_caught(monkeypatch):
    """The plant: what is cut off from the sum is forgotten, and much is cut off."""
    right = running_inversion.truncation
    monkeypatch.setattr(running_inversion, "truncation", lambda *given: (right(*given)[0] / 12.0, 0.0))
    cost = RunningEpsilon(DELTA)
    cost.record(Repeat(Poisson(Gaussian(1.0), 0.02), 300))
    truth = epsilon(cost.run(), DELTA)
    honest = cost.epsilon()
    assert honest.lower <= truth.upper  # cut off, but accounted for: the reading falls back, or is wide
    assert honest.upper >= truth.lower
    frame = running_inversion.RunningInversion._frame

    def forgetful(self, *given):
        found = frame(self, *given)
        return type(found)(found.c, found.step, found.size, found.sides, -1000.0)

    monkeypatch.setattr(running_inversion.RunningInversion, "_frame", forgetful)
    wrong = RunningEpsilon(DELTA)
    wrong.record(cost.run())
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
    for delta, relation in ((0.0, "add-remove"), (DELTA, "swap")):
        with pytest.raises(InputError):
            RunningEpsilon(delta, relation)
