"""Simulated deltas of sampled correlated noise: right where a closed form exists, refuting, never proving.

Each estimate errs with probability 1e-6 on a side; all draws are seeded.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from cases import few

from dpcert.accounting import delta, epsilon
from dpcert.mechanisms import (
    BallsInBins,
    Gaussian,
    InputError,
    MatrixFactorisation,
    MinSeparated,
    Poisson,
    RandomAllocation,
    Repeat,
    ToeplitzFactorisation,
    draw_balls_in_bins,
    draw_min_separated,
)
from dpcert.mechanisms.randomness import SeededTestSource
from dpcert.proofs_checks.simulation import losses as sampled_matrix
from dpcert.proofs_checks.simulation.estimates import estimate_delta, estimate_epsilon, mean_lower, mean_upper
from dpcert.proofs_checks.simulation.losses import Tilt

DRAWS, ERROR = 40_000, 1e-6


def toeplitz(noise: float, coefficients: tuple[float, ...], rounds: int, separation: int = 1) -> ToeplitzFactorisation:
    return ToeplitzFactorisation(noise, coefficients, rounds, min_separation=separation)


PLAIN = toeplitz(1.0, (1.0,), 12)
SETTINGS = {
    "one pass": (BallsInBins(PLAIN, 12), RandomAllocation(Gaussian(1.0), 12), 0.5),
    "three passes over the same bins": (BallsInBins(PLAIN, 4), RandomAllocation(Gaussian(3**-0.5), 4), 1.0),
    "one bin of overlapping columns": (
        BallsInBins(toeplitz(2.0, (1.0, 1.0), 3), 1),
        Gaussian(2.0 / 9**0.5),  # columns (1, 1, 0), (0, 1, 1) and (0, 0, 1): the sum is (1, 2, 2)
        1.0,
    ),
    "Poisson rounds": (MinSeparated(PLAIN, 0.2), Repeat(Poisson(Gaussian(1.0), 0.2), 12), 0.5),
    "separated, always": (MinSeparated(toeplitz(1.0, (1.0,), 12, 4), 1.0), RandomAllocation(Gaussian(3**-0.5), 4), 1.0),
}


@pytest.mark.parametrize("name", few(SETTINGS, 4))
def test_estimates_hold_what_is_known(name):
    sampled, known, eps = SETTINGS[name]
    truth = delta(known, eps)
    found = estimate_delta(sampled, eps, draws=DRAWS, error=ERROR, seed=1)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.upper < 1.6 * found.lower
    assert not found.certified
    assert found.refutes(0.6 * truth.lower)
    assert not found.refutes(truth.upper)


def test_replaced_units_move_by_two():
    found = estimate_delta(BallsInBins(PLAIN, 1), 6.0, neighbouring="replace-one", draws=DRAWS, error=ERROR)
    truth = delta(Gaussian(12**-0.5), 6.0, "replace-one")
    assert found.lower <= truth.upper <= truth.lower + 1e-9 <= found.upper + 1e-9


def test_min_separated_banded_noise_by_all_patterns():
    """The likelihood ratio of five rounds, two bands, separation two, by the sum over all patterns."""
    noise, share = toeplitz(1.5, (1.0, 0.5), 5, 2), 0.3
    law = sampled_matrix.law_of(MinSeparated(noise, share))
    columns, rng = law.columns.toarray(), np.random.default_rng(3)
    points = rng.standard_normal((4, 5))
    ratio = np.zeros(4)
    for before, pattern in product((0, 1), product((0, 1), repeat=5)):
        chance, free = (share / (1 + share), False) if before else (1 / (1 + share), True)
        for taken in pattern:
            chance *= (share if taken else 1 - share) if free else (0.0 if taken else 1.0)
            free = not taken
        move = np.array(pattern) @ columns
        ratio += chance * np.exp(points @ move - 0.5 * move @ move)
    np.testing.assert_allclose(law.log_ratio(points @ columns.T, law.untilted), np.log(ratio), rtol=1e-12)


TILTS = [Tilt(1.0, 0.2), Tilt(1.7, 0.2), Tilt(1.0, 0.35), Tilt(0.8, 0.2, 2.0), Tilt(1.2, 0.3, 1.5)]


@pytest.mark.parametrize("tilt", few(TILTS, 8))
@pytest.mark.parametrize("name", SETTINGS)
def test_draws_of_every_tilt_have_the_same_mean(name, tilt):
    """Weights take back what the tilt does: of the whole law (mean 1), and of what delta is made of."""
    sampled, known, eps = SETTINGS[name]
    if name == "separated, always":
        tilt = Tilt(tilt.enlarged, 1.0, tilt.drift)
    drawn = sampled_matrix.draws(sampled, tilt, 10_000, np.random.default_rng(5), replaced=False)
    assert np.all((drawn.weights >= 0) & (drawn.weights <= sampled_matrix.LARGEST_WEIGHT))
    truth = delta(known, eps)
    for values, most, mean in ((drawn.weights, 2.0, 1.0), (drawn.gains(eps), 2.0, truth.lower)):
        assert mean_lower(values, ERROR) <= mean * (1 + 1e-4)
        assert mean <= mean_upper(values, most, ERROR)


@pytest.mark.parametrize("name", few(SETTINGS, 8))
def test_small_deltas_are_reached_by_tilted_draws(name):
    sampled, known, _ = SETTINGS[name]
    truth = epsilon(known, 1e-9)
    found = estimate_epsilon(sampled, 1e-9, draws=DRAWS, error=ERROR, seed=2)
    assert 0.97 * truth.lower <= found.lower <= truth.upper
    assert abs(found.epsilon / truth.upper - 1) < 0.02
    assert truth.lower <= found.upper
    assert estimate_delta(sampled, truth.lower * 0.97, draws=DRAWS, error=ERROR, seed=2).refutes(1e-9)


def test_weights_forgotten_are_caught(monkeypatch):
    """The plant: tilted draws counted as if they were untilted; the lower end is then above what is attained."""
    sampled, known, _ = SETTINGS["one pass"]
    truth = epsilon(known, 1e-9).upper
    monkeypatch.setattr(sampled_matrix.Draws, "gains", lambda self, at: np.maximum(-np.expm1(at - self.losses), 0.0))
    assert estimate_delta(sampled, truth, draws=DRAWS, error=ERROR).lower > 1e-6


def test_a_bin_that_is_known_is_caught(monkeypatch):
    """The plant: the loss of somebody who knows the bin; the estimate then exceeds what is attained."""

    def largest(self, along, tilt):
        return (tilt.enlarged * along - 0.5 * tilt.enlarged**2 * np.diag(self.gram)).max(axis=1)

    monkeypatch.setattr(sampled_matrix.Bins, "log_ratio", largest)
    monkeypatch.setattr(sampled_matrix.Bins, "directions", [])
    sampled, known, eps = SETTINGS["one pass"]
    assert estimate_delta(sampled, eps, draws=DRAWS, error=ERROR, seed=1).lower > delta(known, eps).upper


@pytest.mark.parametrize("share", [1e-3, 0.2])
def test_bounds_of_means_err_as_rarely_as_stated(share):
    """100 samples of draws from 0 to 2, error 1/20: more than 16 misses on a side have a probability below 1e-4."""
    rng, misses = np.random.default_rng(7), np.zeros(2, int)
    for _ in range(100):
        values = np.where(rng.random(300) < share, 2 * rng.random(300), 0.0)
        misses += (mean_lower(values, 0.05) > share, mean_upper(values, 2.0, 0.05) < share)
    assert np.all(misses <= 16), misses
    assert mean_lower(np.zeros(5), 0.05) == 0.0
    assert mean_upper(np.full(5, 2.0), 2.0, 0.05) == 2.0


@pytest.mark.parametrize("name", [name for name in SETTINGS if isinstance(SETTINGS[name][0], BallsInBins)])
def test_the_certified_interval_of_bins_holds_the_truth(name):
    sampled, known, _ = SETTINGS[name]
    found, truth = epsilon(sampled, 1e-5), epsilon(known, 1e-5)
    assert 0 < found.lower <= truth.upper
    assert truth.lower <= found.upper


def test_a_common_move_that_some_bin_lacks_is_caught(monkeypatch):
    """The plant: the mean move, which not every bin makes; the lower end is then above the truth."""
    sampled, known, _ = SETTINGS["one pass"]
    monkeypatch.setattr(BallsInBins, "squared_sensitivity", lambda self: (1.0, 1.0))
    assert epsilon(sampled, 1e-5).lower > epsilon(known, 1e-5).upper


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (lambda: MinSeparated(toeplitz(1.0, (1.0, 0.5), 4), 0.5), "min_separation"),
        (lambda: MinSeparated(MatrixFactorisation(1.0, ((1.0, 0.0), (0.5, 1.0))), 0.5), "min_separation"),
        (lambda: MinSeparated(PLAIN, 1.5), "sampling_rate"),
        (lambda: MinSeparated(Gaussian(1.0), 0.5), "noise"),
        (lambda: BallsInBins(PLAIN, 13), "bins"),
        (lambda: BallsInBins(toeplitz(1.0, (0.5, 1.0), 4, 2), 1), "coefficients"),
        (lambda: estimate_delta(BallsInBins(PLAIN, 3), 1.0, draws=0), "draws"),
        (lambda: estimate_delta(BallsInBins(PLAIN, 3), 1.0, error=0.0), "error"),
        (lambda: estimate_epsilon(BallsInBins(PLAIN, 3), 0.0), "delta"),
        (lambda: estimate_delta(PLAIN, 1.0), "run"),
    ],
)
def test_bad_input(made, field):
    with pytest.raises(InputError) as problem:
        made()
    assert problem.value.field == field


def test_any_encoder_has_bins():
    encoder = ((1.0, 0.0, 0.0), (0.5, 1.0, 0.0), (0.0, -0.25, 2.0))
    found = estimate_delta(BallsInBins(MatrixFactorisation(1.0, encoder), 1), 1.0, draws=DRAWS, error=ERROR)
    shift = float(np.linalg.norm(np.array(encoder).sum(axis=1)))
    truth = delta(Gaussian(1 / shift), 1.0)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper


def test_schedules_are_those_that_are_simulated():
    """Frequencies over 6,000 units: 5.5 standard deviations have a probability below 1e-7."""
    units, deviation = 6_000, 5.5 * 0.5 / 6_000**0.5
    cohorts = draw_min_separated(4, 0.25, 9, units, SeededTestSource(1))
    taken = np.zeros((units, 9), bool)
    for at, cohort in enumerate(cohorts):
        taken[cohort, at] = True
    assert np.all(np.abs(taken.mean(axis=0) - 1 / 7) < deviation)
    assert not any(np.any(taken[:, at] & taken[:, at + apart]) for at in range(5) for apart in (1, 2, 3))
    after = taken[taken[:, 0], 4].mean()
    assert abs(after - 0.25) < 5.5 * 0.5 / taken[:, 0].sum() ** 0.5
    simulated = sampled_matrix.law_of(MinSeparated(toeplitz(1.0, (1.0,), 9, 4), 0.25))
    pairs = simulated.taken(np.random.default_rng(2), units, 0.25)
    assert np.all(np.abs(pairs.T @ pairs / units - taken.T.astype(float) @ taken / units) < 2 * deviation)
    bins = draw_balls_in_bins(3, 7, units, SeededTestSource(2))
    assert bins[0] == bins[3] == bins[6]
    assert sorted(bins[0] + bins[1] + bins[2]) == list(range(units))
    assert all(abs(len(cohort) / units - 1 / 3) < deviation for cohort in bins)
