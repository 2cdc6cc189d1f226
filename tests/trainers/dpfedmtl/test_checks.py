"""DPFedMTL's trainers under the same checks as all others: replay, the norm bound, the noise, and planted bugs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import few
from scipy import stats

from dpcert.proofs_checks.billboard.replay import check_billboard
from dpcert.trainers.data import Client, Federation, Samples
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.dpfedmtl import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlClipped, DpFedMtlLocalNoise
from dpcert.trainers.engine import noise as noise_module
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.federated import LocalSteps, ReplayableTrainer, Settings, Trainer

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")
POPULATION = 6
FEDERATION = related_tasks(population=POPULATION, features=4, classes=3, samples=8, seed=2)
VARIANTS = (DpFedMtl, DpFedMtlLocalNoise, DpFedMtlClipped, DpFedMtlAsPrinted)
BOUNDED = VARIANTS[:3]
SETTINGS = Settings(
    rounds=4,
    cohort=4,
    noise_multiplier=1.0,
    clip_norm=0.3,
    local=LocalSteps(learning_rate=0.3, batch_size=2),
    solver="loop",
    shards=POPULATION,
)


def altered(client):
    """Other samples, many more of them, all of one class."""
    rng = np.random.default_rng(9)
    features = 20 * rng.standard_normal((31, 4)).astype(np.float32)
    return Client(client.name, Samples(features, np.full(31, 2)), client.test)


def replayed(algorithm, sampling="poisson"):
    clients = list(FEDERATION.clients)
    trainer = ReplayableTrainer(FEDERATION, algorithm, replace(SETTINGS, sampling=sampling), "mlp")
    return check_billboard(trainer, clients, 2, altered(clients[2]), seed=4)


# Replay


@pytest.mark.parametrize("variant", few(BOUNDED, 8))
@pytest.mark.parametrize("sampling", ["poisson", "fixed-size", "full"])
@pytest.mark.parametrize("label_sets", ["all", "own"])
def test_billboard_holds(variant, sampling, label_sets):
    report = replayed(lambda: variant(label_sets=label_sets), sampling)
    assert report.holds, report.leaks
    assert report.compared > POPULATION
    assert 0 < report.largest_move <= 1


@pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")
def test_as_printed_moves_its_releases_further_than_lemma_4_1_supposes():
    """Nothing leaks past the billboard; what is on it moves by more than 2C, for want of clipping."""
    report = replayed(DpFedMtlAsPrinted, "full")
    assert not report.holds
    assert {leak.kind for leak in report.leaks} == {"sensitivity"}
    assert report.largest_move > 5


def test_rounds_without_aggregation_publish_nothing():
    report = replayed(lambda: DpFedMtl(aggregation_interval=3))
    assert report.holds, report.leaks


class SharedHead(DpFedMtl):
    """Planted: the head of the client served last is everybody's."""

    def models(self, shared, own, clients):
        found = super().models(shared, own, clients)
        if hasattr(self, "last"):
            found[:, self.shared_size :] += 1e-6 * self.last
        return found

    def client_round(self, solve, shared, own, clients):
        gradient, head = super().client_round(solve, shared, own, clients)
        self.last = head[-1]
        return gradient, head


class NoiseByData(DpFedMtlLocalNoise):
    """Planted: the number of the cohort's members scales with somebody's data."""

    def aggregate(self, shared, total, expected, members, rate):
        return super().aggregate(shared, total, expected, members, rate) + 1e-6 * float(self.first_norm)

    def client_round(self, solve, shared, own, clients):
        gradient, head = super().client_round(solve, shared, own, clients)
        if 2 in clients.tolist():
            self.first_norm = gradient.norm()
        return gradient, head


@pytest.mark.parametrize("bug", [SharedHead, NoiseByData])
def test_planted_leaks_are_caught(bug):
    report = replayed(bug, "full")
    assert {leak.kind for leak in report.leaks} & {"message", "output"}


# The norm bound and the noise, on the path that training takes


def hostile(scale):
    """Features so large that gradients are huge, infinite or NaN; or zero."""
    features = np.full((3, 4), scale, dtype=np.float32)
    return Samples(features, np.array([0, 1, 2]))


