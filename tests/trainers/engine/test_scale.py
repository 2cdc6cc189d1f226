"""Many personal models: in memory where they fit, in a file where not, and never more than they need."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from scipy import sparse

from dpcert.trainers.data import Samples
from dpcert.trainers.engine import personal
from dpcert.trainers.engine.client_tensors import to_tensors
from dpcert.trainers.engine.personal import PersonalModels
from dpcert.trainers.solvers.features import features_of, gram_of


def test_vectors_start_as_the_initial_one_and_keep_what_is_set(tmp_path):
    initial = torch.arange(5, dtype=torch.float32)
    for file in (None, tmp_path / "rows.bin"):
        models = PersonalModels(4, initial, file)
        clients = np.array([1, 3])
        models.stage(clients, np.full((2, 5), 7.0, dtype=np.float32))
        assert models.get(np.array([0, 1])).tolist() == [initial.tolist(), [7.0] * 5]
        assert not models.written.any()
        models.apply()
        assert models.get(np.array([3, 2])).tolist() == [[7.0] * 5, initial.tolist()]
        assert models.written.tolist() == [False, True, False, True]
    again = PersonalModels(4, initial, tmp_path / "rows.bin")
    again.written[[1, 3]] = True
    assert again.get(clients).tolist() == [[7.0] * 5] * 2


def test_large_stores_are_files(monkeypatch):
    monkeypatch.setattr(personal, "LARGEST_IN_MEMORY", 100)
    models = PersonalModels(10, torch.zeros(50))
    models.stage(np.array([9]), np.ones((1, 50), dtype=np.float32))
    models.apply()
    assert isinstance(models._rows, np.memmap)
    assert models.get(np.array([9])).sum() == 50


def test_a_client_of_stackoverflow_size_takes_at_most_half_a_megabyte():
    """10,000 words of which it uses 1,100, 500 tags, 100 samples: what is kept of it, and its coefficients."""
    rng = np.random.default_rng(0)
    words = np.sort(np.argsort(rng.random((100, 1200)), axis=1)[:, :25], axis=1)
    matrix = sparse.csr_matrix(
        (np.full(2500, 0.04, dtype=np.float32), words.ravel(), np.arange(0, 2501, 25)), shape=(100, 10_000)
    )
    tags = rng.integers(0, 2, (100, 500)).astype(np.float32)
    client = to_tensors(Samples(matrix, tags), "tags", torch.float32, torch.device("cpu"))
    features = features_of(client, bias=True)
    own = client.features
    arrays = [own.data, own.indices, own.indptr, features.rows, gram_of(client), client.targets[0]]
    arrays += [features.by_word.columns, features.by_word.begins, features.by_word.weights]
    coefficients = 100 * 500 * 4
    assert own is client.features
    assert features.samples.columns.data_ptr() == own.indices.__array_interface__["data"][0]
    assert sum(array.nbytes for array in arrays) + coefficients <= 500_000


THOUSAND = """
import resource
import numpy as np, torch
torch.set_num_threads(1)
from dpcert.trainers.federated import Client, Federation, LocalSteps, Pmtl, Samples, Settings, Trainer
rng = np.random.default_rng(0)
samples = [Samples(rng.random((2, 784), dtype=np.float32), rng.integers(0, 62, 2)) for _ in range(1000)]
clients = tuple(Client(str(k), own, own) for k, own in enumerate(samples))
settings = Settings(rounds=2, sampling="full", clip_norm=0.5, noise_multiplier=1.0, seed=1, local=LocalSteps(steps=1))
trainer = Trainer(Federation("many", clients, "classes", 62), Pmtl(), "cnn", settings)
while trainer.rounds < 2:
    trainer._round()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.nightly
def test_thousand_personal_networks_stay_within_two_gibibytes():
    done = subprocess.run([sys.executable, "-c", THOUSAND], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < 2 * 2**30
