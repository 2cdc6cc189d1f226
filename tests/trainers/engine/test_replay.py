"""Every algorithm keeps to its billboard: replayed with one client's data changed, the others' bits stay."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import few

from dpcert.proofs_checks.billboard.replay import RunRecord, TrainerProtocol, check_billboard
from dpcert.trainers.data import Client, Samples
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine.settings import AdaptiveClip
from dpcert.trainers.federated import (
    ClusteredPmtl,
    Ditto,
    DpFedAvg,
    DpFedProx,
    FixedOmega,
    LocalOnly,
    LocalSteps,
    NaiveJoint,
    Pmtl,
    PmtlAsPrinted,
    PmtlIncrements,
    PpSgd,
    ReplayableTrainer,
    Settings,
)

torch.set_num_threads(1)
POPULATION = 6
FEDERATION = related_tasks(population=POPULATION, features=4, classes=3, samples=8, seed=2)
ALGORITHMS = {
    "pmtl": lambda: Pmtl(0.5),
    "as-printed": lambda: PmtlAsPrinted(0.5),
    "increments": lambda: PmtlIncrements(0.5),
    "dp-fedavg": DpFedAvg,
    "dp-fedprox": lambda: DpFedProx(0.5),
    "local": LocalOnly,
    "ditto": lambda: Ditto(0.5),
    "clustered": lambda: ClusteredPmtl([0, 1, 0, 1, 0, 1], 0.5),
    "fixed-omega": lambda: FixedOmega(np.eye(POPULATION) - 1 / POPULATION, 0.5),
    "pp-sgd": PpSgd,
    "naive-joint": lambda: NaiveJoint(0.5),
}
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


@pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")
@pytest.mark.parametrize("name", few(ALGORITHMS, 8))
@pytest.mark.parametrize("sampling", ["poisson", "full"])
def test_billboard_holds(name, sampling):
    settings = Settings(**({n: getattr(SETTINGS, n) for n in SETTINGS.__slots__} | {"sampling": sampling}))
    trainer = ReplayableTrainer(FEDERATION, ALGORITHMS[name], settings)
    clients = list(FEDERATION.clients)
    report = check_billboard(trainer, clients, 2, altered(clients[2]), seed=4)
    assert report.holds, report.leaks
    if name != "local":
        assert report.compared > POPULATION
        assert 0 < report.largest_move <= 1


@pytest.mark.parametrize("clipping", ["per-layer", "adaptive"])
def test_billboard_holds_with_every_clipping(clipping):
    changed = {"clipping": clipping, "adaptive": AdaptiveClip(count_noise=2.0), "sampling": "full"}
    settings = Settings(**({n: getattr(SETTINGS, n) for n in SETTINGS.__slots__} | changed))
    clients = list(FEDERATION.clients)
    trainer = ReplayableTrainer(FEDERATION, ALGORITHMS["pmtl"], settings)
    report = check_billboard(trainer, clients, 2, altered(clients[2]))
    assert report.holds, report.leaks


def test_the_protocol_is_met():
    trainer = ReplayableTrainer(FEDERATION, DpFedAvg, SETTINGS)
    assert isinstance(trainer, TrainerProtocol)
    assert isinstance(trainer.run(FEDERATION.clients, 0), RunRecord)


class LeakyStart(Pmtl):
    """Initial models in the wake of the data: everybody's first anchor would be the mean of the raw data."""

    def client_round(self, solve, shared, own, clients):
        contribution, after = super().client_round(solve, shared, own, clients)
        LeakyStart.last = after.mean(dim=0)
        return contribution, after

    def models(self, shared, own, clients):
        return own + 1e-6 * LeakyStart.last


class Unclipped(DpFedAvg):
    """Adds the first client's update to the shared model behind the engine's back."""

    def client_round(self, solve, shared, own, clients):
        contributions, after = super().client_round(solve, shared, own, clients)
        kept = [contribution.clone() for contribution in contributions]
        self.smuggled = kept[0].double()
        return kept, after

    def server_round(self, shared, mean, rate):
        return shared + mean + self.smuggled


@pytest.mark.parametrize("bug", [LeakyStart, Unclipped])
def test_planted_leaks_are_caught(bug):
    settings = Settings(**({n: getattr(SETTINGS, n) for n in SETTINGS.__slots__} | {"sampling": "full", "shards": 1}))
    clients = list(FEDERATION.clients)
    report = check_billboard(ReplayableTrainer(FEDERATION, bug, settings), clients, 0, altered(clients[0]))
    assert not report.holds
