"""dpcert train: the contract's options, JSON and exit codes."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from dpcert.accounting.epsilon import epsilon
from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.mechanisms.serialise import from_plain
from dpcert.trainers import build
from dpcert.trainers.engine.processes import shards_for
from dpcert.trainers.federated import Pmtl, Settings, Trainer, build_model, load_federation
from dpcert.trainers.names import ALGORITHMS

torch.set_num_threads(1)
SMALL = ["--data", "synthetic:related,population=10,features=4,samples=8", "--rounds", "3", "--seed", "1", "--quiet"]
NOISE = ["--noise-multiplier", "2", "--clip-norm", "0.5", "--cohort", "5"]


def trained(capsys, *arguments):
    assert run(["train", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "pmtl-as-printed"])
def test_every_algorithm(capsys, algorithm):
    layered = ["--model", "mlp"] if algorithm.startswith("dpfedmtl") else []
    document = trained(capsys, algorithm, *SMALL, *NOISE, *layered)
    assert document["algorithm"] == algorithm
    assert document["rounds"] == 3
    assert 0 <= document["test_accuracy"] <= 1
    assert document["seconds"] > 0
    if algorithm == "local":
        assert document["mechanism"] is None
        assert document["privacy"]["epsilon_upper"] == 0
        return
    privacy = document["privacy"]
    if algorithm == "dpfedmtl-as-printed":
        assert document["mechanism"] is None
        assert privacy["epsilon_lower"] == privacy["epsilon_upper"] == "inf"
        return
    seen = privacy["participation"]
    notion = "dp" if seen else privacy["notion"]
    assert privacy["neighbouring"] == ("add-remove" if notion == "dp" and not seen else "replace-one")
    bracket = epsilon(from_plain(document["mechanism"]), 1e-5, notion=notion, participation=seen)
    assert (privacy["epsilon_lower"], privacy["epsilon_upper"]) == (bracket.lower, bracket.upper)
    assert set(privacy) >= {"delta", "notion", "neighbouring", "sampling", "accountant", "certified", "seconds"}


def test_without_noise_there_is_no_privacy(capsys):
    assert trained(capsys, "pmtl", *SMALL)["privacy"] is None


def test_noise_std_is_on_the_mean(capsys):
    document = trained(capsys, "pmtl", *SMALL, "--noise-std", "0.2", "--clip-norm", "0.5", "--cohort", "5")
    assert document["privacy"]["noise_multiplier"] == pytest.approx(0.2 * 5 / 0.5)


def test_fixed_size_and_full(capsys):
    fixed = trained(capsys, "pmtl", *SMALL, *NOISE, "--sampling", "fixed-size")
    full = trained(capsys, "pmtl", *SMALL, *NOISE, "--sampling", "full")
    assert fixed["mechanism"]["mechanism"]["kind"] == "FixedSize"
    assert full["privacy"]["sampling"] == "none"


@pytest.mark.parametrize("sampling", ["poisson", "fixed-size", "full"])
def test_a_cohort_above_the_number_of_clients(capsys, sampling):
    assert run(["train", "pmtl", *SMALL, "--cohort", "11", "--sampling", sampling]) == 2
    assert "--cohort = 11: expected at most the number of clients, 10" in " ".join(capsys.readouterr().err.split())


def test_text_output_and_assumptions(capsys):
    assert run(["train", "pmtl", *SMALL, *NOISE, "--delta", "0.2"]) == 0
    out = capsys.readouterr().out
    assert "epsilon in [" in out
    assert "delta is above 1/10" in out
    assert "the seed is secret" in out


def test_budget_and_checkpoint(capsys, tmp_path):
    # The seed is fixed by SMALL; the checkpoint keeps count over calls.
    budget = ["--budget", "8", "--rounds", "500", "--checkpoint", str(tmp_path / "run")]
    first = trained(capsys, "pmtl", *SMALL, *NOISE, *budget)
    assert first["stopped_by_budget"]
    assert first["privacy"]["epsilon_upper"] <= 8
    again = trained(capsys, "pmtl", *SMALL, *NOISE, *budget)
    assert again["releases"] == first["releases"]
    assert again["test_accuracy"] == first["test_accuracy"]


def test_finetuning(capsys):
    document = trained(capsys, "dp-fedavg", *SMALL, *NOISE, "--finetune", "ewc")
    assert document["finetune"] == "ewc"
    assert document["before_finetuning"]["test_loss"] != document["test_loss"]


def test_adaptive_clipping(capsys):
    document = trained(capsys, "pmtl", *SMALL, *NOISE, "--clipping", "per-layer")
    assert math.isfinite(document["test_loss"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nothing"], "one of pmtl"),
        (["pmtl", "--cohort", "11"], "number of clients"),
        (["pmtl", "--noise-multiplier", "1"], "--clip-norm"),
        (["pmtl", "--noise-std", "1"], "--clip-norm"),
        (["pmtl", "--noise-std", "1", "--noise-multiplier", "1"], "either"),
        (["pmtl", "--data", "leaf:/nowhere.json"], "existing file"),
        (["pmtl", "--model", "cnn"], "16 x 16"),
        (["pmtl", "--device", "cuda"], "no CUDA"),
        (["pmtl", "--budget", "1"], "noise multiplier"),
        (["pmtl", "--delta", "1"], "delta"),
        (["pmtl", "--finetune", "magic", "--rounds", "1"], "one of vanilla"),
        (["pmtl", "--rounds", "many"], "rounds"),
        (["fixed-omega", "--set", "omega=nowhere.npy"], "No such file"),
        (["fixed-omega", "--set", "omega=nowhere"], "mean-regularised"),
        (["pmtl", "--seed", "-1"], "at least 0"),
        (["pmtl", "--engine", "shards=0"], "at least 1"),
        (["pmtl", "--out", "somewhere"], "dpcert experiment NAME"),
        (["pmtl", "--engine", "solver"], "KEY=VALUE"),
        (["pmtl", "--engine", "solfer=loop"], "(did you mean solver?)"),
        (["pmtl", "--engine", "chunk=many"], "a number"),
        (["pmtl", "--finetune", "ewc,strong=2"], "one of strength, epochs"),
        (["clustered-pmtl", "--set", "clusters=101"], "number of clients, 10"),
        (["clustered-pmtl", "--set", "clusters=nowhere.json"], "JSON file"),
        (["pmtl", "--sweep", "rounds"], "dpcert experiment NAME"),
        (["mocha"], "dpcert mocha mocha"),
        (["dpfedmtl", "--variant", "clipped"], "dpcert train dpfedmtl-clipped"),
        (["pp-sgd", "--alpha", "2"], "--set alpha=VALUE"),
        (["pmtl", "--solver", "loop"], "--engine solver=VALUE"),
    ],
)
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_bad_input_is_exit_code_2(capsys, arguments, expected):
    data = [] if "--data" in arguments else SMALL[:2]
    assert run(["train", *arguments, *data, "--quiet"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert expected in captured.err
    assert captured.err.count("\n") == 1


def test_prediction_of_divergence_goes_to_stderr(capsys):
    assert run(["train", "pmtl-as-printed", *SMALL, "--cohort", "2", "--json"]) == 0
    captured = capsys.readouterr()
    assert "predicted to diverge" in captured.err
    json.loads(captured.out)


def test_sweep_resumes_and_keeps_what_it_has(capsys, tmp_path):
    arguments = ["experiment", "pp-sgd", *SMALL, "--cohort", "5", "--seeds", "2", "--out", str(tmp_path)]
    assert run([*arguments, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    files = sorted((tmp_path / "cells").glob("*.json"))
    assert len(files) == 2 * (1 + 6 * 5)
    assert {row["method"] for row in first["rows"]} >= {"local", "pmtl", "pp-sgd alpha=1", "dp-fedavg + vanilla"}
    assert all(row["seeds"] == 2 and row["standard_error"] is not None for row in first["rows"])
    private = [row for row in first["rows"] if row["noise_multiplier"] and row["method"] == "pmtl"]
    assert all(row["epsilon"] > row["epsilon_printed"] for row in private)
    times = {file: file.stat().st_mtime_ns for file in files[1:]}
    files[0].unlink()
    assert run([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == first["rows"]
    assert {file: file.stat().st_mtime_ns for file in files[1:]} == times
    assert (tmp_path / "table.md").read_text().startswith("| method |")


def test_sweep_of_rounds_and_its_plots(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["experiment", "rounds", *SMALL, *NOISE, "--seeds", "1", "--out", str(tmp_path)]
    assert run([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [file.split("/")[-1] for file in document["plots"]] == ["accuracy.png", "rounds.png"]
    assert all(os.path.getsize(file) > 5000 for file in document["plots"])


def test_unreadable_result_is_named(capsys, tmp_path):
    arguments = ["experiment", "rounds", *SMALL, *NOISE, "--seeds", "1", "--out", str(tmp_path)]
    assert run(arguments) == 0
    file = next((tmp_path / "cells").glob("*.json"))
    file.write_text(file.read_text()[:50])
    capsys.readouterr()
    assert run(arguments) == 2
    assert file.name in capsys.readouterr().err


def test_help_does_not_load_torch():
    code = "import sys, dpcert.cli; dpcert.cli.run(['train', '--help']); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_help_names_every_algorithm(capsys):
    assert tuple(build.ALGORITHMS) == tuple(ALGORITHMS)
    assert run(["train", "--help"]) == 0
    # The help is wrapped, at hyphens too.
    out = "".join(capsys.readouterr().out.split())
    assert all(name in out for name in ALGORITHMS)


def test_only_some_clients_are_evaluated(capsys):
    """The same ones every time and in training and testing; nobody at 0, and the training is the same."""
    found = {}
    for asked in (None, "0", "3", "1000"):
        given = [] if asked is None else ["--evaluate-clients", asked]
        found[asked] = trained(capsys, "pmtl", *SMALL, "--evaluate-every", "2", *given)
    assert found["0"]["test_accuracy"] is None
    assert found["0"]["train_loss"] is None
    assert found["1000"]["history"] == found[None]["history"]
    assert found["3"]["train_loss"] != found[None]["train_loss"]


def test_evaluated_clients_are_who_was_asked_for():
    federation = load_federation("synthetic:related,population=8,samples=10")
    kept = Settings(rounds=1, cohort=4, seed=2, evaluate_clients=3)
    trainer = Trainer(federation, Pmtl(), settings=kept)
    trainer.run()
    clients = trainer.evaluated.clients
    every = Trainer(federation, Pmtl(), settings=replace(kept, evaluate_clients=None))
    every.run()
    assert len(set(clients.tolist())) == 3
    assert trainer.scores().loss.tolist() == every.scores().loss[clients].tolist()
    with pytest.raises(InputError, match="evaluate_clients"):
        Settings(evaluate_clients=-1)


def test_shards_follow_the_processes():
    assert [shards_for(size) for size in (1, 2, 3, 5, 12, 13, 40)] == [1, 12, 12, 15, 12, 13, 40]
    assert shards_for(7, 7) == 7
    with pytest.raises(InputError, match="at least the number of processes, 8"):
        shards_for(8, 7)


def test_a_plot_by_round(capsys, tmp_path):
    for name in ("run.png", "run.svg"):
        document = trained(capsys, "pmtl", *SMALL, *NOISE, "--plot", str(tmp_path / name))
        assert [entry["round"] for entry in document["history"]] == [1, 2, 3]
        assert (tmp_path / name).stat().st_size > 1000
    mocha = ["mocha", "mocha", "--data", "synthetic:mean,tasks=4,samples=8,dimension=2", "--rounds", "5", "--quiet"]
    assert run([*mocha, "--plot", str(tmp_path / "gap.png")]) == 0
    assert (tmp_path / "gap.png").exists()
    for bad in (tmp_path / "run.nothing", tmp_path / "nowhere" / "run.png"):
        assert run(["train", "pmtl", *SMALL, "--plot", str(bad)]) == 2
        assert "--plot" in capsys.readouterr().err
    assert run([*mocha, "--clip-norm", "1", "--plot", "x.png"]) == 2


def test_the_released_model_is_saved_and_loads(capsys, tmp_path):
    """What is saved predicts as the trained global model does: the mean test accuracy is the run's own."""
    file = tmp_path / "model.pt"
    document = trained(capsys, "dp-fedavg", *SMALL, *NOISE, "--save", str(file))
    federation = load_federation(SMALL[1], seed=1)
    module = build_model("logistic", federation)
    module.load_state_dict(torch.load(file, weights_only=True))
    right = [
        float((module(torch.tensor(own.test.features).float()).argmax(1).numpy() == own.test.labels).mean())
        for own in federation.clients
    ]
    assert sum(right) / len(right) == pytest.approx(document["test_accuracy"], abs=1e-12)


