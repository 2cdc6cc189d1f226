"""What each form of DPFedMTL costs against whom: independent oracles, and the numbers of the claims register."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from cases import few

from dpcert.accounting import epsilon
from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE, ONE_OTHER_CLIENT, SERVER
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat
from dpcert.mechanisms.aggregation import FixedDenominatorMean
from dpcert.mechanisms.serialise import from_json, to_json
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.dpfedmtl import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlClipped, DpFedMtlLocalNoise
from dpcert.trainers.dpfedmtl.claimed import claimed_epsilon, claimed_mu
from dpcert.trainers.engine import privacy
from dpcert.trainers.engine.observers import against_observers
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.settings import Settings
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.stated_noise import calibrated_noise

pytestmark = pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")
torch.set_num_threads(1)
MEMBERS, COHORT, ROUNDS = 174, 3, 1000  # the paper's FEMNIST
FEDERATION = related_tasks(population=MEMBERS, features=3, classes=2, samples=2)


def trainer_of(algorithm, sigma, sampling="poisson", neighbouring="replace-one", rounds=ROUNDS):
    settings = Settings(
        rounds=rounds,
        cohort=COHORT,
        sampling=sampling,
        noise_multiplier=algorithm.noise_multiplier(sigma, COHORT, MEMBERS),
        clip_norm=1.0,
        seed=0,
    )
    return Trainer(FEDERATION, algorithm, "mlp", settings, PrivacyGoal(1e-5, neighbouring))


def costs(algorithm, sigma, sampling="poisson", neighbouring="replace-one", rounds=ROUNDS):
    trainer = trainer_of(algorithm, sigma, sampling, neighbouring, rounds)
    return {against.observer: against.epsilon for against in against_observers(trainer, rounds)}, trainer


def seen_delta(eps, mu, rate, rounds):
    """sum_k Bin(T, p)(k) delta_G(eps; mu sqrt k), 50 digits."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for k in range(1, rounds + 1):
            weight = mpmath.binomial(rounds, k) * mpmath.mpf(rate) ** k * (1 - mpmath.mpf(rate)) ** (rounds - k)
            if weight < mpmath.mpf(10) ** -30:
                continue
            m = mu * mpmath.sqrt(k)
            total += weight * (mpmath.ncdf(-eps / m + m / 2) - mpmath.exp(eps) * mpmath.ncdf(-eps / m - m / 2))
        return total


@pytest.mark.parametrize("sigma", [0.65, 9.69])
@pytest.mark.parametrize("variant", [DpFedMtlLocalNoise, DpFedMtlClipped])
def test_server_and_coalition_see_one_client_s_noise(variant, sigma):
    """mu of one participation: 1/sigma corrected, M/(K sigma) with the S of Lemma 4.1."""
    found, trainer = costs(variant(), sigma)
    mu = mpmath.mpf(1) / sigma * (1 if variant is DpFedMtlLocalNoise else mpmath.mpf(MEMBERS) / COHORT)
    for observer in ("server", "all-other-clients"):
        bracket = found[observer]
        assert bracket.certified
        assert seen_delta(bracket.lower * (1 - 1e-9), mu, COHORT / MEMBERS, ROUNDS) > 1e-5
        assert seen_delta(bracket.upper * (1 + 1e-9), mu, COHORT / MEMBERS, ROUNDS) < 1e-5
    assert trainer.cost.spent(ROUNDS) == found["all-other-clients"]
    assert found["one-other-client"].upper == found["server"].upper
    assert found["one-other-client"].lower == 0.0


ASKED = [(notion, told) for notion in ("dp", "billboard", "joint") for told in (None, "hidden", "visible")]


def underreported(run, truth):
    """How the run can be asked about such that the answer's upper end is below the certified lower end `truth`."""
    found = [
        (notion, told)
        for notion, told in ASKED
        if epsilon(run, 1e-5, "replace-one", notion=notion, participation=told).upper < truth
    ]
    for observer in (EVERYBODY_ELSE, ONE_OTHER_CLIENT):
        if observer_epsilon(run, observer, 1e-5, "replace-one", clients="stateless").epsilon.upper < truth:
            found.append((str(observer), None))
    return found


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
@pytest.mark.parametrize("variant", [DpFedMtlLocalNoise, DpFedMtlClipped])
def test_the_description_of_client_noise_cannot_be_priced_with_amplification(variant, sampling):
    """Under every notion and for every observer that a reader of the emitted description may name, and after JSON."""
    trainer = trainer_of(variant(), 9.69, sampling)
    emitted = from_json(to_json(trainer.mechanism()))
    found = epsilon(emitted, 1e-5, "replace-one")
    assert found == trainer.cost.spent(ROUNDS)
    mu = mpmath.mpf(1) / 9.69 * (1 if variant is DpFedMtlLocalNoise else mpmath.mpf(MEMBERS) / COHORT)
    assert seen_delta(found.lower * (1 - 1e-9), mu, COHORT / MEMBERS, ROUNDS) > 1e-5
    assert not underreported(emitted, found.lower)
    with pytest.raises(InputError, match="neighbouring"):
        epsilon(emitted, 1e-5, "add-remove")
    with pytest.raises(InputError, match="mechanism"):
        emitted.event()  # dp_accounting would amplify
    with pytest.raises(InputError, match="aggregation"):
        observer_epsilon(emitted, SERVER, 1e-5, "replace-one", aggregation=FixedDenominatorMean(1.0, 1.0, COHORT))


