"""--sampling cyclic, shuffle, random-allocation, and cut cohorts: what they cost, how many rounds a target allows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cases import at_night

from dpcert.accounting import epsilon as epsilon_of
from dpcert.cli import run
from dpcert.mechanisms import Cyclic, Gaussian, Mechanism, RandomAllocation, Repeat, Shuffled, TruncatedPoisson

ALLOCATED = ["--sampling", "random-allocation", "--block", "20"]
CYCLIC = ["--sampling", "cyclic", "--population", "1000", "--cohort", "50"]
SHUFFLED = ["--sampling", "shuffle", "--population", "1000", "--cohort", "50"]
TARGET = ["--delta", "1e-5", "--neighbouring", "zero-out", "--json"]


def _asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert run(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "step", "rounds"),
    [
        (ALLOCATED, RandomAllocation(Gaussian(2.0), 20), 40),
        ([*ALLOCATED, "--per-block", "4"], RandomAllocation(Gaussian(2.0), 20, 4), 40),
        (CYCLIC, Cyclic(Gaussian(2.0), 20), 35),
        (SHUFFLED, Shuffled(Gaussian(2.0), 20, 20), 40),
    ],
)
def test_epsilon_is_the_library_s(capsys, options: list[str], step: Mechanism, rounds: int):
    told = _asked(capsys, "epsilon", "--noise-multiplier", "2", "--rounds", str(rounds), *options, *TARGET)
    found = epsilon_of(Repeat(step, 2), 1e-5, "zero-out")
    assert (told["epsilon_lower"], told["epsilon_upper"]) == (found.lower, found.upper)
    assert told["sampling"] == options[1]


def test_cohorts_that_are_cut(capsys):
    poisson = ["--sampling", "poisson", "--population", "1000", "--cohort", "50", "--max-cohort", "70"]
    told = _asked(capsys, "epsilon", "--noise-multiplier", "2", "--rounds", "10", *poisson, *TARGET)
    found = epsilon_of(Repeat(TruncatedPoisson(Gaussian(2.0), 0.05, 1000, 70), 10), 1e-5, "zero-out")
    assert (told["epsilon_lower"], told["epsilon_upper"]) == (found.lower, found.upper)
    assert told["max_cohort"] == 70


def test_cohorts_that_are_often_full_say_so(capsys):
    """Of 99 others at least ten come up in P(Bin(99, .1) >= 10) = .5355 of the rounds."""
    poisson = ["--sampling", "poisson", "--population", "100", "--cohort", "10", "--max-cohort", "10", "--rounds", "1"]
    assert run(["epsilon", "--noise-multiplier", "2", *poisson, *TARGET[:-1], "--rtol", "0.01"]) == 0
    assert "in 54% of the rounds the other units alone fill the cohort" in capsys.readouterr().out


@pytest.mark.parametrize("options", [ALLOCATED, CYCLIC, SHUFFLED])
def test_as_many_rounds_as_the_target_allows(capsys, options: list[str]):
    noise = ["--noise-multiplier", "4", *options]
    told = _asked(capsys, "calibrate", "--epsilon", "2.5", "--solve-for", "rounds", *noise, *TARGET)
    assert told["epsilon_upper"] <= 2.5
    assert told["value"] % 20 == 0 == told["rounds"] - told["value"]
    again = _asked(capsys, "epsilon", "--rounds", str(told["value"]), *noise, *TARGET)
    assert again["epsilon_upper"] == told["epsilon_upper"]
    over = _asked(capsys, "epsilon", "--rounds", str(told["beyond"]), *noise, *TARGET)
    assert over["epsilon_upper"] > 2.5


@pytest.mark.parametrize(
    "target", [["--rho", "0.5"], ["--mu", "1"], at_night(["--tpr", "0.3", "--fpr", "0.01"])], ids=" ".join
)
def test_what_misses_a_target_that_is_no_epsilon_is_in_rounds_too(target, capsys):
    """It once was in epochs: 400 beside a value of 3990 rounds."""
    shuffled = ["--sampling", "shuffle", "--population", "100", "--cohort", "10", "--neighbouring", "zero-out"]
    told = _asked(
        capsys, "calibrate", *target, "--solve-for", "rounds", "--noise-multiplier", "20", *shuffled, "--json"
    )
    assert told["value"] % 10 == 0 < told["value"] < told["beyond"] == told["value"] + 10


def test_the_last_phase_of_a_schedule_grows_by_whole_epochs(capsys, tmp_path: Path):
    file = tmp_path / "schedule.toml"
    file.write_text(
        '[[phase]]\nmechanism = {kind = "gaussian", noise_multiplier = 20.0}\ncomposition = {rounds = 10}\n'
        '[[phase]]\nmechanism = {kind = "gaussian", noise_multiplier = 4.0}\n'
        'sampling = {scheme = "shuffle", population = 1000, cohort = 50}\ncomposition = {rounds = 20}\n'
    )
    target = ["calibrate", "--epsilon", "3", "--solve-for", "rounds", "--schedule", str(file)]
    told = _asked(capsys, *target, *TARGET)
    assert told["value"] % 20 == 0 < told["value"] < told["beyond"] == told["value"] + 20
    assert run([*target, "--delta", "1e-5", "--sampling", "poisson"]) == 2
    assert "error: --sampling" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ([*ALLOCATED, "--rounds", "30"], "--rounds"),
        (["--sampling", "random-allocation", "--rounds", "30"], "--block is required"),
        ([*ALLOCATED, "--per-block", "21", "--rounds", "40"], "--per-block"),
        ([*CYCLIC, "--block", "20", "--rounds", "40"], "--block"),
        (["--sampling", "cyclic", "--rounds", "40"], "--population and --cohort are required"),
        (["--block", "20", "--rounds", "40"], "--block"),
        ([*CYCLIC, "--max-cohort", "70"], "--max-cohort"),
    ],
)
def test_bad_options_are_one_line(capsys, options: list[str], named: str):
    assert run(["epsilon", "--delta", "1e-5", "--noise-multiplier", "1", *options]) == 2
    wrong = named if named.endswith("required") else f"{named} = "
    assert capsys.readouterr().err.startswith(f"error: {wrong}")


def test_a_cohort_beside_the_sampling_rate_that_is_asked_for(capsys):
    poisson = ["--sampling", "poisson", "--population", "1000", "--cohort", "50", "--noise-multiplier", "1"]
    target = ["--epsilon", "1", "--delta", "1e-5", "--solve-for", "sampling-rate"]
    assert run(["calibrate", *target, "--rounds", "10", *poisson]) == 2
    assert capsys.readouterr().err.startswith("error: --cohort = 50: expected to be left out")


def test_ctrl_c_is_one_line(capsys, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpcert.cli.setting.Setting.run", interrupted)
    assert run(["epsilon", "--delta", "1e-5", "--noise-multiplier", "1"]) == 130
    assert capsys.readouterr().err.strip() == "error: interrupted"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["--per-block", "2"],
            "  The ends are 45% apart: the upper end treats each block as 2 smaller ones.\n",
        ),
        (["--per-block", "1"], ""),
    ],
)
def test_ends_that_are_apart_say_why(capsys, options, why):
    noise = ["--mechanism", "discrete-laplace", "--set", "scale=4.29", "--neighbouring", "zero-out", "--delta", ".1"]
    block = ["--sampling", "random-allocation", "--block", "3", "--rounds", "6"]
    assert run(["epsilon", *noise, *block, *options]) == 0
    said = capsys.readouterr().out
    assert said.endswith(f"sampling random-allocation\n{why}")
    assert all(len(line) <= 88 for line in said.splitlines())
