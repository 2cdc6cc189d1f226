"""A trainer states its cost under the package's default relation for the algorithm's notion."""

from __future__ import annotations

import os

import pytest
import torch

from dpcert.accounting import epsilon
from dpcert.mechanisms import default_relation
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.settings import LocalSteps, Settings
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import DpFedAvg, Pmtl

torch.set_num_threads(1)


def trainer(algorithm, checkpoint=None):
    federation = related_tasks(population=6, features=2, classes=2, samples=4, seed=0)
    told = Settings(
        rounds=2,
        cohort=3,
        noise_multiplier=2.0,
        clip_norm=0.5,
        seed=1,
        sampling="poisson",
        local=LocalSteps(batch_size=2),
    )
    return Trainer(federation, algorithm, "logistic", told, PrivacyGoal(delta=1e-3), checkpoint=checkpoint)


@pytest.mark.parametrize("algorithm", [DpFedAvg(), Pmtl(0.5)], ids=["dp", "billboard"])
def test_the_cost_is_under_the_default(algorithm) -> None:
    cost = trainer(algorithm).cost
    assert cost.relation == default_relation(algorithm.notion)
    run = cost.mechanism(2)
    assert run is not None
    assert cost.spent(2) == epsilon(run, 1e-3, notion=algorithm.notion)


def test_a_checkpoint_where_folders_cannot_be_opened(tmp_path, monkeypatch) -> None:
    """Windows: os.open of a folder raises PermissionError. Files are still forced to disk."""
    opened, synced = os.open, []

    def windows(path, flags, *more, **named):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", windows)
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), fsync(handle)))
    trainer(Pmtl(0.5), tmp_path / "run").run()
    assert synced
    assert trainer(Pmtl(0.5), tmp_path / "run").rounds == 2
