"""The jax-privacy adapter in the real jax-privacy: its parameters, its events, its calibration."""

from __future__ import annotations

import pytest

pytest.importorskip("jax_privacy", reason="make nightly-hosts")
from dp_accounting import UnsupportedEventError
from dp_accounting.pld import PLDAccountant
from jax_privacy.accounting import (
    DpParams,
    DpsgdTrainingAccountant,
    PldAccountantConfig,
    SamplingMethod,
    calibrate_noise_multiplier,
    calibrate_num_updates,
)
from jax_privacy.experimental import accounting as events

from dpcert.accounting import epsilon
from dpcert.adapters.dp_accounting import CertifiedAccountant, NeighboringRelation
from dpcert.adapters.jax_privacy import CertifiedTrainingAccountant, training_run
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Poisson, Repeat, Sequence, TruncatedPoisson

POISSON = {"noise_multipliers": 1.0, "num_samples": 1000, "delta": 1e-5, "batch_size": 10}


def test_parameters_become_the_run():
    step = Poisson(Gaussian(1.0), 0.01)
    assert training_run(300, DpParams(**POISSON)) == Sequence((Repeat(step, 300),))
    ours = CertifiedTrainingAccountant().compute_epsilon(300, DpParams(**POISSON))
    theirs = DpsgdTrainingAccountant(PldAccountantConfig()).compute_epsilon(300, DpParams(**POISSON))
    assert ours == epsilon(Repeat(step, 300), 1e-5).upper
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_schedules():
    params = DpParams(
        **{**POISSON, "noise_multipliers": [(0, 1.0), (50, 2.0), (500, 3.0)]}, batch_size_scale_schedule={100: 2}
    )
    fine, coarse = Poisson(Gaussian(1.0), 0.01), Poisson(Gaussian(2.0), 0.01)
    double = Poisson(Gaussian(2.0), 0.02)
    assert training_run(300, params) == Sequence((Repeat(fine, 50), Repeat(coarse, 50), Repeat(double, 200)))
    ours = CertifiedTrainingAccountant().compute_epsilon(300, params)
    grid = PLDAccountant()
    for step, rounds in ((fine, 50), (coarse, 50), (double, 200)):
        grid.compose(step.event(), rounds)
    assert ours == pytest.approx(grid.get_epsilon(1e-5), rel=1e-3)
    # jax-privacy hands that grid a rate in single precision, an array of optax's schedule: 1.0102 for 0.7707.
    assert ours < 0.8 * DpsgdTrainingAccountant(PldAccountantConfig()).compute_epsilon(300, params)


def test_cyclic_sampling():
    params = DpParams(**POISSON, cycle_length=4)
    assert training_run(10, params) == Sequence((Repeat(Poisson(Gaussian(1.0), 10 / 250), 3),))


def test_batches_of_a_fixed_size_are_not_taken_for_poisson_s():
    params = DpParams(**{**POISSON, "noise_multipliers": 4.0, "batch_size": 300}, sampling_method=SamplingMethod(2))
    assert params.sampling_method is SamplingMethod.FIXED_BATCH_SIZE
    run = Repeat(FixedSize(Gaussian(4.0), 1000, 300), 100)
    bracket = CertifiedTrainingAccountant().bracket(100, params)
    assert bracket == epsilon(run, 1e-5, "replace-one")
    theirs = DpsgdTrainingAccountant(PldAccountantConfig()).compute_epsilon(100, params)
    assert theirs < bracket.lower < bracket.upper  # 7.925, which is too low: at least 7.935


def test_nothing_yet_and_no_guarantee():
    accountant = CertifiedTrainingAccountant()
    assert accountant.compute_epsilon(0, DpParams(**POISSON)) == 0
    assert accountant.compute_epsilon(1, DpParams(**POISSON, is_finite_guarantee=False)) == float("inf")
    assert accountant.compute_epsilon(1, DpParams(**{**POISSON, "noise_multipliers": 0.0})) == float("inf")


@pytest.mark.parametrize(
    "wrong", [{"truncated_batch_size": 20}, {"batch_size": 0}, {"batch_size": 1001}, {"noise_multipliers": -1.0}]
)
def test_what_has_no_bound_is_an_error(wrong):
    with pytest.raises(InputError):
        CertifiedTrainingAccountant().compute_epsilon(10, DpParams(**{**POISSON, **wrong}))
    with pytest.raises(ValueError, match="examples_per_user"):
        CertifiedTrainingAccountant().compute_epsilon(10, DpParams(**POISSON, examples_per_user=2))


def test_their_calibration_never_overshoots():
    settings = {"accountant": CertifiedTrainingAccountant(), "target_epsilon": 1.0, "target_delta": 1e-5}
    noise = calibrate_noise_multiplier(**settings, batch_sizes=10, num_updates=300, num_samples=1000)
    assert epsilon(Repeat(Poisson(Gaussian(noise), 0.01), 300), 1e-5).upper <= 1.0
    rounds = calibrate_num_updates(**settings, batch_sizes=10, noise_multipliers=1.0, num_samples=1000)
    assert epsilon(Repeat(Poisson(Gaussian(1.0), 0.01), rounds), 1e-5).upper <= 1.0


def test_their_events():
    add_remove, replace = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
    fixed = {"dataset_size": 100, "batch_size": 10}
    for event, relation, run in (
        (events.dpsgd_event(1.0, 30, sampling_prob=0.1), add_remove, Repeat(Poisson(Gaussian(1.0), 0.1), 30)),
        (events.fixed_dpsgd_event(4.0, 30, **fixed), replace, Repeat(FixedSize(Gaussian(4.0), 100, 10), 30)),
        (
            events.amplified_bandmf_event(1.0, 30, num_bands=4, sampling_prob=0.1),
            add_remove,
            Repeat(Poisson(Gaussian(1.0), 0.1), 8),
        ),
    ):
        neighbouring = "add-remove" if relation is add_remove else "replace-one"
        assert CertifiedAccountant(relation).compose(event).bracket(1e-5) == epsilon(run, 1e-5, neighbouring)
    truncated = events.truncated_dpsgd_event(1.0, 30, sampling_prob=0.1, num_examples=100, truncated_batch_size=20)
    cut = Repeat(TruncatedPoisson(Gaussian(1.0), 0.1, 100, 20), 30)
    assert CertifiedAccountant(add_remove).compose(truncated).bracket(1e-5) == epsilon(cut, 1e-5)
    with pytest.raises(UnsupportedEventError):
        CertifiedAccountant(replace).compose(events.fixed_dpsgd_event(4.0, 30, **fixed, replace=True))
