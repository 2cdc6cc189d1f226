"""Several mechanisms at once in the real pfl: what gives what, on the safe side, against pfl's own."""

from __future__ import annotations

import pytest

pytest.importorskip("pfl", reason="make nightly-hosts")
from pfl.privacy import JointPrivacyAccountant
from pfl.privacy.privacy_accountant import PLDPrivacyAccountant

from dpcert.accounting import delta, epsilon
from dpcert.adapters.pfl import CertifiedAccountant
from dpcert.adapters.pfl_joint import CertifiedJointAccountant
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, Repeat, Sequence

TWO = {
    "mechanisms": ["gaussian", "Laplace"],
    "num_compositions": [100, 5],
    "sampling_probability": [0.01, 0.1],
}


def run(gaussian, laplace):
    return Sequence((Repeat(Poisson(Gaussian(gaussian), 0.01), 100), Repeat(Poisson(Laplace(laplace), 0.1), 5)))


def joint(**given):
    return CertifiedJointAccountant(**{**TWO, "accountants": CertifiedAccountant, **given})


def test_noise_gives_the_total():
    ours = joint(noise_parameters=[0.8, 2.0], total_delta=1e-6)
    assert isinstance(ours, JointPrivacyAccountant)
    assert ours.total_epsilon == epsilon(run(0.8, 2.0), 1e-6).upper
    theirs = JointPrivacyAccountant(
        **TWO, accountants=PLDPrivacyAccountant, noise_parameters=[0.8, 2.0], total_delta=1e-6
    )
    assert ours.total_epsilon == pytest.approx(theirs.total_epsilon, rel=1e-2)
    again = joint(noise_parameters=[0.8, 2.0], total_epsilon=1.0)
    assert again.total_delta == delta(run(0.8, 2.0), 1.0).upper


def test_a_total_is_shared_out_as_pfl_does():
    settings = {"total_epsilon": 1.0, "total_delta": 1e-6, "budget_proportions": [0.75, 0.25]}
    ours = joint(**settings)
    assert ours.bracket().upper <= 1.0
    assert ours.bracket().lower > 0.99
    for noise, share, single in zip(ours.noise_parameters, (0.75, 0.25), (Gaussian, Laplace), strict=True):
        rate, rounds = (0.01, 100) if single is Gaussian else (0.1, 5)
        own = epsilon(Repeat(Poisson(single(noise), rate), rounds), share * 1e-6)
        assert own.upper == pytest.approx(share * ours.naive_epsilon, rel=1e-4)
    theirs = JointPrivacyAccountant(**TWO, accountants=PLDPrivacyAccountant, **settings)
    assert ours.noise_parameters == pytest.approx(theirs.noise_parameters, rel=2e-2)


def test_budgets_of_the_mechanisms_give_noise_and_total():
    ours = joint(mechanism_epsilons=[0.5, 0.5], mechanism_deltas=[5e-7, 5e-7], total_delta=1e-6)
    assert ours.total_epsilon < 1.0  # less than by basic composition
    for noise, single in zip(ours.noise_parameters, (0, 1), strict=True):
        both = [100.0, 100.0]
        both[single] = noise
        assert epsilon(run(*both).mechanisms[single], 5e-7).upper <= 0.5
    assert joint(**TWO | {"noise_parameters": ours.noise_parameters}, total_delta=1e-6).total_epsilon == (
        ours.total_epsilon
    )


def test_a_claim_is_checked_on_one_side():
    needed = epsilon(run(0.8, 2.0), 1e-6).upper
    joint(noise_parameters=[0.8, 2.0], total_epsilon=needed, total_delta=1e-6)
    joint(noise_parameters=[0.8, 2.0], total_epsilon=2 * needed, total_delta=1e-6)
    with pytest.raises(InputError, match="total_epsilon"):
        joint(noise_parameters=[0.8, 2.0], total_epsilon=needed * (1 - 1e-9), total_delta=1e-6)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"accountants": PLDPrivacyAccountant}, "accountants"),
        ({"mechanisms": ["gaussian", "uniform"]}, "mechanisms"),
        ({"num_compositions": [100]}, "mechanisms"),
        ({"num_compositions": 0}, "num_compositions"),
        ({"sampling_probability": [0.1, 1.1]}, "sampling_probability"),
        ({"noise_parameters": [0.8, 0.0]}, "noise_parameters"),
        ({"noise_parameters": [0.8]}, "noise_parameters"),
        ({"total_delta": 1.0}, "total_delta"),
        ({"total_delta": None}, "total_delta"),
        ({"budget_proportions": [0.9, 0.9]}, "budget_proportions"),
        ({"mechanism_epsilons": [0.5, 0.5]}, "mechanism_deltas"),
        ({"noise_scale": 2.0}, "noise_scale"),
        ({"neighbouring": "other"}, "neighbouring"),
    ],
)
def test_bad_input(wrong, field):
    with pytest.raises(InputError, match=field):
        joint(**{"noise_parameters": [0.8, 2.0], "total_delta": 1e-6, **wrong})
