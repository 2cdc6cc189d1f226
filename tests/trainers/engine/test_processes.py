"""Clients shared by several processes: bitwise the same models for 1, 2 and 3 of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch

from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine import processes
from dpcert.trainers.engine.settings import AdaptiveClip
from dpcert.trainers.federated import DpFedAvg, FineTuning, LocalSteps, Pmtl, Settings, Trainer, fine_tune

torch.set_num_threads(1)
POPULATION = 17


def build(model, clipping="adaptive", folder=None, rounds=4):
    federation = related_tasks(population=POPULATION, features=5, classes=3, samples=10, seed=1)
    settings = Settings(
        rounds=rounds,
        cohort=9,
        noise_multiplier=0.7,
        clip_norm=0.4,
        clipping=clipping,
        adaptive=AdaptiveClip(count_noise=2.0),
        local=LocalSteps(learning_rate=0.3, batch_size=3),
        seed=8,
        shards=12,
    )
    return Trainer(federation, Pmtl(0.5), model, settings, checkpoint=folder)


def results(trainer):
    """The shared model, and the personal models of the clients that this process is home to."""
    home = [k for k in range(POPULATION) if trainer.processes.owns(k % 12)]
    return {
        "shared": trainer.shared.numpy().tobytes().hex(),
        "clip_norm": trainer.clip_norm,
        "models": {str(k): trainer.client_model(k).numpy().tobytes().hex() for k in home},
        "accuracy": trainer.history[-1]["test_accuracy"],
        "tuned": fine_tune(trainer, FineTuning()).loss.tolist(),
    }


MEMBER = """
import json, os, sys
sys.path.insert(0, {here!r})
import torch
from torch import distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(sys.argv[2]), world_size=int(sys.argv[3]))
from test_processes import build, results
found = {{}}
for model in ("logistic", "mlp"):
    trainer = build(model, folder=sys.argv[4] + model if sys.argv[4] else None)
    trainer.run()
    found[model] = results(trainer)
print(json.dumps(found))
dist.destroy_process_group()
"""


def run_members(tmp_path, number, folder=""):
    code = MEMBER.format(here=os.path.dirname(__file__))
    members = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / f"store{number}"), str(rank), str(number), folder],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(number)
    ]
    outputs = [member.communicate(timeout=300)[0] for member in members]
    assert all(member.returncode == 0 for member in members)
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def compare(found, number):
    for model in ("logistic", "mlp"):
        alone = build(model)
        alone.run()
        expected = results(alone)
        union = {}
        for member in found:
            assert member[model]["shared"] == expected["shared"]
            assert member[model]["clip_norm"] == expected["clip_norm"]
            assert member[model]["accuracy"] == expected["accuracy"]
            assert member[model]["tuned"] == expected["tuned"]
            union |= member[model]["models"]
        assert union == expected["models"]
        assert all(len(member[model]["models"]) < POPULATION for member in found)
    assert len(found) == number


def test_who_is_evaluated_together_is_the_same_for_every_number_of_processes(monkeypatch):
    """Solvers' last bits depend on it."""
    trainer = build("logistic")

    def together(size, rank):
        asked = []
        monkeypatch.setattr(trainer.processes, "size", size)
        monkeypatch.setattr(trainer.processes, "rank", rank)
        monkeypatch.setattr(trainer.processes, "total", lambda found: found)
        trainer.evaluated.scores(
            lambda clients: asked.append(clients.tolist()) or trainer.client_models(clients), test=True
        )
        return asked

    alone = together(1, 0)
    assert sorted(client for clients in alone for client in clients) == list(range(POPULATION))
    assert sorted(together(2, 0) + together(2, 1)) == sorted(alone)


def test_two_processes(tmp_path):
    compare(run_members(tmp_path, 2), 2)


@pytest.mark.nightly
def test_three_processes(tmp_path):
    compare(run_members(tmp_path, 3), 3)


@pytest.mark.nightly
def test_checkpoint_of_three_processes_resumes_in_one(tmp_path):
    run_members(tmp_path, 3, str(tmp_path) + "/run-")
    for model in ("logistic", "mlp"):
        plain, resumed = build(model, rounds=7), build(model, rounds=7, folder=tmp_path / f"run-{model}")
        assert resumed.rounds == 4
        plain.run()
        resumed.run()
        assert results(plain) == results(resumed)


@pytest.mark.nightly
def test_torchrun_command(tmp_path):
    arguments = ["train", "pmtl", "--data", "synthetic:related,population=14", "--rounds", "3", "--seed", "5"]
    arguments += ["--noise-multiplier", "1", "--clip-norm", "0.5", "--cohort", "6", "--json", "--quiet"]
    arguments += ["--engine", "shards=12"]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "dpcert"]
    alone = [sys.executable, "-m", "dpcert"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    documents = []
    for command in (alone, launcher):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True, env=environment)
        documents.append(json.loads(done.stdout))
    for key in ("test_accuracy", "test_loss", "privacy", "history"):
        left, right = (document[key] for document in documents)
        if key == "privacy":
            left, right = ({k: v for k, v in value.items() if k != "seconds"} for value in (left, right))
        assert left == right


