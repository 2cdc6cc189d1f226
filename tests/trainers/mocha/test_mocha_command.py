"""dpcert mocha: the contract's options, JSON and exit codes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cases import few

from dpcert.accounting.epsilon import epsilon
from dpcert.cli import run
from dpcert.mechanisms.serialise import from_plain
from dpcert.trainers.mocha import methods
from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.methods import Alternating, WeightStep
from dpcert.trainers.mocha.omegas import OMEGAS, fixed_identity
from dpcert.trainers.mocha.run import Run
from dpcert.trainers.mocha.source import load_problem
from dpcert.trainers.names import METHODS

DATA = Path(__file__).parents[4] / "shared" / "data"
published = pytest.mark.skipif(not DATA.is_dir(), reason="the authors' landmine data are not beside this checkout")
TINY = ["--data", "synthetic:clustered,tasks=4,dimension=3,samples=10", "--lambda", "0.1", "--seed", "1", "--quiet"]
NOISE = ["--noise-multiplier", "4", "--clip-norm", "0.1"]


def trained(capsys, *arguments):
    assert run(["mocha", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    assert run(["mocha", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def test_names_are_those_that_can_be_built():
    assert tuple(dict.fromkeys(name for name, _ in methods.KINDS)) == METHODS


@pytest.mark.parametrize("algorithm", [name for name in METHODS if name not in ("mocha-alternating", "mocha")])
@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_the_other_methods(capsys, algorithm, loss):
    document = trained(capsys, algorithm, *TINY, "--loss", loss, "--rounds", "50")
    assert document["algorithm"] == algorithm
    assert document["rounds"] <= 50
    assert 0 <= document["test_accuracy"] <= 1
    assert document["gap"] >= 0
    assert document["gap"] == pytest.approx(document["primal"] - document["dual"], abs=1e-12)
    assert document["privacy"] is None


@pytest.mark.parametrize("omega", few(OMEGAS, 4))
def test_mocha_reaches_its_tolerance_for_every_omega(capsys, tmp_path, omega):
    (tmp_path / "ring.txt").write_text("0 1\n1 2\n2 3\n3 0\n")
    np.save(tmp_path / "s.npy", np.eye(4) + 0.5)
    files = {"graph-laplacian": ["--graph", "ring.txt"], "known": ["--covariance", "s.npy"]}.get(omega, [])
    own = [part if part.startswith("--") else str(tmp_path / part) for part in files]
    document = trained(capsys, "mocha", *TINY, "--omega", omega, "--clusters", "2", "--tolerance", "1e-5", *own)
    assert document["converged"]
    assert 0 <= document["gap"] <= 1e-5 * document["primal"]
    rounds = [record["round"] for record in document["history"]]
    assert rounds == sorted(set(rounds))
    assert all(record["gap"] >= 0 for record in document["history"])


def test_algorithm_1_whole_comes_to_the_joint_optimum(capsys, monkeypatch):
    """Unless its smoothing stays, or ends at once, the planted faults: then it stalls above."""

    def whole():
        ends = ["--tolerance", "1e-3", "--rounds", "600"]
        return trained(capsys, "mocha-alternating", *TINY, "--omega", "learned", *ends)

    best = trained(capsys, "mocha", *TINY, "--omega", "learned", "--tolerance", "1e-5")
    done = whole()
    assert done["converged"]
    assert best["dual"] <= done["primal"] <= best["primal"] * (1 + 1e-3)
    assert done["dual"] <= best["primal"]
    for falling in (0.0, 20.0):
        monkeypatch.setattr(methods, "Alternating", partial(Alternating, falling=falling))
        stalled = whole()
        assert not stalled["converged"]
        assert stalled["primal"] > best["primal"] * (1 + 2e-3)


@published
def test_the_recorded_data_and_split(capsys):
    """The contract's own example: the authors' optimum to 1e-6."""
    split = DATA / "mocha_oracle.json"
    arguments = ["--data", f"mat:{DATA / 'landmine-29-tasks.mat'}", "--split-file", str(split), "--lambda", "1e-2"]
    document = trained(capsys, "mocha", *arguments, "--omega", "fixed-identity", "--tolerance", "1e-6", "--quiet")
    recorded = json.loads(split.read_text())["runs"]["mocha_1e-2"]
    assert document["primal"] == pytest.approx(recorded["primal"][-1], rel=1e-6)
    assert document["test_accuracy"] == pytest.approx(1 - recorded["err"][-1], abs=0.01)
    assert document["tasks"] == 29


def test_private_mocha_tells_its_cost(capsys):
    document = trained(capsys, "mocha", *TINY, *NOISE, "--rounds", "12", "--delta", "1e-3")
    mechanism = from_plain(document["mechanism"])
    expected = epsilon(mechanism, 1e-3, "replace-one", notion="billboard")
    assert document["rounds"] == 12
    assert document["privacy"]["epsilon_upper"] == pytest.approx(expected.upper)
    assert document["privacy"]["certified"]
    assert document["privacy"]["observers"]["the server"] == ["inf", "inf"]
    assert "ours" in document["variant"]
    assert document["gap"] >= 0


def test_a_target_epsilon_is_met(capsys):
    arguments = ["--clip-norm", "0.1", "--target-epsilon", "2", "--rounds", "7", "--delta", "1e-3"]
    privacy = trained(capsys, "mocha", *TINY, *arguments)["privacy"]
    assert 1.99 < privacy["epsilon_upper"] <= 2


def test_clipping_without_noise_is_not_private(capsys):
    document = trained(capsys, "mocha", *TINY, "--clip-norm", "0.1", "--rounds", "5")
    assert document["privacy"] is None


def test_a_learned_omega_can_be_private(capsys):
    document = trained(capsys, "mocha", *TINY, *NOISE, "--omega", "learned", "--rounds", "25")
    assert document["privacy"]["epsilon_upper"] > 0
    assert not any("Omega" in assumption for assumption in document["privacy"]["assumptions"])


def test_a_covariance_file_is_omega(capsys, tmp_path):
    np.save(tmp_path / "s.npy", np.eye(4) / 4)
    np.savetxt(tmp_path / "s.csv", np.eye(4) / 4, delimiter=",")
    values = {
        omega: trained(capsys, "mocha", *TINY, "--tolerance", "1e-6", "--omega", omega)["primal"]
        for omega in (str(tmp_path / "s.npy"), str(tmp_path / "s.csv"), "fixed-identity")
    }
    assert len({round(value, 12) for value in values.values()}) == 1


def test_text_output(capsys):
    assert run(["mocha", "mocha", *TINY]) == 0
    shown = capsys.readouterr().out
    assert "optimum in [" in shown
    assert "no privacy" in shown
    assert run(["mocha", "mocha", *TINY, *NOISE, "--rounds", "3"]) == 0
    shown = capsys.readouterr().out
    assert "against the server" in shown
    assert "epsilon in [" in shown


def test_progress_goes_to_stderr(capsys):
    assert run(["mocha", "mocha", *TINY[:-1], "--json"]) == 0
    captured = capsys.readouterr()
    json.loads(captured.out)
    assert "mocha" in captured.err


class Interrupted(WeightStep):
    """Is killed in round 35."""

    def round(self, state, rng):
        if state.rounds == 35:
            raise KeyboardInterrupt
        return super().round(state, rng)


def test_a_run_resumes_to_the_bit(tmp_path, monkeypatch):
    """Saved every round, killed in round 35, resumed: the same weights, bounds and history as without a stop."""
    monkeypatch.setattr("dpcert.trainers.mocha.run.SAVE_EVERY", 0.0)
    tasks = load_problem(TINY[1], None, 1).train
    setting = methods.Setting(tasks, LOSSES["hinge"], fixed_identity(4), 0.01)
    plain = Run(WeightStep(setting), "same", seed=2).solve(80)
    with pytest.raises(KeyboardInterrupt):
        Run(Interrupted(setting), "same", seed=2, checkpoint=tmp_path / "run").solve(80)
    resumed = Run(WeightStep(setting), "same", seed=2, checkpoint=tmp_path / "run")
    assert resumed.state.rounds == 35
    outcome = resumed.solve(80)
    assert outcome.weights.tobytes() == plain.weights.tobytes()
    assert (outcome.primal, outcome.dual, outcome.history) == (plain.primal, plain.dual, plain.history)


def test_the_gap_of_every_round_is_reported(capsys):
    for how in ([], ["--evaluate-every", "1"]):
        told = trained(capsys, "mocha", *TINY, *how, "--rounds", "60", "--tolerance", "1e-12")
        assert [entry["round"] for entry in told["history"]] == list(range(61))
        assert all(entry["gap"] >= 0 for entry in told["history"])


def test_the_last_round_is_always_in_the_history(capsys):
    told = trained(capsys, "mocha", *TINY, "--evaluate-every", "5", "--rounds", "12", "--tolerance", "1e-12")
    assert [entry["round"] for entry in told["history"]] == [0, 5, 10, 12]


def test_a_checkpoint_of_another_run_is_refused(capsys, tmp_path):
    folder = ["--checkpoint", str(tmp_path / "run")]
    first = trained(capsys, "mocha", *TINY, *folder)
    again = trained(capsys, "mocha", *TINY, *folder)
    assert again["rounds"] == first["rounds"]
    assert again["primal"] == first["primal"]
    assert "another" in refused(capsys, "mocha", *TINY, *folder, "--loss", "logistic")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mocha", "--omega", "unknown"], "omega"),
        (["mocha", "--loss", "cubic"], "loss"),
        (["mocha", "--lambda", "0"], "lambda"),
        (["mocha", "--ridge", "-1", "--omega", "mean-regularised"], "ridge"),
        (["mocha", "--tolerance", "0"], "--tolerance"),
        (["mocha", "--tolerance", "nan"], "--tolerance"),
        (["mocha", "--rounds", "0"], "--rounds"),
        (["mocha", "--seed", "-1"], "--seed"),
        (["mocha", "--noise-multiplier", "1"], "--clip-norm"),
        (["mocha", *NOISE, "--noise-std", "1"], "--noise-std"),
        (["mocha", *NOISE, "--tolerance", "0.1"], "--tolerance"),
        (["mocha", *NOISE, "--neighbouring", "add-remove"], "neighbouring"),
        (["mocha", *NOISE, "--omega", "fixed-identity"], "omega"),
        (["mocha", "--noise-multiplier", "-1", "--clip-norm", "1"], "--noise-multiplier"),
        (["cocoa", *NOISE], "METHOD"),
        (["cocoa", "--theta", "0"], "theta"),
        (["cocoa", "--omega", "learned"], "omega"),
        (["mocha-alternating", "--omega", "clustered"], "omega"),
        (["mocha", "--omega", "clustered", "--clusters", "9"], "clusters"),
        (["mocha", "--omega", "clustered", "--clusters", "no.json"], "clusters"),
        (["mocha", "--omega", "no.npy"], "omega"),
        (["mocha", "--sweep", "figure1"], "dpcert experiment NAME"),
        (["mocha", *NOISE, "--evaluate-every", "1"], "--evaluate-every"),
        (["fedmtl"], "mocha-alternating"),
        (["mocha", "--sigma", "1", "--clip-norm", "1"], "--sigma"),
        (["mocha", "--target-epsilon", "1"], "--clip-norm"),
        (["mocha", "--target-epsilon", "0", "--clip-norm", "1"], "--target-epsilon"),
        (["mocha", *NOISE, "--target-epsilon", "1"], "--target-epsilon"),
        (["mocha", "--budget", "1"], "--budget"),
        (["mocha", "--budget", "1", "--clip-norm", "1"], "--budget"),
        (["mocha", "--split-file", "no.json"], "--split-file"),
        (["mocha", "--data", "mat:no.mat"], "path"),
        (["mocha", "--data", "leaf:no"], "data"),
    ],
)
def test_bad_input_is_one_clear_line(capsys, arguments, said):
    name, *rest = arguments
    assert said in refused(capsys, name, *TINY, *rest)


def test_labels_must_suit_the_loss(tmp_path, capsys):
    from scipy.io import savemat

    x, y = np.empty((1, 1), dtype=object), np.empty((1, 1), dtype=object)
    x[0, 0], y[0, 0] = np.eye(4), np.arange(4.0)[:, None]
    savemat(tmp_path / "t.mat", {"X": x, "Y": y})
    data = ["--data", f"mat:{tmp_path / 't.mat'}", "--omega", "fixed-identity", "--quiet"]
    assert "labels" in refused(capsys, "mocha", *data)
    document = trained(capsys, "mocha", *data, "--loss", "squared", "--seed", "0")
    assert document["converged"]
    assert document["test_accuracy"] is None
    assert document["test_loss"] > 0
