"""Several processes, kills and resumed runs: the same bits, for clients' own noise too. And the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
import torch

from dpcert.cli import run
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.dpfedmtl import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlLocalNoise
from dpcert.trainers.engine.checkpoint import Checkpoint
from dpcert.trainers.engine.paid_round import Paid
from dpcert.trainers.federated import LocalSteps, Settings, Trainer

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")
POPULATION, SHARDS = 17, 12
VARIANTS = {
    "local-noise": lambda: DpFedMtlLocalNoise(label_sets="own"),
    "as-printed": lambda: DpFedMtlAsPrinted(aggregation_interval=2),
    "corrected": DpFedMtl,
}


def build(name, folder=None, rounds=4):
    federation = related_tasks(population=POPULATION, features=5, classes=3, samples=10, seed=1)
    settings = Settings(
        rounds=rounds,
        cohort=9,
        noise_multiplier=0.7,
        clip_norm=0.4,
        local=LocalSteps(learning_rate=0.3, batch_size=3),
        seed=8,
        shards=SHARDS,
    )
    return Trainer(federation, VARIANTS[name](), "mlp", settings, checkpoint=folder)


def results(trainer):
    """The shared layers, and the models of the clients that this process is home to."""
    home = [k for k in range(POPULATION) if trainer.processes.owns(k % SHARDS)]
    return {
        "shared": trainer.shared.numpy().tobytes().hex(),
        "models": {str(k): trainer.client_model(k).numpy().tobytes().hex() for k in home},
        "spent": trainer.spent,
        "accuracy": trainer.history[-1]["test_accuracy"],
    }


MEMBER = """
import json, sys
sys.path.insert(0, {here!r})
import torch
from torch import distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(sys.argv[2]), world_size=int(sys.argv[3]))
from test_runs import VARIANTS, build, results
found = {{}}
for name in VARIANTS:
    trainer = build(name)
    trainer.run()
    found[name] = results(trainer)
print(json.dumps(found))
dist.destroy_process_group()
"""


def compare(tmp_path, number):
    code = MEMBER.format(here=os.path.dirname(__file__))
    members = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / f"store{number}"), str(rank), str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(number)
    ]
    outputs = [member.communicate(timeout=300)[0] for member in members]
    assert all(member.returncode == 0 for member in members)
    found = [json.loads(output.splitlines()[-1]) for output in outputs]
    for name in VARIANTS:
        alone = build(name)
        alone.run()
        expected = results(alone)
        union = {}
        for member in found:
            for key in ("shared", "spent", "accuracy"):
                assert member[name][key] == expected[key]
            union |= member[name]["models"]
        assert union == expected["models"]


@pytest.mark.nightly
def test_two_processes(tmp_path):
    compare(tmp_path, 2)


@pytest.mark.nightly
def test_three_processes(tmp_path):
    compare(tmp_path, 3)


@pytest.mark.nightly
def test_torchrun_command():
    arguments = ["train", "dpfedmtl-local-noise", "--data", "synthetic:related,population=14"]
    arguments += ["--rounds", "3", "--seed", "5", "--sigma", "1", "--clip-norm", "0.5", "--cohort", "6", "--json"]
    arguments += ["--quiet", "--engine", "shards=12"]
    alone = [sys.executable, "-m", "dpcert"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    documents = []
    for number in (0, 2, 3):
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(number)]
        command = [*launcher, "-m", "dpcert"] if number else alone
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True, env=environment)
        document = json.loads(done.stdout)
        del document["seconds"], document["privacy"]["seconds"]
        documents.append(document)
    assert documents[0] == documents[1] == documents[2]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("moment", ["after spend", "before commit", "after commit"])
def test_crash_and_resume(tmp_path, monkeypatch, name, moment):
    """An exception at each boundary stands for the kill; what is on disk at that moment is the same."""
    plain = build(name)
    plain.run()
    trainer = build(name, tmp_path / "run")
    when, method = moment.split()
    holder = Paid if method == "spend" else Checkpoint
    original = getattr(holder, method)
    crashed: list[bool] = []

    def crash(self, *arguments):
        if trainer.rounds >= 2 and not crashed:
            if when == "after":
                original(self, *arguments)
            crashed.append(True)
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(holder, method, crash)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    resumed = build(name, tmp_path / "run")
    assert 0 < resumed.rounds < 4
    resumed.run()
    assert results(plain) == results(resumed)


CHILD = """
import sys, torch
sys.path.insert(0, sys.argv[1])
torch.set_num_threads(1)
from test_runs import build
from dpcert.trainers.engine.checkpoint import Checkpoint
commit = Checkpoint.commit
def told(*arguments):
    print("committing", flush=True)
    commit(*arguments)
