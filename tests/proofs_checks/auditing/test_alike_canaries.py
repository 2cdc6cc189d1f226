"""Bounds for canaries that are independent and alike: the law of the wrong guesses, coverage, and what they need."""

from __future__ import annotations

import numpy as np
import pytest
from cases import at_night
from scipy import integrate, stats

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import alike_canaries as module
from dpcert.proofs_checks.auditing.alike_canaries import Released, bounds, least_errors, least_errors_of_gdp, p_value
from dpcert.proofs_checks.auditing.curve import approximate_dp, gdp
from dpcert.proofs_checks.auditing.parts import epsilon_if_gaussian

ERROR = 0.1
ALLOWED = {12: 6, 400: 68}
"""Of so many runs at error .1: a sound bound exceeds it with probability below 1e-4."""


def drawn(seed: int, count: int = 120):
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    return coins + rng.normal(size=count), coins


def false(runs: int, canaries: int = 120) -> int:
    limits = {"mu": 1.0, "epsilon": epsilon_if_gaussian(1.0, 0.01)}
    return sum(
        any(b.value > limits[b.quantity] for b in bounds(*drawn(seed, canaries), 0.01, ERROR)) for seed in range(runs)
    )


@pytest.mark.parametrize("runs", [12, at_night(400)])
def test_coverage(runs) -> None:
    assert false(runs) <= ALLOWED[runs]


def test_the_law_of_the_count_is_that_of_simulated_canaries() -> None:
    """1-GDP at its worst, 40 canaries of which the 12 most conspicuous are guessed: 20,000 runs, six deviations."""
    rng = np.random.default_rng(7)
    truth = rng.random((20_000, 40)) < 0.5
    scores = rng.normal(size=truth.shape) + truth - 0.5
    order = np.argsort(-np.abs(scores), axis=1)[:, :12]
    wrong = np.take_along_axis((scores > 0) != truth, order, axis=1).sum(axis=1)
    for seen in (0, 1, 2, 4):
        law, rate = p_value(Released(40, 12, seen), least_errors_of_gdp(1.0)), float((wrong <= seen).mean())
        assert abs(law - rate) <= 6 * np.sqrt(rate / 20_000) + 0.01 * law


def test_pure_privacy_is_a_binomial_tail() -> None:
    """All guesses are as good as each other, whichever are made."""
    found = p_value(Released(50, 20, 3), least_errors(approximate_dp(1.0)))
    assert found == pytest.approx(stats.binom.cdf(3, 20, 1 / (1 + np.e)), rel=1e-6)
    assert found >= stats.binom.cdf(3, 20, 1 / (1 + np.e))


@pytest.mark.parametrize("g", [0.05, 0.4, 1.0])
def test_least_errors_by_integration(g) -> None:
    """mu-GDP: the smaller density where the larger exceeds it most, until a part g is guessed; its lines say less."""
    half = np.quantile(np.abs(np.random.default_rng(3).normal(0.5, 1.0, 400_000)), 1 - g)
    expected, _ = integrate.quad(lambda x: stats.norm.pdf(x + 0.5), half, np.inf)
    exact = least_errors_of_gdp(1.0)(np.array([g]))[0]
    assert exact == pytest.approx(expected, rel=0.03)
    by_lines = least_errors(gdp(1.0))(np.array([g]))[0]
    assert 0.99 * exact < by_lines <= exact * (1 + 1e-6)


def test_forgetting_that_the_conspicuous_are_chosen_is_seen(monkeypatch) -> None:
    """Planted: the guesses that are made err as often as all would."""

    def every(seen, errors):
        return float(stats.binom.cdf(seen.wrong, seen.guessed, errors(np.ones(1))[0]))

    monkeypatch.setattr(module, "PARTS", (0.1,))
    monkeypatch.setattr(module, "p_value", every)
    assert false(12, 600) > ALLOWED[12]


def test_a_shared_fate_is_not_covered() -> None:
    """All coins shown with probability .2, else nothing: (0, .2)-DP, and no guess is wrong in a fifth of the runs."""
    assert p_value(Released(60, 60, 0), least_errors(approximate_dp(0.0, 0.2))) < 1e-6


def test_the_assumption_is_named() -> None:
    assert {b.assumes for b in bounds(*drawn(1), 1e-5, 0.05)} == {"alike canaries"}


def test_nothing_seen_is_no_bound() -> None:
    assert [b.value for b in bounds([0.0], [True], 1e-5, 0.05)] == [0.0, 0.0]
    assert [b.value for b in bounds([0.0, 1.0], [True, False], 1e-5, 0.05)] == [0.0, 0.0]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="included"):
        bounds([1.0, 2.0], [True], 1e-5, 0.05)
    with pytest.raises(InputError, match="error"):
        bounds([1.0, 2.0], [True, False], 1e-5, 1.5)
