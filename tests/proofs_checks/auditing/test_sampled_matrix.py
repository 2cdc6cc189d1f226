"""Simulated deltas of sampled correlated noise: right where a closed form exists, refuting, never proving.

Each estimate errs with probability 1e-6 on a side; all draws are seeded.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpcert.accounting import delta
from dpcert.mechanisms import (
    Gaussian,
    InputError,
    MatrixFactorisation,
    Poisson,
    RandomAllocation,
    Repeat,
    ToeplitzFactorisation,
    draw_balls_in_bins,
    draw_min_separated,
)
from dpcert.mechanisms.randomness import SeededTestSource
from dpcert.proofs_checks.auditing import sampled_matrix
from dpcert.proofs_checks.auditing.sampled_matrix import BallsInBins, MinSeparated, estimate_delta

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


@pytest.mark.parametrize("name", SETTINGS)
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
    law = sampled_matrix._law(MinSeparated(noise, share))
    columns, rng = law.columns, np.random.default_rng(3)
    points = rng.standard_normal((4, 5))
    ratio = np.zeros(4)
    for before, pattern in product((0, 1), product((0, 1), repeat=5)):
        chance, free = (share / (1 + share), False) if before else (1 / (1 + share), True)
        for taken in pattern:
            chance *= (share if taken else 1 - share) if free else (0.0 if taken else 1.0)
            free = not taken
        move = np.array(pattern) @ columns
        ratio += chance * np.exp(points @ move - 0.5 * move @ move)
    np.testing.assert_allclose(law._log_ratio(points @ columns.T), np.log(ratio), rtol=1e-12)


def test_a_bin_that_is_known_is_caught(monkeypatch):
    """The plant: the loss of somebody who knows the bin; the estimate then exceeds what is attained."""
    monkeypatch.setattr(sampled_matrix._Bins, "_log_mean", lambda self, y: (y - 0.5 * np.diag(self.gram)).max(axis=1))
    sampled, known, eps = SETTINGS["one pass"]
    assert estimate_delta(sampled, eps, draws=DRAWS, error=ERROR, seed=1).lower > delta(known, eps).upper


@pytest.mark.parametrize(
    ("run", "asked", "field"),
    [
        (MinSeparated(toeplitz(1.0, (1.0, 0.5), 4), 0.5), {}, "min_separation"),
        (MinSeparated(PLAIN, 1.5), {}, "sampling_rate"),
        (BallsInBins(PLAIN, 13), {}, "bins"),
        (BallsInBins(PLAIN, 3), {"draws": 0}, "draws"),
        (BallsInBins(PLAIN, 3), {"error": 0.0}, "error"),
    ],
)
def test_bad_input(run, asked, field):
    with pytest.raises(InputError) as problem:
        estimate_delta(run, 1.0, **asked)
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
    simulated = sampled_matrix._law(MinSeparated(toeplitz(1.0, (1.0,), 9, 4), 0.25))
    pairs = simulated._drawn(np.random.default_rng(2), units)
    assert np.all(np.abs(pairs.T @ pairs / units - taken.T.astype(float) @ taken / units) < 2 * deviation)
    bins = draw_balls_in_bins(3, 7, units, SeededTestSource(2))
    assert bins[0] == bins[3] == bins[6]
    assert sorted(bins[0] + bins[1] + bins[2]) == list(range(units))
    assert all(abs(len(cohort) / units - 1 / 3) < deviation for cohort in bins)
