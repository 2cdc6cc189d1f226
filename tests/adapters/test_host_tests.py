"""The hosts' own tests with dpcert as the accountant (benchmarks/host_tests.py): a few by day, all of them by night."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("dp_accounting")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import host_tests

SUITES = {suite.name: suite for suite in host_tests.suites()}
LEAST = {"dp-accounting PLD": 62, "dp-accounting RDP": 131}


@pytest.mark.parametrize(
    ("suite", "tests"),
    [("dp-accounting PLD", "randomized_response"), ("dp-accounting RDP", "zero"), ("dp-accounting RDP", "raises")],
)
def test_a_few_of_them_go_as_the_page_says(suite, tests):
    found = host_tests.outcomes(SUITES[suite], tests)
    assert len(found) > 2
    assert host_tests.unexpected(SUITES[suite], found) == []


def test_planted_an_accountant_that_is_too_low_is_noticed(monkeypatch):
    """The plant: half of epsilon. Nothing is noticed where the accountant is not dpcert's."""
    monkeypatch.setattr(host_tests.PldAccountant, "get_epsilon", lambda self, delta: 0.5 * self.bracket(delta).upper)
    suite = SUITES["dp-accounting PLD"]
    assert len(host_tests.unexpected(suite, host_tests.outcomes(suite, "test_gaussian_basic"))) == 1
    elsewhere = host_tests.Suite(suite.name, suite.package, suite.module)
    assert host_tests.unexpected(elsewhere, host_tests.outcomes(elsewhere, "test_gaussian_basic")) == []


def test_a_reason_that_is_no_longer_true_is_noticed():
    suite = SUITES["dp-accounting PLD"]
    assert "passes, though" in host_tests.unexpected(suite, {"test_truncated_subsampled_gaussian_basic": None})[0]


@pytest.mark.nightly
@pytest.mark.parametrize("name", SUITES)
def test_all_of_them_go_as_the_page_says(name):
    found = host_tests.outcomes(SUITES[name])
    assert host_tests.unexpected(SUITES[name], found) == []
    assert sum(said is None for said in found.values()) >= LEAST.get(name, 1)
