"""Noise on a mean over the units that are there, under add-remove: no command prices it as if its divisor stayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcert.cli import run

NOISE = ["--noise-std", "0.1", "--clip-norm", "1", "--rounds", "3", "--population", "10"]
FALLS = [[], ["--sampling", "fixed-size", "--cohort", "10"], ["--sampling", "cyclic", "--cohort", "5"]]
SOLVE = ["--epsilon", "8", "--delta", "1e-5", "--solve-for"]
SCHEDULE = """
[[phase]]
mechanism = {kind = "gaussian-mean", noise_std = 0.1, clip_norm = 1.0}
sampling = {scheme = "none", population = 10}
"""


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "divides by one less when a unit leaves" in capsys.readouterr().err


@pytest.mark.parametrize("sampling", FALLS)
def test_add_remove_of_a_mean_over_everybody_is_refused(
    sampling: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["epsilon", "--delta", "1e-5", *NOISE, *sampling], capsys)
    refused(["delta", "--epsilon", "1", *NOISE, *sampling], capsys)
    refused(["risk", "--fpr", "0.01", *NOISE, *sampling], capsys)
    refused(["calibrate", *SOLVE, "noise-std", *NOISE[2:], *sampling], capsys)
    (tmp_path / "run.toml").write_text(SCHEDULE)
    refused(["calibrate", *SOLVE, "noise-multiplier", "--schedule", str(tmp_path / "run.toml")], capsys)


@pytest.mark.parametrize(
    ("beside", "epsilon"),
    [
        (["--neighbouring", "replace-one"], 20.125),
        (["--neighbouring", "zero-out"], 8.385),
        (["--sampling", "poisson", "--cohort", "10"], 8.385),
    ],
)
def test_what_to_state_instead(beside: list[str], epsilon: float, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["epsilon", "--delta", "1e-5", *NOISE, *beside, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epsilon_upper"] == pytest.approx(epsilon, abs=1e-3)