@pytest.mark.parametrize("sampling", few(["poisson", "fixed-size"], 4))
def test_planted_a_description_that_loses_the_participation(sampling, monkeypatch):
    truth = trainer_of(DpFedMtlLocalNoise(), 9.69, sampling).cost.spent(ROUNDS).lower
    monkeypatch.setattr(privacy, "one_round", lambda sampler, multiplier, _: sampler.describe(Gaussian(multiplier)))
    lost = underreported(trainer_of(DpFedMtlLocalNoise(), 9.69, sampling).mechanism(), truth)
    assert ("dp", None) in lost
    assert (("billboard", None) in lost) == (sampling == "poisson")


def test_the_numbers_of_the_claims_register():
    """Row DPFEDMTL-THREAT, FEMNIST: 696 against the server with S = 2CK/M at sigma = 9.69, 1.84 with S = 2C, and 61 and
    9.5 with S = 2C at .65 and 2.42; 118 for the average alone, its cohorts hidden and of a fixed size."""
    assert costs(DpFedMtlClipped(), 9.69)[0]["server"].upper == pytest.approx(696, rel=2e-3)
    for sigma, expected in ((0.65, 61), (2.42, 9.5), (9.69, 1.84)):
        assert costs(DpFedMtlLocalNoise(), sigma)[0]["server"].upper == pytest.approx(expected, rel=6e-3)
    fixed, _ = costs(DpFedMtlClipped(), 9.69, "fixed-size")
    assert fixed["one-other-client"].lower < 118 < fixed["one-other-client"].upper


def test_a_server_s_noise_hides_nothing_from_the_server_and_keeps_the_coin_secret():
    found, trainer = costs(DpFedMtl(), 2.42)
    assert found["server"].lower == math.inf
    local, _ = costs(DpFedMtlLocalNoise(), 2.42)
    assert found["all-other-clients"].upper < local["all-other-clients"].lower
    assert trainer.mechanism() == Repeat(Poisson(Gaussian(2 * 2.42), COHORT / MEMBERS), ROUNDS)
    fixed, _ = costs(DpFedMtl(), 2.42, "fixed-size")
    # A fixed-size cohort is known to the coalition: as costly as the server's view of local noise.
    assert fixed["all-other-clients"].upper == pytest.approx(local["server"].upper, rel=1e-6)


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_as_printed_costs_infinitely_much(sampling):
    found, trainer = costs(DpFedMtlAsPrinted(), 9.69, sampling, rounds=2)
    assert {bracket.lower for bracket in found.values()} == {math.inf}
    assert trainer.mechanism() is None
    assert trainer.cost.spent(1).lower == math.inf


def test_the_printed_cost_is_far_below_the_honest_one():
    """Every sigma of Table 3: what Theorem 4.1 claims by its limit, against the clipped form's certified lower end."""
    for sigma in (0.65, 2.42, 9.69):
        claimed = claimed_epsilon(sigma, COHORT / MEMBERS, ROUNDS, 1e-5)
        assert claimed < 10
        assert costs(DpFedMtlClipped(), sigma)[0]["server"].lower > 100 * claimed


def test_claimed_mu():
    assert claimed_mu(1.0, 0.1, 100) == pytest.approx(math.sqrt(math.e - 1), rel=1e-12)
    assert claimed_epsilon(0.0, 1.0, 100, 1e-5) is None
    assert claimed_epsilon(0.01, 1.0, 100, 1e-5) == math.inf


@pytest.mark.parametrize("variant", [DpFedMtl, DpFedMtlLocalNoise])
@pytest.mark.parametrize("sampling", ["poisson", "fixed-size"])
def test_calibrated_noise_meets_the_target_and_no_less_does(variant, sampling):
    settings = Settings(rounds=ROUNDS, cohort=COHORT, sampling=sampling, clip_norm=1.0, seed=0)
    goal = PrivacyGoal(1e-5)
    found = calibrated_noise(variant(), settings, MEMBERS, goal, 4.0)

    def cost(multiplier):
        told = Settings(
            rounds=ROUNDS, cohort=COHORT, sampling=sampling, clip_norm=1.0, seed=0, noise_multiplier=multiplier
        )
        return Trainer(FEDERATION, variant(), "mlp", told, goal).cost.spent(ROUNDS)

    assert cost(found.value).upper <= 4.0
    assert cost(found.value * (1 - 1e-6)).lower > 4.0


def test_refusals():
    settings = Settings(rounds=5, cohort=COHORT, clip_norm=1.0, seed=0)
    cases = [
        (lambda: calibrated_noise(DpFedMtlAsPrinted(), settings, MEMBERS, PrivacyGoal(), 4.0), "target_epsilon"),
        (lambda: calibrated_noise(DpFedMtl(), settings, MEMBERS, PrivacyGoal(), -1.0), "target_epsilon"),
        (lambda: calibrated_noise(DpFedMtl(), Settings(cohort=3), MEMBERS, PrivacyGoal(), 4.0), "clip_norm"),
        (lambda: costs(DpFedMtlLocalNoise(), 1.0, neighbouring="add-remove"), "neighbouring"),
        (lambda: Trainer(FEDERATION, DpFedMtlAsPrinted(), "mlp", settings, PrivacyGoal(budget=1.0)), "budget"),
    ]
    for build, field in cases:
        with pytest.raises(InputError) as caught:
            build()
        assert caught.value.field == field


def test_rounds_without_aggregation_cost_nothing():
    every, _ = costs(DpFedMtlLocalNoise(), 2.42, rounds=250)
    settings = Settings(rounds=ROUNDS, cohort=COHORT, noise_multiplier=2 * 2.42, clip_norm=1.0, seed=0)
    trainer = Trainer(FEDERATION, DpFedMtlLocalNoise(aggregation_interval=4), "mlp", settings, PrivacyGoal(1e-5))
    assert trainer.mechanism().rounds == 250
    releases = sum(trainer.algorithm.releases_in(t) for t in np.arange(ROUNDS))
    assert trainer.cost.spent(int(releases)) == every["server"]
