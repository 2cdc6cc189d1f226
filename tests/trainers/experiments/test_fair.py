"""dpcert experiment fair: trials see no test sample, every method has as many, the best is reported; it all resumes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.trainers.data.federation import hold_out
from dpcert.trainers.experiments import fair, sweep
from dpcert.trainers.experiments.cell import Cell
from dpcert.trainers.federated import load_federation

torch.set_num_threads(1)
DATA = "synthetic:related,population=8,samples=20,features=4"
PLAN = fair.Plan((5.0, None), 2, (2, 3))


def base():
    return Cell("pmtl", DATA, 0, cohort=4)


def test_validation_samples_are_training_samples_and_never_test_samples():
    federation = load_federation(DATA, seed=1)
    held = hold_out(federation, 0.2, seed=1)
    for own, other in zip(federation.clients, held.clients, strict=True):
        rows = {tuple(row) for row in own.train.features}
        train, validation = ({tuple(row) for row in part.features} for part in (other.train, other.test))
        assert train | validation == rows
        assert not train & validation
        assert len(validation) == round(0.2 * len(rows))
    again = hold_out(federation, 0.2, seed=1)
    assert all(
        np.array_equal(a.test.features, b.test.features) for a, b in zip(held.clients, again.clients, strict=True)
    )


def test_every_method_is_tuned_alike_and_what_was_run_is_kept(tmp_path, monkeypatch):
    results = fair.compare(base(), PLAN, range(2), tmp_path)
    assert len(results) == 2 * (1 + 2 * len(fair.OWN))
    assert len(list((tmp_path / "trials").glob("*.json"))) == 2 * (1 + 2 * len(fair.OWN))
    private = [result for result in results if result["target"] == 5.0]
    tuned = {result["algorithm"] + " + fine-tuning" * bool(result["finetune"]) for result in private}
    assert tuned == set(fair.OWN)
    assert all(4.9 < result["epsilon_upper"] <= 5.0 * (1 + 1e-5) for result in private)
    trials = [json.loads(file.read_text()) for file in (tmp_path / "trials").glob("*.json")]
    for result in results:
        noisy = result["target"] == 5.0
        after = bool(result["finetune"])
        same = [t for t in trials if t["algorithm"] == result["algorithm"] and bool(t["finetune"]) == after]
        own = [trial["test_accuracy"] for trial in same if bool(trial["noise_multiplier"]) == noisy]
        assert len(own) == PLAN.budget
        assert result["validation_accuracy"] == max(own)

    def refuse(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr(sweep, "train_cell", refuse)
    assert fair.compare(base(), PLAN, range(2), tmp_path) == results
    assert fair.as_markdown(results).count("| 5.0 |") == len(fair.OWN)


@pytest.mark.parametrize("plan", [fair.FULL, fair.QUICK])
def test_every_method_has_at_least_as_many_settings_as_trials(plan):
    """So that all have the same number of trials; without epochs of its own training alone has 12 settings for 16."""
    common = len(fair.LEARNING_RATES) * len(plan.rounds)
    for own in (*fair.OWN.values(), fair.LOCAL):
        assert common * math.prod(map(len, own.values())) >= plan.budget
    assert len(fair.LEARNING_RATES) * len(fair.FULL.rounds) < fair.FULL.budget


def test_trials_are_judged_on_validation_samples_alone(tmp_path, monkeypatch):
    seen = []
    real = sweep.train_cell

    def watched(cell, federation):
        seen.append({tuple(row) for client in federation.clients for row in client.test.features})
        return real(cell, federation)

    monkeypatch.setattr(sweep, "train_cell", watched)
    fair.compare(base(), fair.Plan((None,), 1, (2,)), [0], tmp_path)
    tests = {tuple(row) for client in load_federation(DATA, seed=0).clients for row in client.test.features}
    trials, finals = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert all(not part & tests for part in trials)
    assert all(part == tests for part in finals)


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(fair, "QUICK", fair.Plan((None,), 1, (2,)))
    asked = ["experiment", "fair", "--data", DATA, "--cohort", "4", "--quick", "--seeds", "1", "--quiet"]
    assert run([*asked, "--out", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["runs"]) == 1 + len(fair.OWN)
    assert "not accounted for" in (tmp_path / "table.md").read_text()
    for more, named in (
        (["--lambda", "2"], "--lambda"),
        (["--rounds", "3"], "--rounds"),
        (["--finetune", "vanilla"], "--finetune"),
        (["--clip-norm", "1"], "--clip"),
    ):
        assert run([*asked, *more]) == 2
        assert named in capsys.readouterr().err
    assert run(["train", "pmtl", "--quick"]) == 2
    assert run(["mocha", "mocha", "--quick"]) == 2


@pytest.mark.parametrize(
    ("family", "sweep", "methods"),
    [("pmtl", "rounds", 5), ("dpfedmtl", "dpfedmtl-rounds", 5)],
    ids=["pmtl", "dpfedmtl"],
)
def test_quick_is_one_seed_of_few_rounds(family, sweep, methods, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("dpcert.cli.experiment_run.QUICK_ROUNDS", 2)
    asked = ["experiment", sweep, "--data", DATA, "--cohort", "4", "--quick", "--quiet"]
    assert run([*asked, "--seeds", "3", "--out", str(tmp_path), "--json", "--dtype", "float64"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == methods
    assert found["dtype"] == ["float64"]
    assert set(found["solver"]) <= {"dual", "loop"}
    assert run([*asked, "--out", str(tmp_path), "--dtype", "float64"]) == 0
    place = f"in float64; solver: {', '.join(found['solver'])}"
    assert f"{methods} runs in {tmp_path}, on {found['device'][0]} {place}\n" in capsys.readouterr().out
    cells = [json.loads(file.read_text()) for file in (tmp_path / "cells").glob("*.json")]
    assert len(cells) == methods
    assert {(cell["rounds"], cell["seed"], len(cell["history"])) for cell in cells} == {(2, 0, 2)}
    assert sum(cell["sigma"] > 0 for cell in cells) == (2 if family == "dpfedmtl" else 0)


def test_a_damaged_trial_is_named(tmp_path):
    fair.compare(base(), fair.Plan((None,), 1, (2,)), [0], tmp_path)
    next((tmp_path / "trials").glob("*.json")).write_text("{")
    with pytest.raises(InputError, match="damaged"):
        fair.compare(base(), fair.Plan((None,), 1, (2,)), [0], tmp_path)
