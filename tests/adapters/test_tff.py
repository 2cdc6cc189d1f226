"""The TFF adapter in the real TensorFlow Federated: events from the states that its aggregators return."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("tensorflow_federated", reason="make nightly-hosts")
import numpy as np
import tensorflow_federated as tff
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SampledWithoutReplacementDpEvent

from dpcert.accounting import epsilon
from dpcert.adapters.dp_accounting import CertifiedAccountant
from dpcert.adapters.tff import event
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat

Factory = tff.aggregators.DifferentiallyPrivateFactory
UPDATES = [np.ones(4, np.float32)] * 4


def after_a_round(factory):
    process = factory.create(tff.TensorType(np.float32, [4]))
    start = process.initialize()
    return start, process.next(start, UPDATES).state


@pytest.fixture(scope="module")
def fixed():
    return after_a_round(Factory.gaussian_fixed(noise_multiplier=1.0, clients_per_round=4.0, clip=1.0))


def test_the_round_s_noise_and_the_stated_sampling(fixed):
    _, state = fixed
    assert event(state) == GaussianDpEvent(1.0)
    assert event(state, sampling_rate=0.01) == PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))
    assert event(state, population=400, cohort=4) == SampledWithoutReplacementDpEvent(400, 4, GaussianDpEvent(1.0))
    accountant = CertifiedAccountant()
    for _ in range(3):
        accountant.compose(event(state, sampling_rate=0.01))
    assert accountant.bracket(1e-5) == epsilon(Repeat(Poisson(Gaussian(1.0), 0.01), 3), 1e-5)


def test_the_state_before_the_first_round_is_refused(fixed):
    with pytest.raises(InputError, match="initial"):
        event(fixed[0])


def test_adaptive_clipping_is_one_release_with_the_stated_total_noise():
    """Its two Gaussians, on updates and on the number of clipped ones, are on one sample."""
    _, state = after_a_round(Factory.gaussian_adaptive(noise_multiplier=1.0, clients_per_round=100.0))
    joint = CertifiedAccountant().compose(event(state, sampling_rate=0.01)).get_epsilon(1e-5)
    assert joint == pytest.approx(epsilon(Poisson(Gaussian(1.0), 0.01), 1e-5).upper, rel=1e-5)


def test_inside_a_learning_process_s_state(fixed):
    assert event({"weights": [1.0], "aggregator": (fixed[1], ())}) == GaussianDpEvent(1.0)
    for state in ({}, [fixed[1], fixed[1]]):
        with pytest.raises(InputError, match="one private aggregation"):
            event(state)


@pytest.mark.parametrize(
    "sampling",
    [
        {"sampling_rate": 0.0},
        {"sampling_rate": math.nan},
        {"sampling_rate": 0.1, "cohort": 4},
        {"cohort": 4},
        {"population": 4},
        {"population": 3, "cohort": 4},
    ],
)
def test_sampling_out_of_range(fixed, sampling):
    with pytest.raises(InputError):
        event(fixed[1], **sampling)


def test_the_ledger_leaves_this_environment(fixed, tmp_path):
    first = CertifiedAccountant(store=tmp_path / "run.sqlite").compose(event(fixed[1], sampling_rate=0.01), 5)
    assert CertifiedAccountant(store=tmp_path / "run.sqlite").get_epsilon(1e-5) == first.get_epsilon(1e-5)


def test_no_noise_at_all_is_no_privacy():
    _, state = after_a_round(Factory.gaussian_fixed(noise_multiplier=0.0, clients_per_round=4.0, clip=1.0))
    assert CertifiedAccountant().compose(event(state)).get_epsilon(0.5) == math.inf