LOSING_A_WORKER = """
import os, signal
from dpcert.cli import run
from dpcert.trainers.engine.trainer import Trainer
one_round = Trainer._{step}

def doomed(trainer, *told):
    if (trainer.rounds, os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]) == (2, "1", "0"):
        print("LOST", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return one_round(trainer, *told)

Trainer._{step} = doomed
raise SystemExit(run({arguments!r}))
"""


@pytest.mark.nightly
@pytest.mark.parametrize("step", ["round", "publish"])
def test_a_run_outlives_a_lost_worker(tmp_path, step):
    """Killed before its part of the third round's sum, and between paying for the release and the round's end.

    Three restarts, as the guide says: on a busy machine gloo may take too long to connect the members again.
    """
    arguments = ["train", "pmtl", "--data", "synthetic:related,population=14", "--rounds", "5", "--seed", "5"]
    arguments += ["--noise-multiplier", "1", "--clip-norm", "0.5", "--cohort", "6", "--json", "--quiet"]
    arguments += ["--engine", "shards=12"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    alone = subprocess.run(
        [sys.executable, "-m", "dpcert", *arguments], capture_output=True, text=True, check=True, env=environment
    )
    script = tmp_path / "member.py"
    script.write_text(LOSING_A_WORKER.format(step=step, arguments=[*arguments, "--checkpoint", str(tmp_path / "kept")]))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    outcomes = {}
    for restarts in (0, 3):
        done = subprocess.run(
            [*launcher, "--max-restarts", str(restarts), str(script)], capture_output=True, text=True, env=environment
        )
        outcomes[restarts] = done.returncode
        assert "LOST" in done.stdout
        if restarts == 0:  # without a restart the run is lost with its worker; what it left is not used again
            shutil.rmtree(tmp_path / "kept")
    assert outcomes[0] != 0
    assert outcomes[3] == 0, done.stderr[-6000:]
    found, expected = (json.loads(text[text.index("{") :]) for text in (done.stdout, alone.stdout))
    assert found["history"] == expected["history"]
    assert found["privacy"]["epsilon_upper"] == expected["privacy"]["epsilon_upper"]


@pytest.mark.parametrize(
    ("nccl", "gpus", "members", "expected"),
    [
        (True, 2, 2, processes.NCCL),
        (True, 1, 2, processes.GLOO),  # NCCL refuses processes that share a GPU
        (True, 0, 2, processes.GLOO),
        (False, 2, 2, processes.GLOO),
    ],
)
def test_nccl_where_every_process_has_a_gpu(monkeypatch, nccl, gpus, members, expected):
    monkeypatch.setattr(processes.dist, "is_nccl_available", lambda: nccl)
    assert processes.backend(gpus, members) == expected


class OnGpu:
    """A tensor on a GPU, which says where it has been."""

    def __init__(self):
        self.seen = []

    def cpu(self):
        self.seen.append("to the host")
        return "on the host"

    def copy_(self, other):
        self.seen.append(f"from {other}")


@pytest.mark.parametrize(("told", "way"), [("cpu:gloo,cuda:nccl", []), ("cpu:gloo,cuda:gloo", ["host"])])
def test_sums_leave_the_gpu_only_without_nccl(monkeypatch, told, way):
    tensor, summed = OnGpu(), []
    monkeypatch.setattr(processes.dist, "is_initialized", lambda: True)
    monkeypatch.setattr(processes.dist, "get_rank", lambda: 0)
    monkeypatch.setattr(processes.dist, "get_world_size", lambda: 2)
    monkeypatch.setattr(processes.dist, "get_backend_config", lambda: told)
    monkeypatch.setattr(processes.dist, "all_reduce", summed.append)
    processes.Processes().total(tensor)
    assert tensor.seen == (["to the host", "from on the host"] if way else [])
    assert summed == (["on the host"] if way else [tensor])


@pytest.mark.parametrize("algorithm", [DpFedAvg, lambda: Pmtl(0.5)])
def test_result_does_not_depend_on_the_chunk_when_clients_are_solved_one_by_one(algorithm):
    federation = related_tasks(population=POPULATION, features=5, classes=3, samples=10, seed=1)
    shared = []
    for shards in (1, 5, 12):
        settings = Settings(
            rounds=3, cohort=9, noise_multiplier=0.7, clip_norm=0.4, seed=8, shards=shards, solver="loop"
        )
        trainer = Trainer(federation, algorithm(), "mlp", settings)
        trainer.run()
        shared.append(trainer.shared.numpy().tobytes())
    assert shared[0] == shared[1] == shared[2]
