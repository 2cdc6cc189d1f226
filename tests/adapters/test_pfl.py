"""The pfl-research adapter in the real pfl: two of three give the third, on the safe side, and reach the mechanism."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("pfl", reason="make nightly-hosts")
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.privacy_accountant import PLDPrivacyAccountant, PrivacyAccountant

from dpcert.accounting import delta, epsilon
from dpcert.adapters.pfl import CertifiedAccountant
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, Repeat

RUN = {"num_compositions": 100, "sampling_probability": 0.01, "mechanism": "gaussian"}


def run(noise: float):
    return Repeat(Poisson(Gaussian(noise), 0.01), 100)


def test_noise_and_delta_give_epsilon():
    ours = CertifiedAccountant(**RUN, delta=1e-6, noise_parameter=0.8)
    assert isinstance(ours, PrivacyAccountant)
    assert ours.epsilon == epsilon(run(0.8), 1e-6).upper
    theirs = PLDPrivacyAccountant(**RUN, delta=1e-6, noise_parameter=0.8)
    assert ours.epsilon == pytest.approx(theirs.epsilon, rel=1e-3)


def test_noise_and_epsilon_give_delta():
    assert CertifiedAccountant(**RUN, epsilon=1.0, noise_parameter=0.8).delta == delta(run(0.8), 1.0).upper


def test_calibrated_noise_meets_the_target():
    """pfl's own search stops within a relative 1e-3 of delta, on either side."""
    ours = CertifiedAccountant(**RUN, epsilon=1.0, delta=1e-6)
    assert epsilon(run(ours.noise_parameter), 1e-6).upper <= 1.0
    assert epsilon(run(ours.noise_parameter * (1 - 1e-6)), 1e-6).lower > 1.0


def test_the_noise_reaches_the_mechanism():
    accountant = CertifiedAccountant(**RUN, epsilon=1.0, delta=1e-6, noise_scale=0.5)
    assert accountant.cohort_noise_parameter == 0.5 * accountant.noise_parameter
    mechanism = GaussianMechanism.from_privacy_accountant(accountant, clipping_bound=2.0)
    assert mechanism.relative_noise_stddev == accountant.cohort_noise_parameter
    assert mechanism.privacy_accountant is accountant


def test_laplace_and_replacement():
    ours = CertifiedAccountant(10, 0.5, "Laplace", delta=1e-6, noise_parameter=3.0, neighbouring="replace-one")
    assert ours.epsilon == epsilon(Repeat(Poisson(Laplace(3.0), 0.5), 10), 1e-6, "replace-one").upper


def test_pure_dp_is_exact_for_laplace_noise_and_no_epsilon_serves_for_gaussian():
    pure = {"num_compositions": 10, "sampling_probability": 1.0, "mechanism": "laplace", "delta": 0.0}
    assert CertifiedAccountant(**pure, noise_parameter=20.0).epsilon == 0.5
    assert CertifiedAccountant(**pure, epsilon=0.5).noise_parameter == 20.0
    assert CertifiedAccountant(**pure, epsilon=0.5, noise_parameter=20.0).delta == 0.0
    assert CertifiedAccountant(**RUN, delta=0.0, noise_parameter=0.8).epsilon == math.inf


def test_a_claim_is_checked_on_one_side():
    needed = epsilon(run(0.8), 1e-6).upper
    CertifiedAccountant(**RUN, epsilon=needed, delta=1e-6, noise_parameter=0.8)
    CertifiedAccountant(**RUN, epsilon=2 * needed, delta=1e-6, noise_parameter=0.8)
    with pytest.raises(InputError, match="epsilon"):
        CertifiedAccountant(**RUN, epsilon=needed * (1 - 1e-9), delta=1e-6, noise_parameter=0.8)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": None},
        {"noise_parameter": 0.0},
        {"noise_parameter": math.inf},
        {"delta": 1.0},
        {"sampling_probability": 0.0},
        {"sampling_probability": 1.1},
        {"num_compositions": 0},
        {"mechanism": "uniform"},
        {"neighbouring": "other"},
        {"noise_parameter": None, "epsilon": 1.0, "max_bound_noise_parameter": 0.1},
    ],
)
def test_bad_input(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        CertifiedAccountant(**{**RUN, "delta": 1e-6, "noise_parameter": 0.8, **wrong})
