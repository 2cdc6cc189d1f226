"""The exact tests on trinomial counts, against full enumeration."""

import math

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from dpcert.proofs_checks.auditing import clopper_pearson, guessing_game

TRIALS = 30
HYPOTHESES = [(0.0, 0.1), (1.0, 0.05), (2.0, 0.02), (1.0, 1e-3), (0.3, 0.3), (0.5, 0.0)]


def all_counts(trials: int) -> np.ndarray:
    pairs = [(i, j) for i in range(trials + 1) for j in range(trials + 1 - i)]
    return np.array(pairs)


def level_reached(counts: np.ndarray, rejected: np.ndarray, trials: int, epsilon: float, leak: float) -> float:
    """The largest probability of rejection over the boundary c = e^epsilon w + leak of the hypothesis, and below it."""
    largest = 0.0
    if not rejected.any():
        return largest
    chosen = counts[rejected]
    full = np.column_stack([chosen, trials - chosen.sum(axis=1)])
    for w in np.linspace(0, (1 - leak) / (1 + math.exp(epsilon)), 40):
        for part in (1.0, 0.9):
            c = part * (math.exp(epsilon) * w + leak)
            largest = max(largest, multinomial(trials, [c, w, max(0.0, 1 - c - w)]).pmf(full).sum())
    return largest


@pytest.mark.parametrize(("epsilon", "leak"), HYPOTHESES)
def test_p_value_is_valid_everywhere_on_the_hypothesis(epsilon, leak):
    counts = all_counts(TRIALS)
    values = np.array([guessing_game.p_value(int(i), int(j), TRIALS, epsilon, leak) for i, j in counts])
    for error in (0.2, 0.05, 0.01):
        assert level_reached(counts, values <= error, TRIALS, epsilon, leak) <= error


def test_p_value_is_not_needlessly_large():
    """At eps = 1, leak = .3 the exact size of the .2 test is above .12 for 30 trials: the grid costs little."""
    counts = all_counts(TRIALS)
    values = np.array([guessing_game.p_value(int(i), int(j), TRIALS, 1.0, 0.3) for i, j in counts])
    assert level_reached(counts, values <= 0.2, TRIALS, 1.0, 0.3) > 0.12


def test_enumeration_would_see_a_test_that_forgets_the_nuisance():
    """Planted: the p-value of the correct guesses at the observed rate of wrong ones, as if that were the true one."""
    epsilon, leak = 1.0, 0.05
    counts = all_counts(TRIALS)
    plugged = binom.sf(counts[:, 0] - 1, TRIALS, np.minimum(1.0, math.exp(epsilon) * counts[:, 1] / TRIALS + leak))
    assert level_reached(counts, plugged <= 0.05, TRIALS, epsilon, leak) > 0.05


@pytest.mark.parametrize(("epsilon", "leak"), HYPOTHESES)
def test_epsilon_lower_exceeds_the_truth_rarely(epsilon, leak):
    counts = all_counts(TRIALS)
    for error in (0.2, 0.05):
        bound = guessing_game.epsilon_lower(counts[:, 0], counts[:, 1], TRIALS, leak, error)
        assert level_reached(counts, bound > epsilon, TRIALS, epsilon, leak) <= error


def test_total_p_value_is_the_binomial_tail():
    rate = (math.e + 0.1) / (1 + math.e)
    expected = binom.sf(79, 100, rate)
    assert guessing_game.total_p_value(80, 100, 1.0, 0.1) == pytest.approx(expected, rel=1e-9)


def test_p_value_falls_with_correct_and_grows_with_wrong_guesses():
    base = guessing_game.p_value(400, 60, 1000, 1.0, 0.05)
    assert guessing_game.p_value(420, 60, 1000, 1.0, 0.05) < base < guessing_game.p_value(400, 75, 1000, 1.0, 0.05)


def test_large_numbers_of_trials_are_quick_and_sane():
    assert guessing_game.p_value(196_000, 50_000, 1_000_000, 1.0, 0.06) > 0.05
    assert guessing_game.p_value(203_000, 50_000, 1_000_000, 1.0, 0.06) < 0.001


def test_clopper_pearson_inverts_the_tails():
    for k, n in ((0, 10), (3, 10), (10, 10), (17, 1000)):
        for error in (0.05, 1e-4):
            top = float(clopper_pearson.upper(k, n, error))
            low = float(clopper_pearson.lower(k, n, error))
            assert k == n or binom.cdf(k, n, top) <= error * (1 + 1e-6)
            assert k == 0 or binom.sf(k - 1, n, low) <= error * (1 + 1e-6)
            assert low <= k / n <= top


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.5, 0.97])
def test_clopper_pearson_covers_exactly(rate):
    successes = np.arange(41)
    mass = binom.pmf(successes, 40, rate)
    assert mass[clopper_pearson.upper(successes, 40, 0.05) < rate].sum() <= 0.05
    assert mass[clopper_pearson.lower(successes, 40, 0.05) > rate].sum() <= 0.05


def test_most_is_the_smallest_safe_number():
    for trials, rate in ((1000, 1e-3), (50, 0.4), (10, 0.0)):
        number = clopper_pearson.most(trials, rate, 0.01)
        assert binom.sf(number, trials, rate) <= 0.01
        assert number == 0 or binom.sf(number - 1, trials, rate) > 0.01


def test_tiny_error_probabilities_can_be_reached():
    """A session that splits its error over many tests asks for p-values far below the default nuisance error."""
    assert guessing_game.p_value(700, 10, 1000, 1.0, 0.05, nuisance_error=1e-11) < 1e-9
