"""One-run audits: the two analyses against independent oracles, and their false alarms on randomized response."""

import math

import numpy as np
import pytest
from cases import few
from scipy.optimize import linprog
from scipy.stats import binom, binomtest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import approximate_dp, gdp, one_run
from dpcert.proofs_checks.auditing.guesses import Guesses, guess
from dpcert.proofs_checks.auditing.parts import epsilon_if_gaussian


def steinke_p_value(m, r, v, eps, delta):
    """Theorem 5.2 by its definition, with scipy's binomial."""
    q = 1 / (1 + math.exp(-eps))
    beta = binom.sf(v - 1, r, q)
    gaps = [(binom.sf(v - i - 1, r, q) - beta) / i for i in range(1, v + 1)]
    return min(1.0, beta + 2 * m * delta * max([0.0, *gaps]))


@pytest.mark.parametrize("seen", [(100, 60, 50), (1000, 1000, 620), (50, 10, 10), (50, 10, 0)])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-3])
def test_p_value_is_theorem_5_2(seen, delta):
    for eps in (0.0, 0.5, 2.0):
        expected = steinke_p_value(*seen, eps, delta)
        assert one_run.p_value(Guesses(*seen), eps, delta) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def curve_oracle(m, r, v, claim):
    """The largest tail that the inequalities allow, by linear programming over all (p_0, ..., p_r)."""
    rows, bounds = [], []
    k = np.arange(r + 1)
    for j in range(1, r + 1):
        mine = np.where(k >= j, k / m, 0.0)
        theirs = np.where((k >= j - 1) & (k < r), (r - k) / m, 0.0)
        for eps, delta in zip(claim.epsilons, claim.deltas, strict=True):
            rows += [mine - math.exp(eps) * theirs, mine * math.exp(eps) - theirs]
            bounds += [delta, delta - 1 + math.exp(eps)]
    solved = linprog(
        -(k >= v).astype(float), A_ub=np.array(rows), b_ub=bounds, A_eq=np.ones((1, r + 1)), b_eq=[1.0], method="highs"
    )
    assert solved.status == 0
    return -solved.fun


@pytest.mark.parametrize(
    ("seen", "claim"),
    [
        ((20, 12, 10), approximate_dp(0.5, 0.01)),
        ((12, 12, 9), approximate_dp(1.0)),
        ((40, 15, 13), gdp(0.8)),
        ((15, 15, 12), gdp(0.5)),
    ],
)
def test_curve_p_value_solves_the_linear_programme(seen, claim):
    expected = curve_oracle(*seen, claim)
    assert one_run.curve_p_value(Guesses(*seen), claim) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_guess_takes_both_ends():
    scores = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    included = np.array([True, False, False, False, True])
    assert guess(scores, included, 2) == Guesses(5, 2, 2)
    assert guess(scores, included, 4) == Guesses(5, 4, 3)


def randomized_response(epsilon, canaries, runs, rng):
    """Correct guesses when each canary's coin is reported through epsilon-DP randomized response."""
    return rng.binomial(canaries, math.exp(epsilon) / (1 + math.exp(epsilon)), runs)


@pytest.mark.parametrize("epsilon", few([0.0, 0.5, 1.0, 3.0], 4))
def test_false_alarms_on_randomized_response(epsilon):
    """10^4 runs each; randomized response attains Theorem 5.2, so the level is nearly reached and never exceeded."""
    correct = randomized_response(epsilon, 80, 10_000, np.random.default_rng(1))
    claim = approximate_dp(epsilon)
    pure = {v: one_run.p_value(Guesses(80, 80, v), epsilon) for v in np.unique(correct).tolist()}
    curve = {v: one_run.curve_p_value(Guesses(80, 80, v), claim) for v in np.unique(correct).tolist()}
    for values in (pure, curve):
        alarms = sum(values[v] <= 0.05 for v in correct.tolist())
        assert binomtest(alarms, 10_000, 0.05, alternative="greater").pvalue > 1e-4
    assert sum(pure[v] <= 0.05 for v in correct.tolist()) > 150


def test_lower_bounds_are_below_the_truth_and_useful():
    correct = int(np.median(randomized_response(2.0, 1000, 999, np.random.default_rng(2))))
    seen = Guesses(1000, 1000, correct)
    assert 1.6 < one_run.epsilon_lower(seen, 0.0, 0.05) < 2.0
    assert one_run.epsilon_lower(seen, 1e-5, 0.05) < one_run.epsilon_lower(seen, 0.0, 0.05)
    assert one_run.epsilon_lower(Guesses(100, 100, 50), 0.0, 0.05) == 0.0


def test_the_curve_analysis_gains_on_a_gaussian():
    """1000 canaries on orthogonal directions, mu = 1: at delta = 1e-5 40% above the other analysis's bound."""
    rng = np.random.default_rng(3)
    included = one_run.coins(1000, seed=4)
    seen = guess(included + rng.normal(size=1000), included, 100)
    mu = one_run.mu_lower(seen, 0.05)
    assert mu < 1.0
    assert 1.4 * one_run.epsilon_lower(seen, 1e-5, 0.05) < epsilon_if_gaussian(mu, 1e-5) < 4.3774


@pytest.mark.nightly
def test_false_alarms_on_gaussian_canaries():
    """mu = 1 on orthogonal canaries; 10^4 runs with half of them guessed, at error .05."""
    rng = np.random.default_rng(5)
    canaries, made, runs = 100, 50, 10_000
    included = rng.random((runs, canaries)) < 0.5
    scores = included + rng.normal(size=(runs, canaries))
    correct = np.array([guess(s, b, made).correct for s, b in zip(scores, included, strict=True)])
    claim = gdp(1.0)
    values = {v: one_run.curve_p_value(Guesses(canaries, made, v), claim) for v in np.unique(correct).tolist()}
    alarms = sum(values[v] <= 0.05 for v in correct.tolist())
    assert binomtest(alarms, runs, 0.05, alternative="greater").pvalue > 1e-4


def test_bad_input():
    with pytest.raises(InputError, match="included"):
        guess([1.0, 2.0], [True], 1)
    with pytest.raises(InputError, match="made"):
        guess([1.0, 2.0], [True, False], 3)
