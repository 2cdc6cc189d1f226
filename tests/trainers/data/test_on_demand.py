"""A federation whose clients are made when asked for: who is made, what is kept, and how much memory that is."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch

from dpcert.mechanisms import InputError
from dpcert.trainers.data import Samples
from dpcert.trainers.data.on_demand import MadeClients, related_tasks_on_demand
from dpcert.trainers.engine import client_tensors
from dpcert.trainers.engine.client_tensors import Kept, to_tensors
from dpcert.trainers.federated import DpFedAvg, Pmtl, Settings, Trainer, load_federation

torch.set_num_threads(1)
MILLION = 1_000_000
BUDGET = 48 * 2**20


def trained(algorithm=None, population=MILLION, **changed):
    """Without noise, whose accounting takes longer than all of this."""
    federation = load_federation(f"synthetic:on-demand,population={population}")
    settings = {"rounds": 2, "cohort": 20, "clip_norm": 0.5, "seed": 2, "evaluate_clients": 5}
    trainer = Trainer(federation, algorithm or Pmtl(0.5), "logistic", Settings(**(settings | changed)))
    trainer.run()
    return trainer


def tensors(size):
    """So many samples of 100 features."""
    samples = Samples(np.zeros((size, 100), dtype=np.float32), np.zeros(size, dtype=np.int64))
    return to_tensors(samples, "classes", torch.float32, torch.device("cpu"))


@pytest.fixture
def made(monkeypatch):
    """Which clients were made, each as often as it was."""
    asked, original = [], MadeClients.__getitem__

    def watched(self, place):
        if isinstance(place, int):
            asked.append(place)
        return original(self, place)

    monkeypatch.setattr(MadeClients, "__getitem__", watched)
    return asked


def same(one, other):
    return all(
        np.array_equal(getattr(getattr(one, part), name), getattr(getattr(other, part), name))
        for part in ("train", "test")
        for name in ("features", "labels")
    )


def test_a_client_depends_on_the_seed_and_its_place_alone():
    few, many = (related_tasks_on_demand(population=size, seed=3).clients for size in (9, MILLION))
    backwards = [many[place] for place in reversed(range(9))][::-1]
    assert all(same(one, other) for one, other in zip(few, backwards, strict=True))
    assert not same(few[0], few[1])
    assert not same(few[0], related_tasks_on_demand(seed=4).clients[0])
    assert [client.name for client in many[999_998:]] == ["0999998", "0999999"]
    with pytest.raises(IndexError):
        few[9]


def test_tasks_are_related_as_those_made_at_once():
    """With spread 0 all clients' labels are one linear rule's; with a large one another client's rule is a guess."""

    def agreement(spread):
        first, second = related_tasks_on_demand(features=4, classes=3, samples=2000, spread=spread).clients[:2]
        x = first.train.features
        rules = [
            np.linalg.lstsq(each.train.features, np.eye(3)[each.train.labels], rcond=None)[0]
            for each in (first, second)
        ]
        answers = [np.argmax(x @ rule, axis=1) for rule in rules]
        return np.mean(answers[0] == answers[1])

    assert agreement(0.0) > 0.95
    assert agreement(100.0) < 0.6


def test_the_parts_and_the_fingerprint():
    federation = related_tasks_on_demand(samples=10, test_fraction=0.3)
    client = federation.clients[MILLION - 1]
    assert (len(client.train), len(client.test)) == (7, 3)
    assert (federation.population, federation.shape) == (MILLION, (20,))
    assert set(federation.train_sizes().tolist()) == {7}
    assert federation.fingerprint() == related_tasks_on_demand(samples=10, test_fraction=0.3).fingerprint()
    others = [{"population": 9}, {"seed": 1}, {"spread": 0.3}, {"samples": 11}, {"classes": 4}]
    told = {
        related_tasks_on_demand(**({"samples": 10, "test_fraction": 0.3} | other)).fingerprint() for other in others
    }
    assert len(told | {federation.fingerprint()}) == len(others) + 1


@pytest.mark.parametrize(
    "wrong", [{"population": 1}, {"classes": 1}, {"spread": -1.0}, {"test_fraction": 1.0}, {"seed": -1}, {"samples": 1}]
)
def test_bad_options_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(InputError, match=name):
        related_tasks_on_demand(**wrong)


def test_a_run_makes_the_clients_that_it_uses_each_once(made):
    """Beside them the first five, on which the learning rate is tried."""
    trainer = trained()
    took_part = set(np.flatnonzero(trainer.personal.written).tolist())
    assert set(made) <= took_part | set(trainer.evaluated.clients.tolist()) | set(range(5))
    assert 20 < len(took_part) + 10 < 80
    # An evaluated client is made twice: its parts are asked for one by one, and each is kept alone.
    assert len(made) <= len(took_part) + 2 * 5 + 5 + 1


def peak(run):
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_million_clients_fit_into_a_small_budget():
    """Clients made beforehand, as `synthetic:related` has them, overrun it long before they are a million."""
    trained(DpFedAvg(), population=1000)  # whatever is loaded on the way
    assert peak(lambda: trained(DpFedAvg())) < BUDGET
    assert peak(lambda: list(related_tasks_on_demand(population=3_000, samples=200).clients)) > BUDGET


def test_clients_that_were_used_go_when_there_are_too_many():
    limited, own = Kept(0), tensors(2)
    for client in range(3):
        assert limited.get((client, False), lambda: own) is own
        assert len(limited) == 1
    assert limited.held == client_tensors.cost(own)


def test_the_ones_used_last_stay():
    parts = [tensors(size) for size in (10, 20, 30, 40)]
    few = Kept(sum(map(client_tensors.cost, parts[:3])))
    made = []
    for place in (0, 1, 2, 0, 3, 0, 2, 1):
        assert few.get((place, False), lambda at=place: made.append(at) or parts[at]) is parts[place]
        assert few.held <= few.limit
    assert made == [0, 1, 2, 3, 2, 1]


@pytest.mark.parametrize("solver", ["loop", "dual"])
def test_what_is_dropped_changes_no_bit(solver):
    plain = trained(population=30, solver=solver)
    federation = load_federation("synthetic:on-demand,population=30")
    forgetful = Trainer(federation, Pmtl(0.5), "logistic", plain.settings)
    forgetful.local.kept.limit = 0
    forgetful.run()
    assert torch.equal(plain.shared, forgetful.shared)
    assert plain.history == forgetful.history
