"""Each experiment with the paper's network at given epsilons: on a CPU with --quick, and from where it was."""

from __future__ import annotations

import json

import pytest
import torch
from cases import few

from dpcert.cli import run
from dpcert.trainers.experiments import fair
from dpcert.trainers.experiments.runs import read_runs

torch.set_num_threads(1)
IMAGES = "synthetic:related,features=256,population=6,samples=8,classes=3"
"""16 x 16, the least that the network takes."""
EXPERIMENTS = ["rounds", "privacy-utility", "finetuning", "dpfedmtl-rounds", "dpfedmtl", "fair"]


@pytest.mark.parametrize("name", few(EXPERIMENTS, len(EXPERIMENTS)))
def test_the_paper_s_network_at_given_epsilons(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fair, "QUICK", fair.Plan((), 1, (2,)))
    asked = ["experiment", name, "--model", "cnn", "--epsilons", "0.5,4", "--quick", "--data", IMAGES, "--cohort", "3"]
    asked += ["--out", str(tmp_path), "--quiet", "--json", "--seeds", "1"]
    asked += [] if name == "fair" else ["--rounds", "2"]
    assert run(asked) == 0
    first = capsys.readouterr().out
    results = read_runs(tmp_path / "runs.json")
    assert {result["model"] for result in results} == {"cnn"}
    private = [result for result in results if result["epsilon_upper"]]
    targets = {result["target"] if name == "fair" else result["target_epsilon"] for result in private}
    assert targets == {0.5, 4.0}
    for result in private:
        target = result["target"] if name == "fair" else result["target_epsilon"]
        assert 0.999 * target <= result["epsilon_upper"] <= target * (1 + 1e-9)
        assert result["epsilon_printed"] is not None
    # A second call trains what is not there, and nothing else.
    cells = sorted((tmp_path / "cells").glob("*.json"))
    kept = {file: (file.stat().st_mtime_ns, file.read_text()) for file in cells}
    lost = cells[0]
    lost.unlink()
    assert run(asked) == 0
    assert {file: (file.stat().st_mtime_ns, file.read_text()) for file in cells if file != lost} == {
        file: known for file, known in kept.items() if file != lost
    }
    assert without_seconds(json.loads(lost.read_text())) == without_seconds(json.loads(kept[lost][1]))
    if name != "fair":  # which prints its runs, and how long each took
        assert capsys.readouterr().out == first


def without_seconds(result):
    return {name: value for name, value in result.items() if name != "seconds"}


def test_epsilons_that_are_none_are_named(capsys, tmp_path):
    for text in ("0.5,x", "0.5,-1"):
        assert run(["experiment", "fair", "--epsilons", text, "--quick", "--out", str(tmp_path)]) == 2
        assert "--epsilons" in capsys.readouterr().err
    assert run(["experiment", "rounds", "--epsilons", "1", "--noise-multiplier", "2", "--out", str(tmp_path)]) == 2
    assert "--noise-multiplier already states the noise" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_comparison_by_accuracy_of_data_without_classes(capsys, tmp_path):
    assert run(["experiment", "fair", "--quick", "--data", "synthetic:ridge", "--out", str(tmp_path)]) == 2
    assert "--data = 'synthetic:ridge': expected classes or tags" in capsys.readouterr().err
