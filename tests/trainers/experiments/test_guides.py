"""The guides' tables are those of the recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcert.trainers.experiments.fair import as_markdown
from dpcert.trainers.experiments.grids import grid
from dpcert.trainers.experiments.runs import read_runs
from dpcert.trainers.experiments.table import summarise

DOCS = Path(__file__).parents[3] / "docs"
TABLES = [
    ("dpfedmtl.md", "dpfedmtl-femnist.json"),
    ("trainers.md", "privacy-utility-femnist.json"),
    ("trainers.md", "finetuning-femnist.json"),
    ("trainers.md", "pp-sgd-femnist.json"),
]


@pytest.mark.parametrize(("guide", "runs"), TABLES)
def test_the_guide_s_table_is_that_of_the_recorded_runs(guide, runs):
    results = read_runs(DOCS / "results" / runs)
    text = (DOCS / guide).read_text(encoding="utf-8")
    assert grid(summarise(results)) in text
    # Planted: one run with another accuracy.
    results[-1]["test_accuracy"] += 0.01
    assert grid(summarise(results)) not in text


@pytest.mark.parametrize("runs", ["fair-femnist.json", "fair-synthetic-quick.json"])
def test_the_fair_comparison_s_table_is_that_of_the_recorded_runs(runs):
    results = read_runs(DOCS / "results" / runs)
    text = (DOCS / "trainers.md").read_text(encoding="utf-8")
    assert as_markdown(results) in text
    results[-1]["test_accuracy"] += 0.01  # planted
    assert as_markdown(results) not in text
