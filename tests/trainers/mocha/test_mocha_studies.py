"""MOCHA's experiments on small made tasks: resumable, with the time model's numbers by hand, and what they show."""

from __future__ import annotations

import numpy as np
import pytest
from cases import few

from dpcert.mechanisms import InputError
from dpcert.trainers.experiments.mocha import studies
from dpcert.trainers.experiments.mocha.baselines import LAMBDAS, MODELS, cross_validated, mean_error
from dpcert.trainers.experiments.mocha.recorder import elapsed, round_work
from dpcert.trainers.experiments.mocha.studies import (
    Study,
    figure1,
    figure2,
    figure3,
    private_cells,
    private_table,
    table1,
    table4,
)
from dpcert.trainers.experiments.mocha.tables import curves_of, draw, drop_table, error_table, time_table
from dpcert.trainers.experiments.sweep import run_cells
from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.omegas import clustered_covariance
from dpcert.trainers.mocha.tasks import Tasks, related_tasks

DATA = "synthetic:clustered,tasks=4,dimension=3,samples=10"


@pytest.fixture
def short(monkeypatch):
    """Studies of few, short cells."""
    for name, value in {
        "ROUNDS": 60,
        "DROPPED_ROUNDS": 150,
        "PASSES": (1.0,),
        "BATCHES": (1.0,),
        "THETAS": (0.8,),
        "SCALINGS": (1.0,),
        "STEPS": (0.1,),
        "DROPS": (0.0, 0.5),
    }.items():
        monkeypatch.setattr(studies, name, value)
    monkeypatch.setattr("dpcert.trainers.mocha.cocoa.LONGEST", 20)


def test_the_time_model_by_hand():
    """8, 6 and 4 operations a sample visited; under CoCoA all wait for the slowest; 10, 100 and 1000 a round."""
    steps = np.array([3, 5, 0])
    assert [round_work(method, steps) for method in ("mocha", "cocoa", "mb-sdca", "mb-sgd")] == [64, 120, 48, 32]
    work, rounds = np.array([64.0, 128.0]), np.array([1.0, 2.0])
    assert elapsed(work, rounds, "WiFi").tolist() == [74, 148]
    assert elapsed(work, rounds, "LTE").tolist() == [164, 328]
    assert elapsed(work, rounds, "3G").tolist() == [1064, 2128]


@pytest.mark.parametrize("study", few([figure1, figure2, figure3], 6))
def test_studies_resume_and_draw(short, tmp_path, study):
    name, cells = study.__name__, study(Study(DATA, None, 0.1, 1))
    first = run_cells(cells, tmp_path)

    def refuse():
        raise AssertionError("computed again")

    assert run_cells(dict.fromkeys(cells, refuse), tmp_path) == first
    victim = tmp_path / "cells" / f"{next(iter(cells))}.json"
    victim.write_text("{")
    with pytest.raises(InputError, match="damaged"):
        run_cells(cells, tmp_path)
    for curve in curves_of(first):
        assert (np.diff(curve.work) >= 0).all()
        assert curve.excess[-1] >= -1e-9
    assert (drop_table if name == "figure3" else time_table)(first).count("|") > 10
    drawn = draw(name, first, tmp_path)
    assert drawn is not None
    assert drawn.stat().st_size > 1000


def test_a_node_that_never_answers_keeps_the_optimum_away(short, tmp_path):
    results = run_cells(figure3(Study(DATA, None, 0.1, 1)), tmp_path)
    last = {curve.label: curve.excess[-1] for curve in curves_of(results)}
    assert last["p=0"] < 1e-3
    assert last["p=0.5"] < 1e-2
    assert last["never"] > 10 * last["p=0.5"]


def test_multi_task_learning_beats_local_and_global_on_clustered_tasks():
    """Two opposite groups of alike tasks with few samples: what Table 1 is about, with known relationships."""
    covariance = clustered_covariance(8, 0.98)
    tasks, _ = related_tasks(8, 6, 60, covariance, np.random.default_rng(0), noise=0.0)
    train, test = tasks.take([range(12)] * 8), tasks.take([range(12, 60)] * 8)
    errors = {}
    for name, fit in MODELS.items():
        weights = fit(train, LOSSES["hinge"], 1e-2, 0)
        assert weights.shape == (6, 8)
        errors[name] = mean_error(test, weights)
    assert errors["mtl"] < errors["local"] - 0.02
    assert errors["local"] < errors["global"]


