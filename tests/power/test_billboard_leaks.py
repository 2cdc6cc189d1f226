"""The replay check can fail: trainers that leak past their billboard are caught, each in the way expected."""

from dataclasses import dataclass

import numpy as np
import pytest

from dpcert.proofs_checks.billboard.example_trainers import (
    GlobalNormalisation,
    PersonalMeans,
    SharedOptimiserState,
)
from dpcert.proofs_checks.billboard.replay import check_billboard


@pytest.fixture
def clients():
    rng = np.random.default_rng(5)
    return [rng.normal(k % 3, 1.0, (int(rng.integers(2, 9)), 3)) for k in range(8)]


ALTERED = np.full((4, 3), 50.0)


@dataclass(frozen=True, slots=True)
class DataDependentCohort(PersonalMeans):
    """Leaks: the cohort is the clients whose models are farthest from their data ("active" client selection)."""

    def _cohort(self, clients, models, seed, t):
        losses = [
            float(np.linalg.norm(np.asarray(data).mean(axis=0) - model))
            for data, model in zip(clients, models, strict=True)
        ]
        return sorted(int(k) for k in np.argsort(losses)[-self.cohort :])


def kinds(report):
    assert not report.holds
    return {leak.kind for leak in report.leaks}


@pytest.mark.parametrize("randomised", [False, True])
@pytest.mark.parametrize(
    ("leaking", "through"),
    [
        (SharedOptimiserState, {"message", "output"}),
        (DataDependentCohort, {"cohort"}),
        (GlobalNormalisation, {"message", "output"}),
    ],
)
def test_leaking_trainers_are_caught(clients, leaking, through, randomised):
    trainer = leaking(randomised_clients=randomised, cohort=4)
    assert through <= kinds(check_billboard(trainer, clients, 1, ALTERED))


def test_every_other_client_is_named(clients):
    report = check_billboard(GlobalNormalisation(cohort=8), clients, 1, ALTERED)
    assert {leak.client for leak in report.leaks if leak.kind == "output"} == set(range(8)) - {1}
    assert {(leak.round, leak.client) for leak in report.leaks if leak.kind == "message"} >= {(0, 0), (5, 7)}


def test_a_small_leak_is_still_a_leak(clients):
    barely = clients[1].copy()
    barely[0, 0] = np.nextafter(barely[0, 0], 10.0)
    for _ in range(12):
        barely[0, 0] += 1e-12
    assert not check_billboard(GlobalNormalisation(cohort=8), clients, 1, barely).holds
    assert check_billboard(PersonalMeans(cohort=8), clients, 1, barely).holds


def test_understated_sensitivity(clients):
    class Halved(PersonalMeans):  # clip / q instead of 2 clip / q: the zero-out bound under replace-one neighbours
        def _publish(self, record, billboard, value, noise, sensitivity):
            return PersonalMeans._publish(self, record, billboard, value, noise, sensitivity / 2)

    apart = [np.full((1, 3), 100.0), *clients[1:]]
    report = check_billboard(Halved(rounds=1, cohort=8), apart, 0, np.full((1, 3), -100.0))
    assert kinds(report) == {"sensitivity"}
    assert report.largest_move == pytest.approx(2.0)


def test_unclipped_updates(clients):
    class Unclipped(PersonalMeans):
        def _clipped(self, step):
            return step

    assert "sensitivity" in kinds(check_billboard(Unclipped(cohort=8), clients, 0, ALTERED))


def test_data_dependent_first_broadcast(clients):
    class WarmStart(PersonalMeans):  # the mean of the clients' own starting points, published without noise
        def _publish(self, record, billboard, value, noise, sensitivity):
            if not record.billboard:
                value = value + self.centre
            return PersonalMeans._publish(self, record, billboard, value, noise, sensitivity)

        def run(self, clients, seed, billboard=None):
            WarmStart.centre = np.mean([np.mean(data, axis=0) for data in clients], axis=0)
            return PersonalMeans.run(self, clients, seed, billboard)

    report = check_billboard(WarmStart(cohort=8), clients, 0, ALTERED)
    assert {(leak.kind, leak.round) for leak in report.leaks} == {("sensitivity", 0)}


def test_noise_that_depends_on_the_data(clients):
    class Scaled(PersonalMeans):
        def _publish(self, record, billboard, value, noise, sensitivity):
            scale = 1.0 + float(np.linalg.norm(value))
            return PersonalMeans._publish(self, record, billboard, value, noise * scale, sensitivity)

    assert "noise" in kinds(check_billboard(Scaled(cohort=8), clients, 0, ALTERED))
