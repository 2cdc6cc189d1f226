"""Sensitivities of aggregators: never exceeded by random neighbours, attained by the worst ones."""

import math

import numpy as np
import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.mechanisms import InputError
from dpcert.mechanisms.aggregation import (
    FixedDenominatorMean,
    PerClientNoise,
    SampleCountMean,
    SecureAggregation,
    UniformMean,
)

CLIP = 0.2


def clipped(vector, clip=CLIP):
    return vector * min(1.0, clip / max(np.linalg.norm(vector), 1e-300))


def weighted_mean(updates, counts, cohort):
    total = sum(counts[k] for k in cohort)
    return sum(counts[k] * clipped(updates[k]) for k in cohort) / total


def test_uniform_mean_in_the_units_of_the_claims():
    # FEMNIST panel of PMTL Figure 2: z = sigma q / gamma = .01 * 100 / .2 (the claims register, PMTL-FIG2).
    mean = UniformMean(clip_norm=0.2, noise_std=0.01, cohort=100)
    assert mean.clients_noise_multiplier() == pytest.approx(5.0)
    assert mean.sensitivity("zero-out") == pytest.approx(0.002)
    assert mean.sensitivity("replace-one") == pytest.approx(0.004)  # 2 clip / q, not clip / q
    assert mean.server_noise_multiplier() == 0.0


def test_poisson_divides_by_a_constant():
    mean = FixedDenominatorMean(clip_norm=0.2, noise_std=0.01, expected_cohort=100)
    assert mean.sensitivity("add-remove") == mean.sensitivity("zero-out") == pytest.approx(0.002)
    assert mean.sensitivity("replace-one") == pytest.approx(0.004)


@settings(max_examples=many(60), deadline=None)
@given(
    counts=st.lists(st.integers(1, 60), min_size=3, max_size=8),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_no_neighbours_move_a_weighted_mean_further(counts, seed, scale):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, len(counts) + 1))
    aggregation = SampleCountMean(CLIP, 0.01, tuple(counts), size)
    cohort = rng.choice(len(counts), size, replace=False)
    updates = scale * CLIP * rng.normal(size=(len(counts), 2))
    i = int(cohort[0])
    before = weighted_mean(updates, counts, cohort)
    replaced, recounted = updates.copy(), list(counts)
    replaced[i] = scale * CLIP * rng.normal(size=2)
    recounted[i] = int(rng.integers(1, max(counts) + 1))  # a client's own count is its data too
    moved = np.linalg.norm(weighted_mean(replaced, recounted, cohort) - before)
    assert moved <= aggregation.sensitivity("replace-one") * (1 + 1e-12)
    zeroed = updates.copy()
    zeroed[i] = 0.0
    assert np.linalg.norm(weighted_mean(zeroed, counts, cohort) - before) <= aggregation.sensitivity("zero-out") + 1e-15


def test_the_weighted_bound_is_attained_by_the_heaviest_beside_the_lightest():
    counts = (3, 50, 7, 4, 20)
    aggregation = SampleCountMean(CLIP, 0.01, counts, 3)
    assert aggregation.largest_weight == pytest.approx(50 / 57)
    updates = np.zeros((5, 1))
    updates[1] = CLIP
    opposite = -updates
    cohort = [1, 0, 3]
    moved = weighted_mean(updates, counts, cohort) - weighted_mean(opposite, counts, cohort)
    assert float(moved[0]) == pytest.approx(aggregation.sensitivity("replace-one"))
    # The unweighted bound 2 clip / q would have been exceeded (DESIGN, trap 3).
    assert float(moved[0]) > 2 * CLIP / 3


def test_per_client_noise_depends_on_who_looks():
    # DPFedMTL, FEMNIST: each of q clients adds its own noise (the claims register, DPFEDMTL-L4.2 and -THREAT).
    aggregation = PerClientNoise(clip_norm=1.0, noise_std=0.5, cohort=16)
    assert aggregation.server_noise_multiplier() == 0.5
    assert aggregation.clients_noise_multiplier() == pytest.approx(2.0)
    assert aggregation.clients_noise_multiplier(colluders=7) == pytest.approx(1.5)
    # Everybody else subtracts what they know: only the client's own noise is left.
    assert aggregation.clients_noise_multiplier(colluders=15) == 0.5
    assert aggregation.clients_noise_multiplier(colluders=1000) == 0.5


def test_colluders_do_subtract_their_noise():
    rng = np.random.default_rng(3)
    aggregation = PerClientNoise(clip_norm=1.0, noise_std=0.5, cohort=16)
    noise = rng.normal(0, 0.5, (20_000, 16))
    left = noise.sum(axis=1) - noise[:, :7].sum(axis=1)
    # Standard error of a standard deviation at 20,000 draws: .5%; five of them.
    assert left.std() == pytest.approx(aggregation.clients_noise_multiplier(7), rel=0.025)


def test_secure_aggregation_shares():
    aggregation = SecureAggregation(clip_norm=1.0, noise_std=0.25, cohort=16, dropouts=4)
    assert aggregation.server_noise_multiplier() == pytest.approx(0.25 * math.sqrt(16 * 12))
    assert aggregation.clients_noise_multiplier(15) == pytest.approx(0.25 * 4)
    whole = SecureAggregation(clip_norm=1.0, noise_std=0.25, cohort=16)
    assert whole.clients_noise_multiplier() == pytest.approx(UniformMean(1.0, 0.25, 16).clients_noise_multiplier())


@pytest.mark.parametrize("aggregation", [UniformMean(1.0, 0.1, 4), SampleCountMean(1.0, 0.1, (1, 2, 3), 2)])
def test_add_remove_has_no_meaning_where_the_denominator_changes(aggregation):
    with pytest.raises(InputError, match="divides by the cohort"):
        aggregation.sensitivity("add-remove")


def test_one_client_moves_a_median_however_many_there_are():
    # Nine clients on either side: one client moves the median by 2 clip, however many clients there are.
    others = np.array([-CLIP] * 9 + [CLIP] * 9)
    assert np.median([*others, CLIP]) - np.median([*others, -CLIP]) == pytest.approx(2 * CLIP)


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: UniformMean(0.0, 0.1, 4), "clip_norm"),
        (lambda: UniformMean(1.0, float("nan"), 4), "noise_std"),
        (lambda: UniformMean(1.0, 0.1, 0), "cohort"),
        (lambda: FixedDenominatorMean(1.0, 0.1, -3), "expected_cohort"),
        (lambda: SampleCountMean(1.0, 0.1, (3, 0), 1), "counts"),
        (lambda: SampleCountMean(1.0, 0.1, (3, 4), 3), "cohort"),
        (lambda: PerClientNoise(1.0, 0.1, 4).clients_noise_multiplier(-1), "colluders"),
        (lambda: SecureAggregation(1.0, 0.1, 4, dropouts=4), "dropouts"),
    ],
)
def test_bad_input(build, field):
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field
