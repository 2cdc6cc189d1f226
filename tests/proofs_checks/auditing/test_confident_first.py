"""Guess by guess in one run: false alarms at any stopping time, against mechanisms that attain what is claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import confident_first, one_run
from dpcert.proofs_checks.auditing.confident_first import against, epsilon_lower, right_guesses
from dpcert.proofs_checks.auditing.guesses import guess

RUNS, ERROR = 1500, 0.05


def laplace(count: int, seed: int, epsilon: float):
    """Scores of canaries under Laplace noise, exactly epsilon-DP, and their coins."""
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    return coins + rng.laplace(0, 1 / epsilon, count), coins


def leaking(count: int, seed: int, epsilon: float, delta: float):
    """Randomized response of all canaries, but with probability delta everything is shown: (epsilon, delta)-DP."""
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    kept = rng.random(count) < 1 / (1 + math.exp(-epsilon))
    shown = rng.random() < delta
    return np.where(kept | shown, coins, ~coins) + 0.01 * rng.random(count), coins


def alarms(draw, epsilon: float, delta: float = 0.0) -> int:
    return sum(against(*draw(seed), epsilon, delta).p_value <= ERROR for seed in range(RUNS))


def sound(found: int) -> bool:
    """A sound test fails this with probability at most 1e-4."""
    return bool(binomtest(found, RUNS, ERROR, alternative="greater").pvalue > 1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_false_alarms_at_any_time(epsilon) -> None:
    assert sound(alarms(lambda seed: laplace(100, seed, epsilon), epsilon))


def test_false_alarms_of_coins_that_attain_the_claim() -> None:
    found = alarms(lambda seed: leaking(60, seed, 1.0, 0.0), 1.0)
    assert sound(found)
    assert found > 0.005 * RUNS  # and not by being idle


def test_delta_is_paid_for_every_canary(monkeypatch) -> None:
    """All is shown at once in a run of five: leaks that nobody reckons with are that many alarms."""
    claimed = 1.0, 0.2

    def draw(seed):
        return leaking(20, seed, *claimed)

    assert sound(alarms(draw, *claimed))
    monkeypatch.setattr(confident_first, "_leaks", lambda canaries, epsilon, delta, error: (0, 0.0))
    assert not sound(alarms(draw, *claimed))


def test_an_order_that_looks_at_the_coins_is_seen(monkeypatch) -> None:
    """Planted: right guesses first."""
    honest = right_guesses
    monkeypatch.setattr(confident_first, "right_guesses", lambda scores, coins: np.sort(honest(scores, coins))[::-1])
    assert not sound(alarms(lambda seed: laplace(100, seed, 0.5), 0.5))


def test_odds_that_are_too_good_are_seen() -> None:
    """Planted: bets that are fair at half of the epsilon."""
    assert not sound(alarms(lambda seed: laplace(400, seed, 2.0), 1.0))


def test_bounds_cover() -> None:
    """60 runs at error .1: more than 18 bounds above the truth have a probability below 1e-5."""
    found = [epsilon_lower(*laplace(200, seed, 2.0), 0.0, 0.1)[0] for seed in range(60)]
    assert sum(bound > 2.0 for bound in found) <= 18
    assert np.median(found) > 1.0


def test_nothing_is_lost_against_a_number_of_guesses_in_hindsight() -> None:
    scores, coins = laplace(2000, 1, 3.0)
    found, made = epsilon_lower(scores, coins, 0.0, 0.05)
    hindsight = max(one_run.epsilon_lower(guess(scores, coins, n), 0.0, 0.05) for n in (20, 60, 200, 600, 1400))
    assert 0.93 * hindsight <= found < 3.0
    assert 0 < made <= 2000


def test_the_order_is_by_ranks_from_both_ends() -> None:
    scores, coins = [3.0, 9.0, 1.0, 2.0], [True, True, False, True]
    assert right_guesses(scores, coins).tolist() == [True, True, True, False]


def test_bad_input() -> None:
    with pytest.raises(InputError, match="included"):
        against([1.0, 2.0], [True], 1.0)
    with pytest.raises(InputError, match="epsilon"):
        against([1.0], [True], -1.0)
    with pytest.raises(InputError, match="error"):
        epsilon_lower([1.0], [True], 0.0, 1.5)
