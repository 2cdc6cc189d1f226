"""What the auditors find with how many calls: the peers' prototype figures, met or beaten, as tests that can fail."""

import numpy as np
import pytest
from planted.additive import gaussian_sum, laplace_sum
from planted.floating_point import textbook_laplace
from planted.sparse_vector import CROSSED, algorithm_4, algorithm_5, algorithm_6

from dpcert.proofs_checks.auditing import audit, gdp
from dpcert.proofs_checks.auditing.audit import SHARES
from dpcert.proofs_checks.auditing.scores import LowBits
from dpcert.proofs_checks.auditing.simple_scores import Linear, Values

PAIR = ([1.0], [])
EXACT = 4.3771780956
"""epsilon of mu = 1 at delta = 1e-5 (certified by the accountants to the digits shown)."""


ALONE = 0.05 / SHARES["event"]["event"]
"""Of the method "event", at which the bound of its event has the prototype's error of .05: the rest of the error is for
outputs that repeat, which the prototype did not look at."""


def found(ratio: float, trials: int, seeds: int) -> float:
    """Rate at which sigma = ratio is refuted against a claim of mu = 1, at error .05."""
    refuted = [
        audit(gaussian_sum(ratio), PAIR, claim=gdp(1.0), trials=trials, alpha=0.05, seed=seed).refuted
        for seed in range(seeds)
    ]
    return float(np.mean(refuted))


def median_bound(mechanism, pair, trials, seeds, method="event", delta=0.0, scores=None, alpha=0.05) -> float:
    """Median of the first assumption-free bound on epsilon."""
    values = []
    for seed in range(seeds):
        asked = {"delta": delta, "trials": trials, "alpha": alpha, "method": method, "scores": scores}
        result = audit(mechanism, pair, seed=seed, **asked)
        values.append(next(b.value for b in result.bounds if b.quantity == "epsilon" and b.assumes is None))
    return float(np.median(values))


@pytest.mark.nightly
def test_ten_percent_of_the_noise_with_ten_thousand_calls():
    assert found(0.9, 10_000, 40) >= 0.9


@pytest.mark.nightly
def test_five_percent_with_a_hundred_thousand():
    assert found(0.95, 100_000, 10) >= 0.9


@pytest.mark.nightly
@pytest.mark.parametrize(("ratio", "trials"), [(0.98, 10**6), (0.99, 10**6), (0.95, 10**5), (0.9, 10**4)])
def test_deficits_over_many_seeds(ratio, trials):
    assert found(ratio, trials, 50) >= 0.9


@pytest.mark.parametrize(("trials", "event", "band"), [(10_000, 0.53, 0.45), (100_000, 0.67, 0.61)])
def test_gaussian_bounds(trials, event, band):
    assert median_bound(gaussian_sum(1.0), PAIR, trials, 15, delta=1e-5) >= event * EXACT
    assert median_bound(gaussian_sum(1.0), PAIR, trials, 15, "band", delta=1e-5) >= band * EXACT


@pytest.mark.nightly
def test_gaussian_bounds_at_a_million():
    assert median_bound(gaussian_sum(1.0), PAIR, 10**6, 25, delta=1e-5) >= 0.79 * EXACT
    assert median_bound(gaussian_sum(1.0), PAIR, 10**6, 25, "band", delta=1e-5) >= 0.74 * EXACT


@pytest.mark.parametrize(
    ("scale", "trials", "least"), [(1.0, 100_000, 0.98), (0.5, 100_000, 0.98), (0.5, 10_000, 0.94)]
)
def test_laplace_bounds(scale, trials, least):
    assert median_bound(laplace_sum(scale), PAIR, trials, 15) >= least / scale


@pytest.mark.nightly
def test_laplace_at_ten_thousand():
    assert median_bound(laplace_sum(1.0), PAIR, 10_000, 61, alpha=ALONE) >= 0.96


def test_gaussian_model_is_nearly_tight():
    result = audit(gaussian_sum(1.0), PAIR, delta=1e-5, trials=100_000, alpha=0.05, method="mu")
    modelled = [b.value for b in result.bounds if b.assumes == "gaussian"]
    assert 0.97 * EXACT <= modelled[0] <= EXACT


def test_known_densities_reach_what_events_cannot():
    """The goal of .85 at n = 1e6 is passed at 1e5 when the densities are known."""
    result = audit(
        gaussian_sum(1.0),
        PAIR,
        delta=1e-5,
        trials=100_000,
        alpha=0.05,
        method="likelihood",
        loss=lambda rows: rows[:, 0] - 0.5,
        claim=gdp(1.0),
    )
    bound = next(b.value for b in result.bounds if b.assumes == "densities")
    assert 0.9 * EXACT <= bound <= EXACT


def test_low_order_bits():
    bound = median_bound(textbook_laplace, ([1.0], [0.0]), 100_000, 5, scores=[LowBits()])
    assert bound >= 8.75


@pytest.mark.nightly
def test_sparse_vector():
    """Exact on CROSSED: 4.2 and 4.0, of which 1e5 calls cannot show much more than 3.5 whoever looks; 24 queries do."""
    assert median_bound(algorithm_4(1.0, 3), CROSSED, 100_000, 5, scores=[Values()]) >= 2.7
    assert median_bound(algorithm_6(1.0), CROSSED, 100_000, 5, scores=[Linear()]) >= 3.0
    long = [0.0] * 12 + [1.0] * 12, [1.0] * 12 + [0.0] * 12
    assert median_bound(algorithm_6(1.0), long, 100_000, 3, scores=[Linear()]) >= 3.5


@pytest.mark.nightly
def test_sparse_vector_at_a_million():
    # Eight queries: algorithm 4 stops after three above, so the last two of CROSSED only blur its events.
    stopped = [0.0] * 5 + [1.0] * 3, [1.0] * 5 + [0.0] * 3
    assert median_bound(algorithm_4(1.0, 3), stopped, 10**6, 5, scores=[Values()]) >= 3.77
    assert median_bound(algorithm_6(1.0), CROSSED, 10**6, 5, scores=[Linear()]) >= 3.53
    assert median_bound(algorithm_5(1.0), CROSSED, 10**6, 3, alpha=ALONE) >= 11.43


def test_a_hundred_dimensions():
    direction = np.full(100, 0.1)

    def vector(dataset, rng, size):
        return dataset * direction + rng.normal(size=(size, 100))

    result = audit(vector, (1.0, 0.0), delta=1e-5, trials=40_000, alpha=0.05, method="mu", scores=[Linear()])
    assert 0.9 <= result.mu_lower <= 1.0


@pytest.mark.nightly
def test_the_event_bound_in_a_hundred_dimensions():
    direction = np.full(100, 0.1)

    def vector(dataset, rng, size):
        return sum(dataset) * direction + rng.normal(size=(size, 100))

    assert median_bound(vector, PAIR, 100_000, 3, delta=1e-5, scores=[Linear()], alpha=ALONE) >= 2.99
