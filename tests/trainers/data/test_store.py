"""Federations on disk: the same runs, from which every process reads its own clients alone."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import sparse

from dpcert.mechanisms import InputError
from dpcert.trainers.data.store import StoredClients, load_store, save_store
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine.processes import Processes
from dpcert.trainers.federated import Client, Federation, Pmtl, Samples, Settings, Trainer, load_federation

torch.set_num_threads(1)


def federation():
    return related_tasks(population=11, features=4, classes=3, samples=9, seed=3)


def bags():
    rng = np.random.default_rng(0)
    clients = []
    for place in range(5):
        matrix = sparse.csr_matrix((rng.random((6 + place, 30)) < 0.1).astype(np.float32))
        own = Samples(matrix, rng.integers(0, 2, (6 + place, 4)).astype(np.float32))
        clients.append(Client(f"{place}", own.take(np.arange(2, 6 + place)), own.take(np.arange(2))))
    return Federation("bags", tuple(clients), "tags", 4)


def build(data, **changed):
    settings = {"rounds": 3, "cohort": 4, "noise_multiplier": 1.0, "clip_norm": 0.5, "seed": 2, "shards": 4}
    return Trainer(data, Pmtl(0.5), "logistic", Settings(**(settings | changed)))


def dense(features):
    return features.toarray() if sparse.issparse(features) else features


@pytest.mark.parametrize("make", [federation, bags])
def test_a_store_is_the_federation_it_was_made_from(tmp_path, make):
    plain = make()
    save_store(plain, tmp_path / "store")
    stored = load_federation(f"store:{tmp_path / 'store'}")
    assert stored.fingerprint() == plain.fingerprint()
    assert (stored.population, stored.shape, stored.task, stored.outputs) == (
        plain.population,
        plain.shape,
        plain.task,
        plain.outputs,
    )
    assert stored.train_sizes().tolist() == plain.train_sizes().tolist()
    for own, other in zip(stored.clients, plain.clients, strict=True):
        assert own.name == other.name
        for part in ("train", "test"):
            left, right = getattr(own, part), getattr(other, part)
            assert np.array_equal(dense(left.features), dense(right.features))
            assert np.array_equal(left.labels, right.labels)
    runs = [build(plain), build(stored)]
    for trainer in runs:
        trainer.run()
    assert torch.equal(runs[0].shared, runs[1].shared)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_process_reads_its_own_clients_alone(tmp_path, monkeypatch, rank):
    """Rank 0 to 2 of 3; client 0 besides, whose shape the model is checked against."""
    save_store(federation(), tmp_path / "store")
    read = set()
    original = StoredClients.__getitem__

    def watched(self, place):
        read.add(place)
        return original(self, place)

    monkeypatch.setattr(StoredClients, "__getitem__", watched)
    monkeypatch.setattr(Processes, "owns", lambda self, shard: shard % 3 == rank)
    build(load_store(tmp_path / "store"), sampling="full", shards=3).run()
    assert read == {client for client in range(11) if client % 3 == rank} | {0}


@pytest.mark.parametrize("damage", ["index", "short", "missing", "truncated"])
def test_damaged_stores_are_refused(tmp_path, damage):
    folder = tmp_path / "store"
    save_store(federation(), folder)
    if damage == "index":
        (folder / "index.json").write_text("{")
    elif damage == "short":
        np.save(folder / "features.npy", np.load(folder / "features.npy")[:-1])
    elif damage == "missing":
        (folder / "labels.npy").unlink()
    else:
        content = (folder / "features.npy").read_bytes()
        (folder / "features.npy").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="store"):
        load_store(folder)


def test_a_store_is_never_written_over(tmp_path):
    save_store(federation(), tmp_path / "store")
    with pytest.raises(InputError, match="empty folder"):
        save_store(federation(), tmp_path / "store")


def test_command(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "dpcert.trainers.data"]
    source = "synthetic:related,population=9"
    subprocess.run([*command, source, str(tmp_path / "store")], check=True)
    assert len(json.loads((tmp_path / "store" / "index.json").read_text())["clients"]) == 9
    refused = subprocess.run(
        [*command, "leaf:nowhere", str(tmp_path / "x")], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "nowhere" in refused.stderr
