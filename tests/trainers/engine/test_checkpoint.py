"""Killed at any moment, a run resumes to the bit and never under-counts what it released."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from dpcert.mechanisms import InputError
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine.checkpoint import RECORD, Checkpoint
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.processes import Processes
from dpcert.trainers.engine.settings import AdaptiveClip, LocalSteps, Settings
from dpcert.trainers.engine.spent import Spent, SpentRecord
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import DpFedAvg, Pmtl, PmtlAsPrinted

torch.set_num_threads(1)
POPULATION = 8


def build(folder=None, rounds=6, algorithm=None, seed=5, data_seed=0, goal=PrivacyGoal(delta=1e-3), **changed):  # noqa: B008
    federation = related_tasks(population=POPULATION, features=3, classes=3, samples=6, seed=data_seed)
    base = {"rounds": rounds, "cohort": 4, "noise_multiplier": 1.0, "clip_norm": 0.5, "evaluate_every": 2}
    told = Settings(**(base | {"seed": seed, "local": LocalSteps(batch_size=2), "clipping": "adaptive"} | changed))
    told = Settings(**({n: getattr(told, n) for n in told.__slots__} | {"adaptive": AdaptiveClip(count_noise=3.0)}))
    return Trainer(federation, algorithm or Pmtl(0.5), "logistic", told, goal, checkpoint=folder)


def state(trainer):
    models = [trainer.client_model(client).numpy().tobytes() for client in range(POPULATION)]
    return trainer.rounds, trainer.shared.numpy().tobytes(), models, trainer.clip_norm, trainer.spent


def test_checkpointed_run_is_the_plain_run(tmp_path):
    plain, saved = build(), build(tmp_path / "run")
    outcome, same = plain.run(), saved.run()
    assert state(plain) == state(saved)
    assert outcome.history == same.history
    assert outcome.privacy == same.privacy


@pytest.mark.parametrize("stops", [(1,), (3,), (1, 2, 3, 4, 5)])
def test_stopped_and_resumed_is_the_plain_run(tmp_path, stops):
    plain = build()
    plain.run()
    for rounds in stops:
        build(tmp_path / "run", rounds=rounds).run()
    resumed = build(tmp_path / "run")
    assert resumed.rounds == stops[-1]
    resumed.run()
    assert state(plain) == state(resumed)


CHILD = """
import sys, torch
sys.path.insert(0, sys.argv[1])
torch.set_num_threads(1)
from test_checkpoint import build
from dpcert.trainers.engine.checkpoint import RECORD, Checkpoint
commit = Checkpoint.commit
def told(*arguments):
    print("committing", flush=True)
    commit(*arguments)
    print("committed", flush=True)
Checkpoint.commit = told
build(sys.argv[2], rounds=int(sys.argv[3])).run()
"""


def killed_run(folder, rounds, moment):
    """Killed about when it has said `moment` times that it begins or ends a commit."""
    here = os.path.dirname(__file__)
    command = [sys.executable, "-c", CHILD, here, str(folder), str(rounds)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        for _ in range(moment):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()


def survives_kills(folder, rounds, moments):
    plain = build(rounds=rounds)
    plain.run()
    reached = []
    for moment in moments:
        killed_run(folder, rounds, moment)
        if (folder / "run.json").exists():
            check = build(folder, rounds=rounds)
            assert check.spent >= check.rounds
            assert check.spent <= check.rounds + 1
            reached.append(check.rounds)
    assert reached == sorted(reached)
    resumed = build(folder, rounds=rounds)
    resumed.run()
    assert state(plain) == state(resumed)
    return reached


def test_kill_9(tmp_path):
    reached = survives_kills(tmp_path / "run", 200, (5,))
    assert 2 <= reached[0] < 200


@pytest.mark.nightly
def test_kill_9_many_times(tmp_path):
    rng = np.random.default_rng(0)
    reached = survives_kills(tmp_path / "run", 2000, rng.integers(1, 120, 30).tolist())
    assert len(set(reached)) > 5


def rewritten(folder, entries):
    """Another record of what was spent, in the place of the folder's."""
    for file in folder.glob(f"{RECORD}*"):
        file.unlink()
    SpentRecord.at(folder / RECORD, Processes()).extend(entries)


def test_changed_arithmetic_is_charged_twice(tmp_path, monkeypatch):
    """A round that was spent but not committed, and comes out different when repeated, gets fresh noise and a second
    charge: the same noise on two sums would reveal their difference."""
    trainer = build(tmp_path / "run")

    def crash(self, *arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            trainer.run()
    rewritten(tmp_path / "run", [Spent(0, 0, "0" * 64)])
    resumed = build(tmp_path / "run")
    outcome = resumed.run()
    assert (outcome.rounds, outcome.spent) == (6, 7)
    entries = SpentRecord.at(tmp_path / "run" / RECORD, Processes()).entries
    assert [(entry.round, entry.attempt) for entry in entries[:3]] == [(0, 0), (0, 1), (1, 0)]
    plain = build()
    plain.run()
    assert plain.shared.numpy().tobytes() != resumed.shared.numpy().tobytes()
    assert outcome.privacy is not None
    assert outcome.privacy.upper > build().cost.spent(6).upper


def test_budget_holds_over_resumes(tmp_path):
    goal = PrivacyGoal(delta=1e-3, budget=build().cost.spent(4).upper)
    for _ in range(3):
        outcome = build(tmp_path / "run", goal=goal).run()
        assert (outcome.spent, outcome.stopped_by_budget) == (4, True)


def test_secret_seed_survives(tmp_path):
    first = build(tmp_path / "run", rounds=2, seed=None)
    first.run()
    second = build(tmp_path / "run", rounds=2, seed=None)
    assert second.streams.seed == first.streams.seed > 2**64
    assert (tmp_path / "run").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"algorithm": DpFedAvg()},
        {"algorithm": Pmtl(0.6)},
        {"algorithm": PmtlAsPrinted(0.5)},
        {"seed": 6},
        {"data_seed": 1},
        {"noise_multiplier": 2.0},
        {"cohort": 5},
        {"local": LocalSteps(batch_size=3)},
    ],
)
def test_checkpoint_of_another_run_is_refused(tmp_path, changed):
    build(tmp_path / "run", rounds=1).run()
    with pytest.raises(InputError, match="another one"):
        build(tmp_path / "run", **changed)


def test_unreadable_checkpoints(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="an empty folder"):
        build(tmp_path / "full")
    folder = tmp_path / "run"
    build(folder, rounds=2).run()
    state_file = next(folder.glob("state-*.npz"))
    content = state_file.read_bytes()
    state_file.write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match="a readable file"):
        build(folder)
    state_file.write_bytes(content)
    record = (folder / RECORD).read_bytes()
    (folder / RECORD).write_bytes(record[: len(record) // 2])
    with pytest.raises(InputError, match="a whole record of what was spent"):
        build(folder)
    (folder / RECORD).write_bytes(record)
    (folder / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"run\.json"):
        build(folder)
