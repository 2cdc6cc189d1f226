"""The scripts for a machine with a GPU, as far as a CPU can test them: the aims, and the figures' commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dpcert.cli import run

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FAKE = '#!/bin/sh\necho "$@" >> "$LOG"\ncase "$*" in *" $BROKEN "*) exit 2 ;; esac\n'


@pytest.fixture
def cuda(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import trainers_cuda

    return trainers_cuda


def test_aims_are_ratios_of_what_was_measured(cuda):
    measured = {"cnn, stacked, cuda, 100": 5125.0, "cnn, stacked, cuda, 1600": 11_897.0}
    measured |= {"cnn, plain loop, cpu, 100": 59.0, "cnn, plain loop, cuda, 100": 170.0}
    found = cuda.reached({name: {"single": rate} for name, rate in measured.items()})
    assert [(round(one["times"]), one["aim"], one["is"]) for one in found] == [
        (87, 60, True),
        (30, 25, True),
        (202, 200, True),
    ]
    measured["cnn, stacked, cuda, 1600"] = 11_000.0
    assert [one["is"] for one in cuda.reached({name: {"single": rate} for name, rate in measured.items()})][2] is False


def test_from_how_many_clients_on_compiling_pays(cuda):
    """Compiled at the first cohort, for 23 s; at the last one a client takes 7.4 us less: 3.1 million clients."""
    measured = {f"cnn, stacked, cuda, {cohort}": {"in a row": 16_518.0} for cohort in (100, 1600)}
    for cohort, seconds in ((100, 23.0), (1600, 0.0)):
        told = {"in a row": 18_804.0, "first two": seconds + 2 * cohort / 18_804}
        measured[f"cnn, compiled, cuda, {cohort}"] = told
    found = cuda.pays_from(measured, (100, 1600))
    assert (found["seconds"], found["microseconds"]) == (pytest.approx(23), pytest.approx(7.36, abs=0.01))
    assert found["clients"] == pytest.approx(3.13e6, rel=0.01)
    told["in a row"] = 16_000.0
    assert cuda.pays_from(measured, (100, 1600)) is None
    measured["cnn, compiled, cuda, 1600"] = {"failed": "no compiler"}
    assert cuda.pays_from(measured, (100, 1600)) is None


@pytest.mark.filterwarnings("ignore")  # torch's compiler warns of its own code
@pytest.mark.parametrize("model", ["logistic", *(pytest.param(n, marks=pytest.mark.nightly) for n in ("mlp", "cnn"))])
def test_the_script_can_be_tried_out_without_a_gpu(cuda, model, monkeypatch, capsys):
    monkeypatch.setattr(cuda, "TINY", cuda.Size((1, 2), 3, 1))
    base = cuda.femnist_like()
    few = cuda.Federation(base.name, base.clients[:2], base.task, base.outputs)
    monkeypatch.setattr(cuda, "stackoverflow_like", lambda clients: few)  # 5 million weights take seconds
    monkeypatch.setattr(sys, "argv", ["trainers_cuda.py", "--device", "cpu", "--only", model])
    threads = torch.get_num_threads()
    assert cuda.main() == 0
    torch.set_num_threads(threads)
    document = json.loads(capsys.readouterr().out)
    assert [name for name, found in document["measured"].items() if "failed" in found] == []
    solvers = {name.split(", ")[1] for name in document["measured"] if name.startswith(model)}
    assert {"plain loop", *cuda.SOLVERS[model]} <= solvers
    if model == "cnn":
        rounding = document["measured"]["cnn, single precision, vmap"]["largest difference"]
        assert 0 < rounding < 1e-6


def test_what_fails_does_not_cost_the_rest(cuda, capsys):
    told = cuda.Measured()
    told.add("broken", lambda: 1 / 0)
    told.add("whole", lambda: {"single": 2.0})
    assert "failed: ZeroDivisionError" in told.found["broken"]["failed"]
    assert told.found["whole"] == {"single": 2.0}
    assert cuda.reached(told.found) == []


def commands(tmp_path, broken):
    """The script's exit code, what it says, and the commands that it runs, by a python that only notes them."""
    python = tmp_path / "python"
    python.write_text(FAKE)
    python.chmod(0o755)
    log = tmp_path / "log"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log), "BROKEN": broken}
    script = ["sh", str(BENCHMARKS / "trainers_figures.sh"), "leaf.zip", "out", "60"]
    ended = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stderr, log.read_text().splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_figures_are_six_commands_whose_options_exist(tmp_path, capsys):
    code, said, ran = commands(tmp_path, "none")
    assert (code, said) == (0, "0 of 6 figures are not done\n")
    names = [line.split()[3] for line in ran]
    assert names == ["privacy-utility", "finetuning", "rounds", "dpfedmtl", "dpfedmtl-rounds", "fair"]
    for name, line in zip(names, ran, strict=True):
        assert "--model cnn --epsilons 0.05,0.1,0.2,0.4,0.8,1.6,2,4 --seeds 3" in line
        assert run(["experiment", name, "--help"]) == 0
        assert set(re.findall(r"--[a-z-]+", line)) <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_a_figure_that_fails_does_not_hold_up_the_others(tmp_path):
    code, said, ran = commands(tmp_path, "rounds")
    assert (code, len(ran)) == (1, 6)
    assert "1 of 6 figures are not done" in said