def test_cross_validation_picks_the_lambda_that_predicts(monkeypatch):
    """A made-up fit that is right at one lambda only."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 2))
    tasks = Tasks((x, x[:3]), (np.sign(x[:, 0]), np.sign(x[:3, 0])))

    def fit(tasks, loss, regularisation, seed):
        right = 1.0 if regularisation == LAMBDAS[4] else -1.0
        return np.array([[right] * tasks.count, [0.0] * tasks.count])

    assert cross_validated(fit, tasks, LOSSES["hinge"], 0) == LAMBDAS[4]
    assert mean_error(tasks, fit(tasks, None, LAMBDAS[4], 0)) == 0
    assert mean_error(tasks, fit(tasks, None, LAMBDAS[0], 0)) == 1


def test_the_error_table_has_means_and_standard_errors():
    results = [
        {"model": model, "seed": seed, "lambda": 0.1, "error": error / 100}
        for model, errors in {"global": (5, 7), "mtl": (1, 2)}.items()
        for seed, error in enumerate(errors)
    ]
    table = error_table(results)
    assert "| global | 6.00 (1.00) | +4.50 (0.50) | 0.1 |" in table
    assert "| mtl | 1.50 (0.50) |  | 0.1 |" in table
    alone = error_table([result for result in results if result["seed"] == 0])
    assert "| global | 5.00 | +4.00 | 0.1 |" in alone


def curve(method, label, seed, times, excess):
    return {"method": method, "label": label, "seed": seed, "rounds": times, "work": times, "primal": excess}


def made_results():
    """An optimum of 1; two seeds that come to 1% after 10 and 30 rounds, and a method of which one never does."""
    results = [{"method": "optimum", "seed": seed, "value": 1.0} for seed in (0, 1)]
    results += [curve("mocha", "passes=1", 0, [1.0, 10.0, 100.0], [2.0, 1.005, 1.001])]
    results += [curve("mocha", "passes=1", 1, [1.0, 30.0, 100.0], [2.0, 1.005, 1.001])]
    results += [curve("cocoa", "theta=0.5", 0, [1.0, 50.0], [2.0, 1.001])]
    return [*results, curve("cocoa", "theta=0.5", 1, [1.0, 50.0], [2.0, 1.1])]


def test_tables_of_several_seeds_have_standard_errors(tmp_path):
    """WiFi: 10 + 100 and 30 + 300 operations, in thousands; the band is drawn."""
    results = made_results()
    table = time_table(
        [{**entry, "work": [1e3 * w for w in entry["work"]]} if "work" in entry else entry for entry in results]
    )
    assert "| mocha | 20 (10) passes=1 |" in table
    assert "| cocoa | not reached (0.05) theta=0.5 |" in table
    whole = [{"method": "whole", "label": "passes=1", "seed": s, "primal": [3.0, 2.0 + s]} for s in (0, 1)]
    drops = drop_table([entry for entry in results if entry["method"] != "cocoa"] + whole)
    assert "| passes=1 | 20 (10) | 0.001 (0) | 2.5000 (0.5000) | 0.000 (0.000)% |" in drops
    (tmp_path / "alone").mkdir()
    drawn = draw("figure1", results, tmp_path)
    alone = draw("figure1", [entry for entry in results if entry["seed"] == 0], tmp_path / "alone")
    assert drawn is not None
    assert alone is not None
    assert drawn.read_bytes() != alone.read_bytes()


def test_bad_studies_are_named():
    with pytest.raises(InputError, match="seeds"):
        Study(DATA, None, 0.1, 0)


def test_the_private_study_has_less_excess_with_less_noise(tmp_path, monkeypatch):
    for name, value in {"MULTIPLIERS": (0.0, 1.0, 100.0), "CLIP_NORM": 0.1}.items():
        monkeypatch.setattr(studies, name, value)
    monkeypatch.setattr("dpcert.trainers.experiments.mocha.baselines.LAMBDAS", (0.1,))
    results = run_cells(private_cells(Study(DATA, None, 0.1, 1)), tmp_path)
    excess = {result["multiplier"]: result["excess"] for result in results if "multiplier" in result}
    assert excess[0.0] < excess[1.0] < excess[100.0]
    assert private_table(results).count("\n") == 5


def test_a_shorter_study_has_fewer_rounds_and_results_of_its_own(short, tmp_path):
    whole, shorter = Study(DATA, None, 0.1, 1), Study(DATA, None, 0.1, 1, shorter=5)
    assert whole.key("figure2") != shorter.key("figure2")
    most = {
        study: max(len(c.excess) for c in curves_of(run_cells(figure2(study), tmp_path / str(study.shorter))))
        for study in (whole, shorter)
    }
    assert most[shorter] < most[whole]
    with pytest.raises(InputError, match="shorter"):
        Study(DATA, None, 0.1, 1, shorter=0)


def test_table_4_is_table_1_on_fewer_samples_tested_on_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("dpcert.trainers.experiments.mocha.baselines.LAMBDAS", (0.1,))
    seen = []
    real = studies.mean_error
    monkeypatch.setattr(studies, "mean_error", lambda tasks, weights: seen.append(tasks) or real(tasks, weights))
    study = Study(DATA, None, 0.1, 1)
    plain, skewed = (run_cells(made(study), tmp_path / made.__name__) for made in (table1, table4))
    assert {tuple(result["sizes"]) for result in plain} == {(8, 8, 8, 8)}
    assert [sorted(result["sizes"]) for result in skewed] == [[1, 1, 2, 8]] * len(MODELS)
    assert all(tasks.sizes.tolist() == [2, 2, 2, 2] for tasks in seen)
    assert all(np.array_equal(a, b) for a, b in zip(seen[0].features, seen[-1].features, strict=True))
    assert error_table(skewed).count("\n") == 1 + len(MODELS)
