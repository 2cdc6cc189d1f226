"""The limit of what outputs can show, against a simulation of the likelihood ratio test that shares no code with it."""

import math

import gaussian_limit as limit
import numpy as np
import pytest

from dpcert.mechanisms import InputError

EXACT = 4.3771780956
"""epsilon of mu = 1 at delta = 1e-5."""


def simulated_power(trials: int, epsilon: float, runs: int, seed: int) -> float:
    """Power at level .05 of the likelihood ratio test of N(1, 1), N(0, 1) against the pair in between, delta = 0.

    Losses are drawn from the truth; the null hypothesis is reached by weighing each run by exp(-log ratio).
    """
    rng = np.random.default_rng(seed)
    ratios = np.zeros(runs)
    for run in range(runs):
        loss = 0.5 + rng.normal(size=2 * trials)
        outer = loss[np.abs(loss) > epsilon]
        share = np.where(outer > 0, math.exp(epsilon), 1.0) / (1 + math.exp(epsilon))
        ratios[run] = (-np.log1p(np.exp(-outer)) - np.log(share)).sum()
    order = np.argsort(-ratios)
    size = np.cumsum(np.exp(-ratios[order])) / runs
    return float(np.searchsorted(size, 0.05) / runs)


@pytest.mark.parametrize(("trials", "epsilon"), [(300, 1.5), pytest.param(2000, 2.2, marks=pytest.mark.nightly)])
def test_the_power_is_that_of_the_likelihood_ratio_test(trials, epsilon):
    """10,000 runs: the simulated power errs by about .01."""
    exact = limit.gaussian_power(trials, epsilon, 0.0)
    assert 0.1 < exact < 0.9
    assert abs(simulated_power(trials, epsilon, 10_000, seed=1) - exact) < 0.03


def test_the_goal_of_85_percent_is_out_of_reach():
    """A million calls a side: even the best test tells .85 of the true epsilon from the truth in less than half of
    the runs, so that no 95% bound has a median above it (this library's is at .82, of at most .84)."""
    assert limit.gaussian_power(10**6, 0.85 * EXACT, 1e-5) < 0.5
    assert limit.gaussian_power(10**6, 0.83 * EXACT, 1e-5) > 0.5


def test_more_delta_leaves_less_to_see():
    assert limit.gaussian_power(1000, 2.0, 1e-3) < limit.gaussian_power(1000, 2.0, 0.0)
    assert limit.gaussian_power(10**6, 1.0, 0.0) == 1.0


def test_a_pair_that_is_the_truth_cannot_be_told_from_it():
    """Beyond the true epsilon at delta nothing is left to see: the power is the level."""
    assert limit.gaussian_power(10**6, EXACT + 1e-6, 1e-5) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.nightly
def test_the_limits_of_the_guide():
    found = [limit.gaussian_limit(n, 1e-5) / EXACT for n in (10**4, 10**5, 10**6)]
    assert found == pytest.approx([0.608, 0.733, 0.841], abs=2e-3)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="trials"):
        limit.gaussian_power(0, 1.0, 0.0)
    with pytest.raises(InputError, match="level"):
        limit.gaussian_power(10, 1.0, 0.0, level=1.0)
