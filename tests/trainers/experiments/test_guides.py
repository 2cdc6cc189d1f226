"""The guides' tables are those of the recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcert.trainers.experiments import plots
from dpcert.trainers.experiments.fair import as_markdown
from dpcert.trainers.experiments.plots import draw
from dpcert.trainers.experiments.runs import read_runs
from dpcert.trainers.experiments.table import grid, summarise

DOCS = Path(__file__).parents[3] / "docs"
TABLES = [
    ("dpfedmtl.md", "dpfedmtl-femnist.json"),
    ("trainers/findings.md", "privacy-utility-femnist.json"),
    ("trainers/findings.md", "privacy-utility-cnn-femnist.json"),
    ("trainers/findings.md", "privacy-utility-cnn-noises-femnist.json"),
    ("trainers/findings.md", "dpfedmtl-cnn-femnist.json"),
    ("trainers/findings.md", "dpfedmtl-rounds-cnn-femnist.json"),
    ("trainers/findings.md", "finetuning-femnist.json"),
    ("trainers/findings.md", "finetuning-cnn-femnist.json"),
    ("trainers/findings.md", "pp-sgd-femnist.json"),
]


@pytest.mark.parametrize(("guide", "runs"), TABLES)
def test_the_guide_s_table_is_that_of_the_recorded_runs(guide, runs):
    results = read_runs(DOCS / "results" / runs)
    text = (DOCS / guide).read_text(encoding="utf-8")
    assert grid(summarise(results)) in text
    # Planted: one run with another accuracy.
    results[-1]["test_accuracy"] += 0.01
    assert grid(summarise(results)) not in text


@pytest.mark.parametrize("runs", ["fair-femnist.json", "fair-cnn-femnist.json", "fair-synthetic-quick.json"])
def test_the_fair_comparison_s_table_is_that_of_the_recorded_runs(runs):
    results = read_runs(DOCS / "results" / runs)
    text = (DOCS / "trainers" / "findings.md").read_text(encoding="utf-8")
    assert as_markdown(results) in text
    results[-1]["test_accuracy"] += 0.01  # planted
    assert as_markdown(results) not in text


def test_a_plot_s_axis_names_upper_bounds_as_the_table_does(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from matplotlib.axes import Axes

    told: list[list[str]] = []
    monkeypatch.setattr(Axes, "set_xticks", lambda axes, ticks, labels: told.append(labels))
    draw(read_runs(DOCS / "results" / "privacy-utility-femnist.json"), tmp_path)
    assert told == [["1.49", "3.23", "7.19", "16.6", "38.7"]]
    # Planted: rounded to the nearest, below what was spent; and no room for the second of two close ones.
    monkeypatch.setattr(plots, "upper", lambda value: f"{value:.3g}")
    monkeypatch.setattr(plots, "TICK_ROOM", 0.3)
    draw(read_runs(DOCS / "results" / "privacy-utility-femnist.json"), tmp_path)
    assert told[1] == ["1.48", "7.18", "38.6"]


def test_losses_at_different_epsilons_are_different_curves(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from matplotlib.axes import Axes

    drawn: dict[str, list[float]] = {}
    errorbar = Axes.errorbar

    def noted(axes, x, y, *more, **named):
        drawn[named["label"]] = y.tolist()
        return errorbar(axes, x, y, *more, **named)

    monkeypatch.setattr(Axes, "errorbar", noted)
    results = [
        {
            "algorithm": "pmtl",
            "finetune": "",
            "target_epsilon": target,
            "history": [{"round": 1, "train_loss": loss}, {"round": 2, "train_loss": 1.0}],
        }
        for target, loss in ((0.5, 4.0), (0.5, 6.0), (2.0, 3.0))
    ]
    plots._rounds(results, tmp_path / "rounds.png")
    assert drawn == {"pmtl, epsilon 0.5": [5.0, 1.0], "pmtl, epsilon 2": [3.0, 1.0]}
