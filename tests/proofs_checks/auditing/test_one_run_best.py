"""The number of guesses chosen by the bounds themselves: no luck is needed for it, and little is lost."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import one_run
from dpcert.proofs_checks.auditing.curve import gdp


def canaries(count: int, seed: int, *, laplace: float | None = None, mu: float | None = None):
    """Scores of independent canaries under noise that is exactly laplace-DP, or mu-GDP, and their coins."""
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    noise = rng.laplace(0, 1 / laplace, count) if laplace is not None else rng.normal(0, 1 / (mu or 1.0), count)
    return coins + noise, coins


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_coverage(epsilon) -> None:
    """300 runs at error .1: more than 51 bounds above the truth (4 deviations) have a probability below 1e-4."""
    bounds = [one_run.best_epsilon_lower(*canaries(300, seed, laplace=epsilon), 0.0, 0.1)[0] for seed in range(300)]
    assert sum(bound > epsilon for bound in bounds) <= 51
    assert max(bounds) > 0.2 * epsilon


def test_the_best_of_five_at_the_whole_error_would_not_cover() -> None:
    """The planted fault: the largest of the bounds, each at the whole error of .9 instead of a fifth of .1."""
    above = 0
    for seed in range(100):
        scores, coins = canaries(300, seed, laplace=0.5)
        seen = [one_run.guess(scores, coins, max(1, round(share * 300))) for share in one_run.SHARES]
        above += max(one_run.epsilon_lower(one, 0.0, 0.9) for one in seen) > 0.5
    assert above > 17  # .1 of 100, and more than 2 deviations: what the test above would see


def test_little_is_lost_against_the_best_number_in_hindsight() -> None:
    scores, coins = canaries(2000, 1, laplace=3.0)
    found, seen = one_run.best_epsilon_lower(scores, coins, 0.0, 0.05)
    numbers = (20, 60, 200, 600, 1400)
    hindsight = max(one_run.epsilon_lower(one_run.guess(scores, coins, made), 0.0, 0.05) for made in numbers)
    assert 0.85 * hindsight <= found <= hindsight
    assert seen.made in numbers


def test_mu_is_decided_by_one_tail() -> None:
    """The same answer as by the p-value, whose largest feasible tail takes fifty of them."""
    for seed in range(3):
        scores, coins = canaries(120, seed, mu=3.0)
        seen = one_run.guess(scores, coins, 60)
        bound = one_run.mu_lower(seen, 0.05)
        assert one_run.curve_p_value(seen, gdp(max(bound, 1e-6))) <= 0.05 * (1 + 1e-9)
        assert one_run.curve_p_value(seen, gdp(bound + 2e-3)) > 0.05 * (1 - 1e-9)


def test_best_mu() -> None:
    found, seen = one_run.best_mu_lower(*canaries(400, 3, mu=3.0), 0.05)
    assert 0.5 < found <= 3.0
    assert seen.canaries == 400


def test_bad_error() -> None:
    with pytest.raises(InputError, match="error"):
        one_run.best_epsilon_lower([1.0], [True], 0.0, 1.5)
