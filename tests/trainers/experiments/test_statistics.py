"""The sizes of data sets as the papers print them, as they are, and where a printed number contradicts the others."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from dpcert.cli import run
from dpcert.trainers.experiments import sizes
from dpcert.trainers.experiments.sizes import PRINTED, Part, Statistics, dpfedmtl_table
from dpcert.trainers.federated import load_federation
from dpcert.trainers.mocha.source import SIZES, highly_skewed, load_problem

LANDMINE = Path("../shared/data/landmine-29-tasks.mat")


def test_moments_by_hand():
    """Sizes 1, 1, 4: mean 2, variance 2, third central moment (-1 - 1 + 8) / 3 = 2, over 2^1.5."""
    part = Part.of(np.array([1, 1, 4]))
    assert (part.samples, part.mean) == (6, 2.0)
    assert part.deviation == pytest.approx(2**0.5)
    assert part.skewness == pytest.approx(2**-0.5)
    assert Part.of(np.array([3, 3])).skewness == 0.0


def test_a_printed_mean_that_is_no_quotient_is_shown_beside_the_quotient(monkeypatch):
    assert "199.83 train samples per client for FEMNIST" in dpfedmtl_table(())
    assert "are 199.49" in dpfedmtl_table(())
    assert dpfedmtl_table(()).count("The paper prints") == 1
    celeba, _ = PRINTED
    monkeypatch.setattr(sizes, "PRINTED", (celeba,))
    assert "The paper prints" not in dpfedmtl_table(())


def test_the_command_prints_table_1_of_any_data(capsys):
    asked = ["experiment", "dpfedmtl-table1", "--data", "synthetic:related,population=8,samples=10"]
    assert run(asked) == 0
    assert "| synthetic:related,population=8,samples=10 | 8 | 40 | 5.00 | 0.00 | 0.00 | 40 |" in capsys.readouterr().out
    assert run([*asked, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    own = asdict(Statistics.of(asked[-1], load_federation(asked[-1])))
    assert [row["name"] for row in rows] == ["CelebA", "FEMNIST", asked[-1]]
    assert rows[-1] == own
    assert run(["experiment", "dpfedmtl-table1", "--data", "leaf:nowhere.json"]) == 2
    assert "nowhere.json" in capsys.readouterr().err


def test_the_known_sizes_are_those_of_the_data():
    assert sum(SIZES["human-activity"].samples) == 10_299  # as its publisher states, of 30 people
    assert [len(size.samples) for size in SIZES.values()] == [29, 30, 38, 23]
    if LANDMINE.exists():
        whole = load_problem(f"mat:{LANDMINE},fraction=0.5")
        assert tuple((whole.train.sizes + whole.test.sizes).tolist()) == SIZES["landmine"].samples


def test_synthetic_tasks_of_the_same_sizes():
    problem = load_problem("synthetic:clustered,sizes=landmine")
    assert tuple((problem.train.sizes + problem.test.sizes).tolist()) == SIZES["landmine"].samples
    assert problem.train.dimension == 9


def test_highly_skewed_sizes_span_two_orders_of_magnitude():
    train = load_problem("synthetic:mean,tasks=5,samples=800,dimension=2").train
    skewed = highly_skewed(train, np.random.default_rng(0))
    assert sorted(skewed.sizes.tolist()) == [6, 19, 60, 190, 600]
    assert [len(x) for x in skewed.features] == skewed.sizes.tolist()
    for own, all_of_it in zip(skewed.features, train.features, strict=True):
        assert {tuple(row) for row in own} <= {tuple(row) for row in all_of_it}
    tiny = load_problem("synthetic:mean,tasks=5,samples=4,dimension=2").train
    assert highly_skewed(tiny, np.random.default_rng(0)).sizes.min() == 1


def test_the_command_prints_sizes_and_refuses_what_is_not_there(capsys):
    assert run(["experiment", "mocha-sizes", "--data", "synthetic:mean,tasks=3,samples=8,dimension=2"]) == 0
    out = capsys.readouterr().out
    assert "| its training part | 3 | 2 | 6 | 6 | 18 | split at random |" in out
    assert "| human-activity | 30 | 561 | 281 | 409 | 10,299 |" in out
    for data, named in (
        ("synthetic:mean,sizes=landmines", "landmine"),
        ("synthetic:mean,sizes=landmine,tasks=3", "tasks"),
    ):
        assert run(["experiment", "mocha-sizes", "--data", data]) == 2
        assert named in capsys.readouterr().err
