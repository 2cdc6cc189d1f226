"""Both trainers on small data, with a billboard that remembers across restarts what was shown: what privacy saw."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from dpcert.trainers.data.synthetic import related_tasks as federation
from dpcert.trainers.engine.billboard import Billboard
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.settings import LocalSteps, Settings
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import Pmtl
from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.methods import Setting
from dpcert.trainers.mocha.omegas import mean_regularised
from dpcert.trainers.mocha.private import PrivateRounds
from dpcert.trainers.mocha.private_run import PrivateRun
from dpcert.trainers.mocha.tasks import related_tasks

ROUNDS = 6
GOAL = PrivacyGoal(delta=1e-3)

Run = Trainer | PrivateRun


@dataclass
class Shown(Billboard):
    """Every release that was ever published, by any process of the run: (sum without noise, noise)."""

    seen: list[tuple[bytes, bytes]] = field(default_factory=list)

    def publish(self, pre_noise: Tensor, noise: Tensor, sensitivity: float) -> Tensor:
        if sensitivity:  # the initial state depends on nobody's data
            self.seen.append((pre_noise.numpy().tobytes(), noise.numpy().tobytes()))
        return pre_noise + noise

    @property
    def different(self) -> int:
        """How many releases there were, a repeated one once: what has to be paid for."""
        return len(set(self.seen))

    @property
    def reuses_noise(self) -> bool:
        """Whether one noise is on two sums, whose difference is then public."""
        return len({noise for _, noise in self.seen}) < self.different


def federated(folder: Path | None, board: Shown, rounds: int = ROUNDS, goal: PrivacyGoal = GOAL) -> Trainer:
    settings = Settings(
        rounds=rounds, cohort=4, noise_multiplier=1.0, clip_norm=0.5, seed=5, local=LocalSteps(batch_size=2)
    )
    data = federation(population=6, features=3, classes=2, samples=4, seed=0)
    return Trainer(data, Pmtl(0.5), "logistic", settings, goal, checkpoint=folder, billboard=board)


def mocha(folder: Path | None, board: Shown, rounds: int = ROUNDS, goal: PrivacyGoal = GOAL) -> PrivateRun:
    tasks, _ = related_tasks(4, 3, 6, np.eye(4), np.random.default_rng(1))
    setting = Setting(tasks, LOSSES["hinge"], mean_regularised(4, 0.1), 0.1)
    return PrivateRun(PrivateRounds(setting, 0.05, 1.0), "t", goal, seed=7, checkpoint=folder, billboard=board)


TRAINERS: dict[str, Callable[..., Run]] = {"federated": federated, "mocha": mocha}


def finish(run: Run, rounds: int = ROUNDS) -> Any:
    """Train to the end; what comes back says what was spent."""
    return run.run() if isinstance(run, Trainer) else run.solve(rounds)


def course(run: Run) -> tuple[int, bytes, int]:
    """Where the run is, to the bit."""
    state = run.shared.numpy() if isinstance(run, Trainer) else run.state.weights
    return run.rounds, state.tobytes(), run.spent


@contextmanager
def another_device(patch: pytest.MonkeyPatch) -> Any:
    """Sums come out a little different."""
    originals = {kind: kind.compute for kind in (Trainer, PrivateRun)}
    with patch.context() as within:
        for kind, original in originals.items():

            def rounded(self: Any, attempt: int, original: Any = original) -> Any:
                release = original(self, attempt)
                return replace(release, pre_noise=release.pre_noise + 2.0**-20)

            within.setattr(kind, "compute", rounded)
        yield


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to