@pytest.mark.parametrize("algorithm", ["local", "naive-joint", "fixed-omega", "dpfedmtl"])
def test_algorithms_without_a_released_model_say_so(capsys, algorithm, tmp_path):
    assert run(["train", algorithm, *SMALL, "--save", str(tmp_path / "model.pt")]) == 2
    assert "releases no single one" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_epsilon_against_each_observer(capsys):
    document = trained(capsys, "pmtl", *SMALL, *NOISE)
    found = {seen["observer"]: seen["epsilon_upper"] for seen in document["privacy"]["observers"]}
    assert found["server"] == "inf"
    assert found["all-other-clients"] == pytest.approx(document["privacy"]["epsilon_upper"], rel=1e-6)
    assert any("not released" in told for told in document["privacy"]["assumptions"])
    unknown = trained(capsys, "dp-fedavg", *SMALL, *NOISE, "--sampling", "fixed-size")["privacy"]
    assert unknown["observers"] == []
    assert "how many there are to draw from" in unknown["observers_unknown"]


def test_too_long_steps_are_said_before_training(capsys, tmp_path):
    """Pictures that are white almost everywhere, as LEAF's FEMNIST: SGD at the default rate diverges; inverted not."""
    rng = np.random.default_rng(0)
    users = {
        str(user): {"x": np.round(1 - (rng.random((30, 300)) < 0.1) * rng.random((30, 300)), 3).tolist(),
                    "y": rng.integers(0, 10, 30).tolist()}
        for user in range(4)
    }  # fmt: skip
    document = {"users": list(users), "num_samples": [30] * 4, "user_data": users}
    (tmp_path / "white.json").write_text(json.dumps(document))
    for features, warned in (("as-written", True), ("inverted", False)):
        data = f"leaf:{tmp_path / 'white.json'},features={features}"
        assert run(["train", "local", "--data", data, "--rounds", "1", "--quiet", "--seed", "1"]) == 0
        assert ("learning rate 0.1 is too large" in capsys.readouterr().err) == warned
