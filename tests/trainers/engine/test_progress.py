"""The bar shows an epsilon that is a bound, and at the end the last round's, also where a budget ended the run."""

from __future__ import annotations

import random

import pytest

from dpcert.trainers.engine.progress import _up
from dpcert.trainers.federated import Pmtl, PrivacyGoal, Settings, Trainer, load_federation


def test_a_run_that_a_budget_stops_ends_with_its_last_reading(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    settings = Settings(rounds=100, cohort=6, noise_multiplier=2.0, clip_norm=0.5, seed=1)
    federation = load_federation("synthetic:related,population=12,samples=12")
    outcome = Trainer(federation, Pmtl(1.0), "logistic", settings, PrivacyGoal(budget=8.0)).run(progress=True)
    assert outcome.stopped_by_budget
    assert outcome.privacy is not None
    assert 1 < outcome.rounds < 100
    shown = capsys.readouterr().err.split("epsilon <= ")[-1].split()
    assert shown[2] == str(outcome.rounds)
    assert outcome.privacy.upper <= float(shown[0]) <= outcome.privacy.upper * 1.001


def test_four_digits_are_never_below():
    """Rounding to the nearest, the planted fault, is below about half of the time."""
    coins = random.Random(20261122)
    bounds = [coins.uniform(0.0, 10.0 ** coins.randrange(-3, 6)) for _ in range(500)]
    assert all(bound <= float(_up(bound)) <= bound * 1.002 for bound in bounds)
    assert sum(bound > float(f"{bound:.4g}") for bound in bounds) > 100


@pytest.mark.parametrize(("bound", "shown"), [(float("inf"), "inf"), (0.0, "0"), (7.685191, "7.686"), (2.0, "2")])
def test_what_is_shown(bound, shown):
    assert _up(bound) == shown
