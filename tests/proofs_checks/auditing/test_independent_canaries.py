"""Bounds of one run that need independent canaries: they cover where that is so, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from cases import at_night
from scipy import stats

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import independent_canaries, one_run
from dpcert.proofs_checks.auditing.independent_canaries import bounds, if_gaussian
from dpcert.proofs_checks.auditing.mu import epsilon_if_gaussian

ERROR = 0.1
ALLOWED = {40: 14, 200: 37}
"""Of so many runs at error .1: a sound bound exceeds it with probability below 1e-4."""


def drawn(count: int, seed: int, mus):
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    return coins * mus + rng.normal(size=count), coins


def above(draw, mu: float, method, runs: int = 40) -> int:
    """Runs in which some bound is above mu, or above its epsilon."""
    limits = {"mu": mu, "epsilon": epsilon_if_gaussian(mu, 0.01)}
    return sum(any(b.value > limits[b.quantity] for b in method(*draw(seed), 0.01, ERROR)) for seed in range(runs))


@pytest.mark.parametrize("runs", [40, at_night(200)])
@pytest.mark.parametrize("mus", [np.tile([1.0, 0.0, 0.5], 40), at_night(np.ones(120))], ids=["unequal", "equal"])
def test_coverage(mus, runs) -> None:
    assert above(lambda seed: drawn(120, seed, mus), 1.0, bounds, runs) <= ALLOWED[runs]


@pytest.mark.nightly
def test_canaries_that_share_their_fate_are_not_covered() -> None:
    """The assumption is needed: in a third of the runs all shows. About 1-GDP by total variation, not by these."""

    def draw(seed):
        return drawn(120, seed, 6.0 if np.random.default_rng((seed, 1)).random() < 0.35 else 0.0)

    assert above(draw, 1.0, bounds, 200) > ALLOWED[200]


def test_coverage_if_gaussian() -> None:
    assert above(lambda seed: drawn(60, seed, np.ones(60)), 1.0, if_gaussian, 200) <= ALLOWED[200]


def test_a_bound_without_its_doubt_is_seen(monkeypatch) -> None:
    """Planted: the difference of the means over the standard deviation, as if it were known."""

    def plain(dataset, neighbour, error):
        return float((dataset.mean() - neighbour.mean()) / np.sqrt((dataset.var() + neighbour.var()) / 2))

    monkeypatch.setattr(independent_canaries, "_noncentral", plain)
    assert above(lambda seed: drawn(60, seed, np.ones(60)), 1.0, if_gaussian, 200) > ALLOWED[200]


def test_the_noncentral_bound_by_scipy() -> None:
    scores, coins = drawn(50, 4, np.full(50, 2.0))
    mu = if_gaussian(scores, coins, 1e-5, 0.05)[0].value
    seen = stats.ttest_ind(scores[coins], scores[~coins]).statistic
    shift = mu / np.sqrt(1 / coins.sum() + 1 / (~coins).sum())
    assert stats.nct.sf(seen, 48, shift) == pytest.approx(0.05, rel=1e-6)


def test_they_are_labelled_and_tighter() -> None:
    scores, coins = drawn(1000, 5, np.ones(1000))
    found = bounds(scores, coins, 1e-5, 0.05)
    assert {b.assumes for b in found} == {"independent canaries"}
    assert {b.assumes for b in if_gaussian(scores, coins, 1e-5, 0.05)} == {"gaussian"}
    mu = next(b.value for b in found if b.quantity == "mu")
    assert one_run.best_mu_lower(scores, coins, 0.05)[0] < mu < if_gaussian(scores, coins, 1e-5, 0.05)[0].value < 1.05


def test_nothing_seen_is_no_bound() -> None:
    assert if_gaussian([1.0, 1.0], [True, True], 1e-5, 0.05)[0].value == 0.0
    assert if_gaussian([0.0, 1.0, 0.5], [True, False, False], 1e-5, 0.05)[0].value == 0.0
    assert all(b.value == 0.0 for b in bounds([0.0, 1.0], [True, False], 1e-5, 0.05))


def test_bad_input() -> None:
    with pytest.raises(InputError, match="included"):
        bounds([1.0, 2.0], [True], 1e-5, 0.05)
    with pytest.raises(InputError, match="error"):
        bounds([1.0, 2.0], [True, False], 1e-5, 0.5)
