"""The words of training loops on the command line: epochs, data sets and batches, fractions, releases."""

from __future__ import annotations

import json

import pytest

from dpcert.accounting import epsilon as epsilon_of
from dpcert.accounting.calibration.plan_schemes import RUN_OF_SCHEME
from dpcert.cli import run
from dpcert.mechanisms import Cyclic, FixedSize, Gaussian, Mechanism, Poisson, RandomAllocation, Repeat, Shuffled

MNIST = ["--sampling", "poisson", "--dataset-size", "60000", "--batch-size", "256"]


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_epochs_are_counted_as_in_claims(capsys: pytest.CaptureFixture[str]) -> None:
    told = asked(capsys, "epsilon", "--delta", "1/60000", "--noise-multiplier", "1.1", *MNIST, "--epochs", "60")
    found = epsilon_of(Repeat(Poisson(Gaussian(1.1), 256 / 60_000), 14_063), 1 / 60_000)
    assert (told["epsilon_lower"], told["epsilon_upper"], told["rounds"]) == (found.lower, found.upper, 14_063)
    rate = ["--sampling", "poisson", "--sampling-rate", "256/60000", "--rounds", "14063"]
    again = asked(capsys, "epsilon", "--delta", "1/60000", "--noise-multiplier", "1.1", *rate)
    assert again["epsilon_upper"] == told["epsilon_upper"]


@pytest.mark.parametrize("command", [["delta", "--epsilon", "2"], ["risk"], ["epsilon", "--delta", "1e-5"]])
def test_every_command_about_a_run_knows_them(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    noise = ["--noise-multiplier", "4"]
    by_epochs = asked(capsys, *command, *noise, *MNIST, "--epochs", "0.1")
    by_rounds = asked(capsys, *command, *noise, *MNIST, "--rounds", "24")
    for told in (by_epochs, by_rounds):
        told.pop("seconds")
        told.pop("epochs", None)
    assert by_epochs == by_rounds


def test_one_round_where_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    target = ["calibrate", "--epsilon", "3", "--delta", "1e-5", "--solve-for", "noise-multiplier"]
    assert asked(capsys, *target)["value"] == asked(capsys, *target, "--rounds", "1")["value"]


def test_releases_share_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    sampled = ["--noise-multiplier", "1", "--sampling", "poisson", "--sampling-rate", ".1", "--rounds", "20"]
    told = asked(capsys, "epsilon", "--delta", "1e-5", *sampled, "--releases", "10")
    assert told["epsilon_lower"] == pytest.approx(42.28443, abs=2e-5)
    assert told["releases"] == 10
    assert told["rounds"] == 20
    assert asked(capsys, "epsilon", "--delta", "1e-5", *sampled)["epsilon_upper"] < 4


ONE = ["epsilon", "--delta", "1e-5", "--noise-multiplier", "1"]
COHORT = ["calibrate", "--epsilon", "1", "--delta", "1e-5", "--solve-for", "cohort", "--noise-multiplier", "1"]
DROPPED = ["--sampling", "shuffle", "--dataset-size", "4300", "--batch-size", "64", "--drop-last"]


def test_batches_that_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    """201 rounds of 67 batches. An epoch that leaves a unit out is known from above only."""
    about = ["epsilon", "--delta", "1e-5", "--noise-multiplier", "2", "--neighbouring", "zero-out"]
    told = asked(capsys, *about, *DROPPED, "--rounds", "201")
    fewer = epsilon_of(Repeat(Shuffled(Gaussian(2.0), 66), 3), 1e-5, "zero-out")  # fewer to hide among
    assert told["epsilon_lower"] == 0
    assert 0 < told["epsilon_upper"] <= fewer.upper
    assert run([*about, *DROPPED, "--rounds", "201"]) == 0
    assert "Nothing better than 0 is known for the lower end" in capsys.readouterr().out
    assert asked(capsys, *about, *DROPPED, "--epochs", "3")["rounds"] == 201
    assert run([*about, *DROPPED[:-1], "--rounds", "201"]) == 2
    assert run([*about, *MNIST, "--drop-last"]) == 2
    assert run(["risk", "--noise-multiplier", "2", *DROPPED, "--rounds", "201"]) == 2


def test_calibrated_noise_with_dropped_batches_claims_nothing_of_less_noise(capsys: pytest.CaptureFixture[str]) -> None:
    target = ["calibrate", "--epsilon", "2", "--delta", "1e-5", "--solve-for", "noise-multiplier"]
    few = ["--sampling", "shuffle", "--dataset-size", "700", "--batch-size", "64", "--drop-last", "--epochs", "1"]
    told = asked(capsys, *target, "--neighbouring", "zero-out", *few)
    assert told["beyond"] is None
    assert told["epsilon_lower"] == 0


@pytest.mark.parametrize(
    ("scheme", "made"),
    [
        ("poisson", Repeat(Poisson(Gaussian(2.0), 256 / 60_000), 469)),
        ("fixed-size", Repeat(FixedSize(Gaussian(2.0), 60_000, 256), 469)),
        ("shuffle", Repeat(Shuffled(Gaussian(2.0), 235), 2)),
        ("cyclic", Repeat(Cyclic(Gaussian(2.0), 235), 2)),
        ("random-allocation", Repeat(RandomAllocation(Gaussian(2.0), 235), 2)),
    ],
)
def test_schemes_take_batches_that_do_not_divide(scheme: str, made: Mechanism) -> None:
    assert RUN_OF_SCHEME[scheme](2.0, 60_000, 256, 2) == made


def test_calibrate_schemes_takes_60000_by_256(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--dataset-size", "60000", "--batch-size", "256", "--epochs", "1"]
    told = asked(capsys, "calibrate", "--epsilon", "3", "--delta", "1e-5", "--schemes", "poisson,cyclic", *sizes)
    assert [row["scheme"] for row in told["options"]] == ["poisson", "cyclic"]
    assert told["options"][0]["noise_multiplier"] < told["options"][1]["noise_multiplier"]


def test_plans_by_epochs(capsys: pytest.CaptureFixture[str]) -> None:
    target = ["plan", "--dataset-size", "1000", "--delta", "1e-5", "--epsilons", "2"]
    by_epochs = asked(capsys, *target, "--cohorts", "100,256", "--epochs", "3")["options"]
    each = (["--cohorts", "100", "--rounds", "30"], ["--cohorts", "256", "--rounds", "12"])
    by_rounds = [asked(capsys, *target, *lengths)["options"][0] for lengths in each]
    assert by_epochs == by_rounds


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*ONE, *MNIST, "--epochs", "2", "--rounds", "3"], "--epochs"),
        ([*ONE, "--epochs", "2"], "--epochs"),
        (["epsilon", "--delta", "1/x", "--noise-multiplier", "1"], "--delta = '1/x': expected a number, or a fraction"),
        ([*ONE, "--releases", "0"], "--releases"),
        (["plan", "--population", "10", "--cohorts", "20", "--rounds", "1", "--delta", "1e-5"], "--cohorts = 20"),
        ([*COHORT, "--sampling", "poisson", "--dataset-size", "100", "--epochs", "3"], "--epochs = 3.0"),
    ],
)
def test_one_sentence_under_the_option_s_name(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {said}")