Checkpoint.commit = told
build("local-noise", sys.argv[2], rounds=80).run()
"""


@pytest.mark.nightly
def test_kill_9(tmp_path):
    command = [sys.executable, "-c", CHILD, os.path.dirname(__file__), str(tmp_path / "run")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with child.stdout:
        for _ in range(5):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()
    resumed = build("local-noise", tmp_path / "run", rounds=80)
    assert resumed.rounds < 80
    assert resumed.rounds <= resumed.spent <= resumed.rounds + 1
    resumed.run()
    plain = build("local-noise", rounds=80)
    plain.run()
    assert results(plain) == results(resumed)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.cuda
def test_on_a_gpu():
    federation = related_tasks(population=POPULATION, features=5, classes=3, samples=10, seed=1)
    shared = {}
    for device in ("cpu", "cuda"):
        settings = Settings(
            rounds=5,
            cohort=9,
            noise_multiplier=0.7,
            clip_norm=0.4,
            seed=8,
            device=device,
            dtype="float64",
            noise_source="host",
        )
        trainer = Trainer(federation, DpFedMtlLocalNoise(label_sets="own"), "mlp", settings)
        trainer.run()
        shared[device] = trainer.shared.cpu()
    torch.testing.assert_close(shared["cuda"], shared["cpu"], rtol=0, atol=1e-9)


# The command line

SMALL = ["--data", "synthetic:related,population=10,features=4,samples=8", "--rounds", "3", "--seed", "1", "--quiet"]
NOISE = ["--sigma", "1", "--clip-norm", "0.5", "--cohort", "5"]


def trained(capsys, *arguments, algorithm="dpfedmtl"):
    assert run(["train", algorithm, *SMALL, *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_variants_and_observers(capsys):
    found = {}
    for variant in (None, "local-noise", "clipped", "as-printed"):
        named = "dpfedmtl" + (f"-{variant}" if variant else "")
        document = trained(capsys, *NOISE, "--sampling", "fixed-size", algorithm=named)
        assert document["algorithm"] == named
        assert document["model"] == "mlp"
        found[variant] = {entry["observer"]: entry["epsilon_upper"] for entry in document["privacy"]["observers"]}
    # K/M = 1/2: S = 2CK/M is half of 2C.
    assert found[None]["server"] == "inf"
    assert found["local-noise"]["server"] < found["clipped"]["server"]
    assert set(found["as-printed"].values()) == {"inf"}


def test_target_epsilon(capsys):
    document = trained(capsys, "--target-epsilon", "3", "--clip-norm", "0.5", "--cohort", "5")
    assert 2.99 < document["privacy"]["epsilon_lower"] <= document["privacy"]["epsilon_upper"] <= 3


def test_text_output_names_the_observers(capsys):
    assert run(["train", "dpfedmtl-local-noise", *SMALL, *NOISE]) == 0
    out = capsys.readouterr().out
    assert "against server: [" in out
    assert "against all other clients: [" in out


@pytest.mark.parametrize(
    ("arguments", "expected", "form"),
    [
        (["--model", "logistic"], "lower ones have to be shared", ""),
        ([], "(did you mean", "-clip"),
        (["--set", "label-sets=some"], "one of all, own", ""),
        (["--set", "head-layers=-1"], "at least 0", ""),
        (["--set", "head-layers=x"], "a number", ""),
        (["--set", "heads=1"], "head-layers", ""),
        (["--set", "aggregation-interval=0"], "at least 1", ""),
        (["--sigma", "1"], "--clip-norm", ""),
        (["--sigma", "-1", "--clip-norm", "1"], "at least 0", ""),
        (["--sigma", "1", "--noise-multiplier", "1"], "either", ""),
        (["--target-epsilon", "1", "--clip-norm", "1"], "no noise changes", "-as-printed"),
        (["--noise-std", "1", "--clip-norm", "1"], "no noise to the mean", "-local-noise"),
        ([*NOISE, "--neighbouring", "add-remove"], "replace-one or zero-out", "-local-noise"),
        ([*NOISE, "--budget", "1"], "no budget", "-as-printed"),
        ([*NOISE[2:], "--noise-multiplier", ".1", "--clipping", "adaptive"], "flat", "-clipped"),
    ],
)
def test_bad_input_is_exit_code_2(capsys, arguments, expected, form):
    assert run(["train", "dpfedmtl" + form, *SMALL, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert expected in captured.err
    assert captured.err.count("\n") == 1


def test_sigma_is_dpfedmtl_s(capsys):
    assert run(["train", "pmtl", *SMALL, "--sigma", "1", "--clip-norm", "1"]) == 2
    assert "pmtl has no sigma" in capsys.readouterr().err
    assert run(["experiment", "rounds", *SMALL[:2], "--sigma", "1"]) == 2
    assert "--sigma" in capsys.readouterr().err


def test_sweep(capsys, tmp_path):
    arguments = [*SMALL[:2], "--rounds", "4", "--cohort", "3", "--seeds", "1", "--quiet"]
    assert run(["experiment", "dpfedmtl", *arguments, "--out", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    by = {(row["method"], row["sigma"]): row for row in rows}
    assert {"local", "FedAvg", "FedMTL", "FedMTL, H=4"} <= {method for method, _ in by}
    clipped, corrected = by["DPFedMTL, clipped, fixed-size", 9.69], by["DPFedMTL, corrected, poisson", 9.69]
    assert clipped["epsilon"] == clipped["epsilon_server"] > corrected["epsilon"] > corrected["epsilon_printed"] * 0.9
    assert corrected["epsilon_server"] == "inf"
    assert "against the server" in (tmp_path / "table.md").read_text()
    files = sorted((tmp_path / "cells").glob("*.json"))
    times = {file: file.stat().st_mtime_ns for file in files[1:]}
    files[0].unlink()
    assert run(["experiment", "dpfedmtl", *arguments, "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == rows
    assert {file: file.stat().st_mtime_ns for file in files[1:]} == times