def messages(variant, scale, clip_norm=0.3):
    plain = FEDERATION.clients[0].train
    clients = tuple(Client(str(place), hostile(scale) if place == 1 else plain, plain) for place in range(POPULATION))
    federation = Federation("hostile", clients, "classes", 3)
    board = RecordingBillboard()
    told = replace(SETTINGS, sampling="full", clip_norm=clip_norm, seed=3, rounds=3)
    trainer = Trainer(federation, variant(), "mlp", told, billboard=board)
    trainer.run()
    return trainer, board


@pytest.mark.parametrize("variant", BOUNDED)
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1.0, 1e8, 1e20, 3e38])
def test_no_client_sends_more_than_the_clip_norm(variant, scale):
    trainer, board = messages(variant, scale)
    for (_, client), message in board.messages.items():
        # Multiples of a power of two: the squares add up without rounding at these sizes.
        assert math.fsum(float(value) ** 2 for value in message) <= 0.3**2
        assert np.isfinite(message).all()
        if client == 1 and scale == 3e38:
            assert not message.any()  # overflows: counts as zero
    for release in board.billboard:
        assert np.isfinite(release).all()
    assert np.isfinite(trainer.shared.numpy()).all()


def test_as_printed_sends_whatever_comes():
    """The planted twin of the bound, which is the paper's own listing."""
    _, board = messages(DpFedMtlAsPrinted, 1e4)
    assert max(np.linalg.norm(message) for message in board.messages.values()) > 30 * 0.3


def noise_ratio(variant, sigma, monkeypatch=None):
    """(sum of squares of the noise / what sigma says, degrees of freedom), over the rounds of a run."""
    algorithm, population, cohort, clip_norm = variant(), 20, 4, 0.7
    federation = related_tasks(population=population, features=4, classes=3, samples=8, seed=2)
    told = Settings(
        rounds=10,
        cohort=cohort,
        sampling="fixed-size",
        noise_multiplier=algorithm.noise_multiplier(sigma, cohort, population),
        clip_norm=clip_norm,
        seed=11,
    )
    board = RecordingBillboard()
    Trainer(federation, algorithm, "mlp", told, billboard=board).run()
    per_client = sigma * 2 * clip_norm * (cohort / population if variant in (DpFedMtlClipped, DpFedMtlAsPrinted) else 1)
    noisy = 1 if variant is DpFedMtl else cohort
    noise = np.concatenate([each.ravel() for each in board.noise[1:]])
    return float((noise**2).sum() / (noisy * per_client**2)), noise.size


def plausible(total, freedom):
    """Two-sided chi-square test at level 1e-9."""
    return min(stats.chi2.cdf(total, freedom), stats.chi2.sf(total, freedom)) > 5e-10


@pytest.mark.parametrize("variant", VARIANTS)
def test_noise_is_what_sigma_says(variant):
    assert plausible(*noise_ratio(variant, 0.65))


@pytest.mark.parametrize("variant", [DpFedMtl, DpFedMtlLocalNoise])
def test_noise_that_is_ten_percent_off_is_noticed(variant, monkeypatch):
    honest = noise_module.grid_noise
    monkeypatch.setattr(
        noise_module, "grid_noise", lambda rng, shape, deviation, *rest: honest(rng, shape, 0.9 * deviation, *rest)
    )
    assert not plausible(*noise_ratio(variant, 0.65))


def test_every_client_draws_its_own_noise_afresh():
    """The noise on the sum of a cohort is the sum of what each of its members would have added alone."""
    from dpcert.trainers.engine.noise import HostNoise
    from dpcert.trainers.engine.streams import Streams

    def noise(clients, attempt=0, round_index=3):
        source = HostNoise(Streams(5), torch.device("cpu"))
        return source.of_clients(attempt, round_index, clients, 200, 0.4, 2.0**-30).numpy()

    np.testing.assert_array_equal(noise([2, 7, 9]), noise([9]) + noise([2]) + noise([7]))
    draws = np.concatenate([noise([1]), noise([2]), noise([1], round_index=4), noise([1], attempt=1)])
    # 200 pairs: independent draws correlate by less than .45 with probability 1 - 1e-10.
    assert np.abs(np.corrcoef(draws) - np.eye(4)).max() < 0.45
