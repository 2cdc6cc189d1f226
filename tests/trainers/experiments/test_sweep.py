"""A sweep can be killed, resumed and made into tables and plots again; nothing that was computed is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.trainers.experiments import sweep
from dpcert.trainers.experiments.cell import Cell
from dpcert.trainers.experiments.presets import NOISE, PRESETS, SIGMAS
from dpcert.trainers.experiments.report import main, write_report
from dpcert.trainers.experiments.runs import read_runs
from dpcert.trainers.experiments.sweep import run_sweep

torch.set_num_threads(1)
DATA = "synthetic:related,population=8,features=4,samples=8"
COMMAND = ["--data", DATA, "--rounds", "2", "--cohort", "4", "--clip-norm", "0.5", "--threads", "1"]
SEEDS = 6
BASE = Cell("pmtl", DATA, 0, rounds=2, cohort=4, clip_norm=0.5)


def sweep_of(name, folder):
    return ["experiment", name, *COMMAND, "--seeds", str(SEEDS), "--out", str(folder)]


def kept(folder):
    return {file.name: (file.stat().st_mtime_ns, file.read_text()) for file in (folder / "cells").glob("*.json")}


@pytest.mark.nightly
def test_killed_and_resumed_is_what_was_never_killed(tmp_path, capsys):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    child = subprocess.Popen(
        [sys.executable, "-m", "dpcert", *sweep_of("rounds", killed)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child.stderr:
        while len(list((killed / "cells").glob("*.json"))) < 2:
            assert child.stderr.readline()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    before = kept(killed)
    total = len(PRESETS["rounds"](BASE, range(SEEDS)))
    assert 2 <= len(before) < total
    assert run(sweep_of("rounds", killed)) == 0
    told = capsys.readouterr().err
    assert f"{total}/{total} " in told
    assert told.count("seed 1:") == total / SEEDS
    after = kept(killed)
    assert {name: after[name] for name in before} == before
    assert len(after) == total
    assert run([*sweep_of("rounds", whole), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    for name in ("runs.json", "table.md", "grid.md"):
        assert (killed / name).read_text() == (whole / name).read_text()
    pytest.importorskip("matplotlib")
    assert (killed / "rounds.png").stat().st_size > 5000


def test_two_processes_find_what_one_finds(tmp_path):
    base, told = replace(BASE, finetune="vanilla"), []
    cells = [base, replace(base, finetune="ewc"), replace(base, seed=1)]
    run_sweep(cells[1:2], tmp_path / "two")
    one, two = (
        [
            {name: value for name, value in result.items() if name != "seconds"}
            for result in run_sweep(cells, tmp_path / part, jobs=jobs, report=lambda *counted: told.append(counted[:2]))
        ]
        for part, jobs in (("one", 1), ("two", 2))
    )
    assert one == two
    assert told == 2 * [(1, 3), (2, 3), (3, 3)]


def test_what_differs_in_its_fine_tuning_alone_is_trained_once(tmp_path, monkeypatch):
    """Wherever it stands in the grid, and each cell finds what it finds alone."""
    tuned = [replace(BASE, finetune=penalty) for penalty in ("", "vanilla", "ewc")]
    cells = [tuned[0], replace(BASE, algorithm="ditto"), tuned[1], replace(BASE, seed=1), tuned[2]]
    alone = [run_sweep([cell], tmp_path / cell.key)[0] for cell in cells]
    trained = []
    train_cell = sweep.train_cell
    monkeypatch.setattr(sweep, "train_cell", lambda cell, _: trained.append(cell) or train_cell(cell, _))
    found = run_sweep(cells, tmp_path / "all")
    assert trained == [cells[0], cells[1], cells[3]]
    assert [{**result, "seconds": 0} for result in found] == [{**result, "seconds": 0} for result in alone]


BAD = [
    ("finetuning", "--rounds", "0"),
    ("finetuning", "--clip-norm", "-1"),
    ("finetuning", "--lambda", "-1"),
    ("finetuning", "--finetune-strength", "-1"),
    ("finetuning", "--noise-multiplier", "-1"),
    ("finetuning", "--data", "synthetic:nothing"),
    ("privacy-utility", "--model", "cnn"),
    ("fair", "--delta", "2"),
    ("mocha-figure1", "--lambda", "-1"),
    ("rounds", "--delta", "0", "--epsilons", "1"),
]


@pytest.mark.parametrize("asked", BAD, ids=" ".join)
def test_bad_input_is_refused_before_any_run_and_leaves_no_folder(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["experiment", *asked]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {asked[1]} = ")
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["dpfedmtl", "dpfedmtl-rounds"])
def test_a_model_without_lower_layers_is_refused_before_training_alone_or_fedavg_runs(name, tmp_path, capsys):
    folder = tmp_path / "out"
    assert run(["experiment", name, *COMMAND, "--model", "logistic", "--out", str(folder)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: head_layers = 1: expected fewer than the model's 1 layers")
    assert told.count("\n") == 1
    assert not folder.exists()


def test_a_damaged_result_is_named_before_anything_runs(tmp_path, monkeypatch):
    cells = PRESETS["rounds"](BASE, range(1))
    run_sweep(cells, tmp_path)
    files = sorted((tmp_path / "cells").glob("*.json"))
    files[0].unlink()
    files[-1].write_text(files[-1].read_text()[:40])
    monkeypatch.setattr(sweep, "train_cell", lambda *_: pytest.fail("something ran"))
    with pytest.raises(InputError, match=files[-1].name):
        run_sweep(cells, tmp_path)


def test_tables_and_plots_come_again_from_runs_json(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    base = Cell("pmtl", DATA, 0, model="mlp", rounds=2, cohort=4, clip_norm=0.5)
    for name in ("dpfedmtl", "rounds"):
        first, again = tmp_path / name, tmp_path / (name + "-again")
        cells = [cell for cell in PRESETS[name](base, range(1)) if cell.sigma in (0.0, 2.42, 9.69)]
        write_report(run_sweep(cells, first), first)
        assert main([str(first / "runs.json"), str(again)]) == 0
        for file in ("runs.json", "table.md", "grid.md"):
            assert (first / file).read_text() == (again / file).read_text()
        assert capsys.readouterr().out == (first / "grid.md").read_text()
        assert (again / ("sigma.png" if name == "dpfedmtl" else "rounds.png")).stat().st_size > 5000
        assert "synthetic" not in (first / "runs.json").read_text()


@pytest.mark.parametrize("text", ["", "[]", '{"shared": {}, "runs": [1]}'])
def test_not_a_runs_json(tmp_path, capsys, text):
    (tmp_path / "runs.json").write_text(text)
    with pytest.raises(InputError, match="a sweep wrote"):
        read_runs(tmp_path / "runs.json")
    assert main([str(tmp_path / "runs.json"), str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert main([]) == 2


def test_every_comparison_has_local_and_fine_tuned_global_rows():
    for name in ("privacy-utility", "rounds", "finetuning", "pp-sgd"):
        cells = PRESETS[name](BASE, range(3))
        noises = {cell.noise_multiplier for cell in cells}
        for seed in range(3):
            own = [cell for cell in cells if cell.seed == seed]
            assert any(cell.algorithm == "local" for cell in own)
            tuned = {c.noise_multiplier for c in own if c.algorithm == "dp-fedavg" and c.finetune == "vanilla"}
            assert tuned == {cell.noise_multiplier for cell in own if cell.algorithm == "dp-fedavg"} == noises
    assert len([noise for noise in NOISE if noise]) >= 5
    naive = {cell.noise_multiplier for cell in PRESETS["privacy-utility"](BASE, [0]) if cell.algorithm == "naive-joint"}
    assert naive == set(NOISE)


def test_tables_2_and_3_have_every_form_with_and_without_heads():
    cells = PRESETS["dpfedmtl"](BASE, range(3))
    forms = {"dpfedmtl-as-printed", "dpfedmtl-clipped", "dpfedmtl", "dpfedmtl-local-noise"}
    found = {(c.algorithm, c.head_layers, c.sigma, c.seed) for c in cells if c.sigma}
    assert found == {(f, h, s, k) for f in forms for h in (0, 1) for s in SIGMAS for k in range(3)}
    plain = {(c.algorithm, c.head_layers, c.aggregation_interval) for c in cells if not c.sigma}
    assert plain >= {("local", 1, 1), ("dpfedmtl", 0, 1), ("dpfedmtl", 1, 1)}


@pytest.mark.parametrize(
    "option",
    [
        ["--clipping", "adaptive"],
        ["--engine", "solver=loop"],
        ["--finetune", "vanilla"],
        ["--evaluate-every", "2"],
        ["--noise-multiplier", "2"],
        ["--seeds", "0"],
    ],
)
def test_options_that_a_sweep_would_ignore_are_refused(tmp_path, capsys, option):
    assert run([*sweep_of("privacy-utility", tmp_path), *option]) == 2
    assert option[0] in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_sweep_over_clip_norms_takes_none(tmp_path, capsys):
    assert run([*sweep_of("combinations", tmp_path)]) == 2  # sweep_of asks for one
    assert "no option --clip-norm" in capsys.readouterr().err


def test_seeds_begin_where_asked(tmp_path, capsys):
    assert run([*sweep_of("rounds", tmp_path), "--seed", "7", "--quiet", "--json"]) == 0
    assert {row["seeds"] for row in json.loads(capsys.readouterr().out)["rows"]} == {SEEDS}
    assert {result["seed"] for result in read_runs(tmp_path / "runs.json")} == set(range(7, 7 + SEEDS))
    assert Path(tmp_path / "grid.md").read_text().startswith("| noise multiplier |")
