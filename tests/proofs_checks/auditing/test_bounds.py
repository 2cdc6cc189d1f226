"""Event, mu, band and density bounds on mechanisms in closed form."""

import math

import numpy as np
import pytest
from planted.additive import gaussian_sum, laplace_sum
from scipy.stats import norm

from dpcert.proofs_checks.auditing import approximate_dp, audit, gdp
from dpcert.proofs_checks.auditing.band import Band, band
from dpcert.proofs_checks.auditing.likelihood import epsilon_lower, mean_exceeds
from dpcert.proofs_checks.auditing.parts import epsilon_if_gaussian, mu_lower
from dpcert.proofs_checks.auditing.rules import NEVER, Rule, best, candidates, separation

BOTH = Rule(1, 1.0, 0.0)
ONE = Rule(1, 1.0, -NEVER)


def test_rules_count_both_sides():
    mine, other = np.array([2.0, 0.5, -1.0]), np.array([1.5, 0.5, -1.0, -2.0])
    assert BOTH.counts(mine, other) == (1 + 2, 1 + 1)
    assert ONE.counts(mine, other) == (1, 1)
    assert Rule(-1, 1.0, 0.0).counts(-mine, -other) == (3, 2)
    assert (BOTH.share, ONE.share) == (1.0, 0.5)
    assert Rule(1, 0.5, math.nextafter(0.5, 0)).total
    assert not BOTH.total


def test_candidates_have_the_counts_of_their_rules_where_there_are_many():
    rng = np.random.default_rng(0)
    mine, other = rng.integers(0, 5, 400).astype(float), rng.integers(0, 4, 300).astype(float)
    for grid in candidates(mine, other):
        for cell in range(grid.correct.size):
            if grid.lowers[cell % len(grid.lowers)] < grid.uppers[cell // len(grid.lowers)]:
                counts = grid.rule(cell).counts(mine, other)
                assert counts == (grid.correct.flat[cell], grid.wrong.flat[cell])


def test_separation_finds_the_total_variation():
    rng = np.random.default_rng(0)
    value, rule = best(candidates(rng.normal(2, 1, 5000), rng.normal(0, 1, 5000)), separation)
    assert value / 10_000 == pytest.approx(2 * norm.cdf(1) - 1, abs=0.02)
    assert rule.total


def test_band_statements_follow_from_its_rows():
    both = Band((BOTH,), (0.4,), (0.1,), 0.05)
    assert both.delta(1.0) == pytest.approx(0.4 - math.e * 0.1)
    assert both.epsilon(0.1) == pytest.approx(math.log(3.0))
    assert both.mu() == pytest.approx(norm.ppf(0.4) - norm.ppf(0.1))
    one = Band((ONE,), (0.2,), (0.05,), 0.05)
    assert one.delta(1.0) == pytest.approx(both.delta(1.0))
    assert one.mu() == pytest.approx(both.mu())
    f = both.tradeoff([0.0, 0.1, 0.6, 1.0])
    assert f == pytest.approx([1.0, 0.6, 0.1, 0.0])
    assert both.violates(approximate_dp(1.0, 0.1)) == (0, 1.0, 0.1)
    assert both.violates(approximate_dp(1.0, 0.2)) is None
    assert band((), [], 100, 0.05).epsilon(0.0) == 0.0


def test_mu_lower_is_the_inverse_of_the_separation():
    assert mu_lower(69_146, 100_000, 0.05) == pytest.approx(1.0, abs=0.02)
    assert mu_lower(50_000, 100_000, 0.05) == 0.0


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_epsilon_if_gaussian_inverts_the_profile(mu):
    eps = epsilon_if_gaussian(mu, 1e-5)
    assert norm.cdf(mu / 2 - eps / mu) - math.exp(eps) * norm.cdf(-mu / 2 - eps / mu) == pytest.approx(1e-5, rel=1e-4)
    assert epsilon_if_gaussian(mu, 0.9) == 0.0


def test_mean_exceeds_has_its_level():
    """X = 1 with probability .01 (the hypothesis, exactly), n = 400: at most 5% of 10^4 runs; often enough at .05."""
    rng = np.random.default_rng(0)
    ones = rng.binomial(400, 0.01, 10_000)
    table = {k: mean_exceeds(np.ones(k), 0.01, 400, 0.05) for k in np.unique(ones).tolist()}
    assert np.mean([table[k] for k in ones.tolist()]) <= 0.05
    more = rng.binomial(400, 0.06, 200)
    assert np.mean([mean_exceeds(np.ones(k), 0.01, 400, 0.05) for k in more.tolist()]) > 0.9


def test_density_bound_is_tight_where_events_are_not():
    loss = np.random.default_rng(0).normal(1, 1, 100_000) - 0.5
    exact = 4.3774
    bound = epsilon_lower(loss, 1e-5, 0.05)
    assert 0.9 * exact < bound < exact
    assert epsilon_lower(np.zeros(100), 1e-5, 0.05) == 0.0
    assert epsilon_lower(np.array([]), 1e-5, 0.05) == 0.0


def test_density_bounds_are_typed_and_refute_nothing():
    """A wrong density says epsilon = 40; the claim stands."""
    result = audit(
        laplace_sum(1.0),
        ([1.0], []),
        epsilon=1.0,
        delta=1e-6,
        method="likelihood",
        loss=lambda rows: 40 * np.ones(len(rows)),
        trials=2000,
    )
    density = [bound for bound in result.bounds if bound.assumes == "densities"]
    assert density[0].value > 30
    assert not result.refuted
    assert result.epsilon_lower() <= 1.0


def test_model_based_bounds_are_typed_and_refute_nothing():
    result = audit(laplace_sum(1.0), ([1.0], []), epsilon=1.0, delta=1e-6, trials=50_000)
    modelled = [bound for bound in result.bounds if bound.assumes == "gaussian"]
    assert modelled[0].value > 1.0
    assert not result.refuted
    assert result.epsilon_lower(1e-6) <= 1.0


def test_effective_noise():
    short = audit(gaussian_sum(0.8), ([1.0], []), claim=gdp(1.0), trials=100_000, method="mu", alpha=0.05)
    assert short.refuted
    assert short.effective_noise == pytest.approx(0.8, abs=0.02)
    assert audit(gaussian_sum(1.0), ([1.0], []), claim=gdp(1.0), trials=10_000, method="mu").effective_noise == 1.0
